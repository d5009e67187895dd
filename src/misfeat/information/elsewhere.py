"""Scores of whole levels by workers elsewhere: subgroups, and parts of the lattice of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.mutual_info import level_mutual_info
from misfeat.machine.spreading import spread, workers_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort, Cohorts

    Scores = NDArray[np.float64]
    Found = list[tuple[NDArray[np.int64], Scores]]

TASKS_A_WORKER = 4
"""So many at least, for parts of the work differ in length."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows whose sets are scored."""

    cohorts: Cohorts
    above_chance: bool

    @cached_property
    def by_grid(self) -> list[list[Cohort]]:
        """The cohorts for every grid of a numeric target; of classes there is one."""
        return [list(grid) for grid in self.cohorts.by_grid()]


class Part(NamedTuple):
    """Which scores are wanted: of a grid and a cohort, sizes low to high, one share of many."""

    grid: int
    cohort: int
    low: int
    high: int
    share: tuple[int, int] = (0, 1)


def levels_elsewhere(rows: ScoredRows, parts: Sequence[Part]) -> Iterator[tuple[int, list[Scores]]]:
    """The number of every part, and its scores of every set by rank, an array a size.

    NaN where a set cannot be scored. Parts are given whole, and cut into shares here.
    """
    shares = -(-TASKS_A_WORKER * workers_elsewhere() // len(parts)) if parts else 1
    tasks = [part._replace(share=(turn, shares)) for part in parts for turn in range(shares)]
    n_features = len(rows.cohorts.features)
    waiting = dict.fromkeys(range(len(parts)), shares)
    whole: dict[int, list[Scores]] = {}
    for number, found in spread(_scored, rows, tasks):
        place = number // shares
        part = parts[place]
        if place not in whole:
            sizes = range(part.low, part.high + 1)
            whole[place] = [np.full(comb(n_features, size), np.nan) for size in sizes]
        for scores, (ranks, values) in zip(whole[place], found, strict=True):
            scores[ranks] = values
        waiting[place] -= 1
        if not waiting[place]:
            yield place, whole.pop(place)


def _scored(rows: ScoredRows, part: Part) -> Found:
    """The scores of one share, with the ranks of their sets, size by size."""
    found = level_mutual_info(
        rows.by_grid[part.grid][part.cohort],
        part.low,
        part.high,
        above_chance=rows.above_chance,
        n_jobs=1,
        share=part.share,
    )
    ranks = [np.flatnonzero(~np.isnan(scores)) for scores in found]
    return [(own, scores[own]) for own, scores in zip(ranks, found, strict=True)]
