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

from misfeat.lattice import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores

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

    `whole` is what there is to tell, and `smaller` gives the scores of all sets of a size; it is
    asked only where a set tells so much.
    """
    best = float(scores.score[cohort].max(initial=0.0))
    enough = max(AS_MUCH * best, MOST * whole)
    if not best >= enough > 0:
        yield from map(int, order)
        return
    sizes = range(1, scores.subsets.shape[1])
    suffices = {size: smaller(size).score[cohort] >= enough for size in sizes}
    left = order
    while len(left):
        first, left = int(left[0]), left[1:]
        yield first
        for part in _sufficient_parts(scores.subsets[first], suffices):
            left = left[~_contain(scores.subsets[left], part)]


def _sufficient_parts(
    members: NDArray[np.integer], suffices: Mapping[int, NDArray[np.bool_]]
) -> list[tuple[int, ...]]:
    """The smaller sets within a set that are sufficient, and contain no other that is."""
    found: list[tuple[int, ...]] = []
    for size, enough in suffices.items():
        parts = np.array(list(combinations(members.tolist(), size)))
        for part in parts[enough[rank(parts)]].tolist():
            if not any(set(one) <= set(part) for one in found):
                found.append(tuple(part))
    return found


def _contain(subsets: NDArray[np.integer], part: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which sets contain a smaller one."""
    held = np.ones(len(subsets), dtype=bool)
    for feature in part:
        held &= (subsets == feature).any(axis=1)
    return held
