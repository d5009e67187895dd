"""The part of a set that a cohort recorded, and its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import level, rank, ranks_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Scores = NDArray[np.float64]


def recorded_part_scores(
    by_size: Sequence[Scores], cohort: int, subsets: NDArray[np.integer], missing: NDArray[np.bool_]
) -> Scores:
    """The score that the recorded part of each subset has in one cohort.

    `by_size` are scores from size 0 on; `missing` marks the features that the cohort never
    recorded.

    Examples
    --------
    >>> by_size = [np.array([[0.0]]), np.array([[0.1, 0.2]]), np.array([[0.3]])]
    >>> recorded_part_scores(by_size, 0, np.array([[0, 1]]), np.array([True, False]))
    array([0.2])
    """
    absent = missing[subsets]
    scores = np.empty(len(subsets))
    for size in range(subsets.shape[1] + 1):
        chosen = np.flatnonzero((~absent).sum(axis=1) == size)
        parts = subsets[chosen][~absent[chosen]].reshape(len(chosen), size)
        scores[chosen] = by_size[size][cohort, rank(parts)]
    return scores


def best_below(scores: Scores, n_features: int, size: int) -> Scores:
    """The best score of the parts one smaller, for every subset of a size.

    Examples
    --------
    >>> best_below(np.array([[0.1, 0.3, 0.2]]), 3, 2)
    array([[0.3, 0.2, 0.3]])
    """
    ranks = ranks_below(level(n_features, size)).T
    best = scores[:, ranks[0]]
    for part in ranks[1:]:
        np.maximum(best, scores[:, part], out=best)
    return best
