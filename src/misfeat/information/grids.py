"""Information about a numeric target: the mean over several grids of its values.

One grid of bins loses what happens within a bin, and finer bins lose more to chance than they gain.
The mean over a few grids with the same number of bins, moved against each other, varies less with
where cuts happen to lie (benchmarks/numbers/five_best.py compares them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.measures import InformationOfRows, MutualInformation
from misfeat.information.shannon import target_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts

    Progress = Callable[[int, int], None]
    Scores = NDArray[np.float64]


class GridInformation(InformationOfRows):
    """Information about a numeric target: the mean over its grids."""

    def __init__(self, cohorts: Cohorts, *, above_chance: bool = False) -> None:
        super().__init__(cohorts, above_chance=above_chance)
        self.parts = tuple(
            MutualInformation(grid, above_chance=above_chance) for grid in cohorts.by_grid()
        )
        self.closed = all(part.closed for part in self.parts)
        self.whole = np.mean([part.whole for part in self.parts], axis=0)
        self.ceiling = np.mean([part.ceiling for part in self.parts], axis=0)

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        found = [part.of_levels(cohort, low, high, n_jobs, progress) for part in self.parts]
        return [np.mean(scores, axis=0) for scores in zip(*found, strict=True)]

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = [part.of_subsets(cohort, subsets, n_jobs) for part in self.parts]
        return np.asarray(np.mean(found, axis=0))


def information_of(
    cohorts: Cohorts, *, above_chance: bool = False
) -> MutualInformation | GridInformation:
    """What scores sets by their information: with classes, or with a number."""
    kind = GridInformation if cohorts.is_number else MutualInformation
    return kind(cohorts, above_chance=above_chance)


def target_entropies(cohorts: Cohorts) -> list[float]:
    """H(Y) of every cohort, the mean over the grids of a numeric target."""
    found = [[target_entropy(cohort) for cohort in grid] for grid in cohorts.by_grid()]
    means: list[float] = np.mean(found, axis=0).tolist()
    return means
