"""Scores that can be computed, cohort by cohort: of all sets, or of a share of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import rank, unrank
from misfeat.lattice.sampling import SAMPLERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.information.measures import Measure
    from misfeat.runtime.progress import Progress

    Floats = NDArray[np.float64]

WHAT = "Scoring feature sets"


@dataclass(frozen=True, eq=False)
class Computing:
    """Computes the scores of all sets, or of the share `budget` of those that a cohort can compute.

    Which ones, the sampler draws; `seeds` are one a cohort.
    """

    measure: Measure
    budget: float
    sampler: str
    n_jobs: int | None
    seeds: Sequence[np.random.SeedSequence]

    @property
    def grids(self) -> Sequence[Measure]:
        """The measure of every grid of a numeric target, else the measure itself."""
        return self.measure.parts or (self.measure,)

    def levels(self, low: int, high: int, progress: Progress | None) -> list[Floats]:
        """Scores of all sets of some sizes, an array of shape (n_grids, n_cohorts, n_sets) each."""
        n_cohorts = len(self.seeds)
        told = None if progress is None else _CohortsDone(progress, n_cohorts * len(self.grids))
        by_cohort = []
        for grid, measure in enumerate(self.grids):
            for cohort in range(n_cohorts):
                if told is not None:
                    told.begin(grid * n_cohorts + cohort)
                if self.budget < 1:
                    by_cohort.append(self._sampled(measure, cohort, low, high))
                else:
                    by_cohort.append(measure.of_levels(cohort, low, high, self.n_jobs, told))
        if told is not None:
            told.begin(len(by_cohort))
        return [
            np.array(scores).reshape(len(self.grids), n_cohorts, -1)
            for scores in zip(*by_cohort, strict=True)
        ]

    def _sampled(self, measure: Measure, cohort: int, low: int, high: int) -> list[Floats]:
        """Scores of a share of a cohort's computable sets, the same in every grid; else NaN."""
        rng = np.random.default_rng(self.seeds[cohort])
        recorded = np.flatnonzero(~self.measure.missing[cohort])
        n_features = len(self.measure.features)
        scores = [np.full(comb(n_features, m), np.nan) for m in range(low, high + 1)]
        if low == 0:
            scores[0][:] = 0.0  # the empty set tells nothing, and costs nothing
        smallest, largest = max(low, 1), min(high, len(recorded))
        if smallest > largest:
            return scores
        sample = SAMPLERS[self.sampler](len(recorded), smallest, largest, self.budget, rng)
        for size, ranks in zip(range(smallest, largest + 1), sample, strict=True):
            subsets = recorded[unrank(ranks, size)]
            scores[size - low][rank(subsets)] = measure.of_subsets(cohort, subsets, self.n_jobs)
        return scores


class _CohortsDone:
    """Tells how far the scores of all cohorts are, from how far those of one are."""

    STEPS = 1000
    """So many for each cohort."""

    def __init__(self, progress: Progress, n_cohorts: int) -> None:
        self._progress, self._total = progress, n_cohorts * self.STEPS
        self._before = self._last = 0

    def begin(self, cohort: int) -> None:
        """Say that the cohorts before this one are done."""
        self._before = self._last = cohort * self.STEPS
        self._progress(WHAT, self._before, self._total)

    def __call__(self, done: int, total: int) -> None:
        """Say how far the scores of this cohort are; they may be computed in several turns."""
        place = self._before + self.STEPS * done // max(total, 1)
        if place > self._last:
            self._last = place
            self._progress(WHAT, place, self._total)
