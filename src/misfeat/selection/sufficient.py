"""Sufficient sets: once a few features tell all that can be told, more of them add nothing.

Any set that contains a sufficient one tells as much, so that a list of the best would hold little
else. One of them, the best, stands for all.

A set is sufficient if it tells nearly as much as the best of the sets that are larger, and that is
most of what there is to tell. Not all of it: a copy of the target tells less than the whole entropy
once chance is taken off and few rows lean on other subgroups.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores

    Sets = set[tuple[int, ...]]

AS_MUCH = 0.99
"""A set that scores this share of the best larger one tells as much."""
MOST = 0.8
"""The share of the target that it must tell."""


def without_padding(
    order: NDArray[np.integer],
    scores: CompletedScores,
    cohort: int,
    whole: float,
    smaller: Callable[[int], CompletedScores],
) -> Iterator[int]:
    """Sets in an order; of those that contain one sufficient smaller set only the first.

    Parameters
    ----------
    order : ndarray of int
        Numbers of sets, best first.
    scores : CompletedScores
        Scores of these sets.
    cohort : int
        The subgroup that is asked about.
    whole : float
        What there is to tell about the target there.
    smaller : callable
        Gives the scores of all sets of a smaller size; asked only where a set tells so much.

    Yields
    ------
    int
        The numbers that are left, in the same order.
    """
    size, best = scores.subsets.shape[1], float(scores.score[cohort].max(initial=0.0))
    enough = max(AS_MUCH * best, MOST * whole)
    sufficient: Sets = set()
    if best >= enough > 0:
        for m in range(1, size):
            sufficient |= _sufficient_sets(smaller(m), cohort, enough)
    stood_for: Sets = set()
    for number in order:
        held = _parts(scores.subsets[number]) & sufficient if sufficient else set()
        if not held & stood_for:
            stood_for |= held
            yield int(number)


def _sufficient_sets(scores: CompletedScores, cohort: int, enough: float) -> Sets:
    found = np.flatnonzero(scores.score[cohort] >= enough)
    return set(map(tuple, scores.subsets[found].tolist()))


def _parts(members: NDArray[np.integer]) -> Sets:
    """All smaller sets within a set."""
    features = members.tolist()
    return {part for m in range(1, len(features)) for part in combinations(features, m)}
