"""How close predicted scores are to the truth: pure arrays in, numbers out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.validation import best_indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]

N_BINS = 20


def ndcg_at(k: int, truth: Scores, guess: Scores) -> float:
    """The paper's nDCG@K: how many of the predicted K best are true ones, the first counting most.

    Examples
    --------
    >>> ndcg_at(2, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).__round__(3)
    0.613
    """
    hits = _hits(k, truth, guess)
    discount = 1 / np.log2(np.arange(2, len(hits) + 2))
    return float((hits * discount).sum() / discount.sum())


def precision_at(k: int, truth: Scores, guess: Scores) -> float:
    """The share of the predicted K best that is among the true K best.

    Examples
    --------
    >>> precision_at(2, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
    0.5
    """
    return float(_hits(k, truth, guess).mean())


def _hits(k: int, truth: Scores, guess: Scores) -> NDArray[np.bool_]:
    return np.isin(best_indices(k, guess), best_indices(k, truth))


def share_closed(
    scores: NDArray[np.floating],
    parts: NDArray[np.floating],
    parts_of: NDArray[np.integer],
    tolerance: float = 0.0,
) -> float:
    """The share of pairs of a set and a part one smaller in which the set does not score lower.

    `parts` are scores of sets one smaller, `parts_of` which of these each set has
    (`misfeat.lattice.ranks_below`). Lower by up to `tolerance` does not count as lower.
    """
    return float(np.mean(scores[:, :, None] >= parts[:, parts_of] - tolerance))


def total_variation(
    sample: NDArray[np.floating], population: NDArray[np.floating], bins: int = N_BINS
) -> float:
    """The l1 norm of the total variation distance between two distributions of scores.

    The range of the population is cut into equally wide bins; the distance is the sum over bins of
    the absolute differences of the shares, from 0 (equal) to 2 (nothing in common).

    NaN is left out.

    Examples
    --------
    >>> total_variation(np.array([0.1, 0.9]), np.array([0.1, 0.9, 0.1, 0.9]))
    0.0
    >>> total_variation(np.array([0.1, 0.1]), np.array([0.1, 0.9]))
    1.0
    """
    sample, population = sample[~np.isnan(sample)], population[~np.isnan(population)]
    edges = np.linspace(population.min(), population.max(), bins + 1)
    inner = edges[1:-1]
    shares = [
        np.bincount(np.searchsorted(inner, scores, side="right"), minlength=bins) / len(scores)
        for scores in (sample, population)
    ]
    return float(np.abs(shares[0] - shares[1]).sum())
