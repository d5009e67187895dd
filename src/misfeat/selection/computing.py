"""Scores that can be computed, cohort by cohort: of all sets, or of a share of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, cast

import numpy as np

from misfeat.information.elsewhere import Part, ScoredRows, levels_elsewhere
from misfeat.lattice import rank, unrank
from misfeat.lattice.sampling import SAMPLERS
from misfeat.machine.spreading import in_order, is_elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.information.measures import Measure, MutualInformation
    from misfeat.machine.progress import Progress

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
        n_cohorts, n_grids = len(self.seeds), len(self.grids)
        told = None if progress is None else _CohortsDone(progress, n_cohorts * n_grids)
        parts = [Part(g, cohort, low, high) for g in range(n_grids) for cohort in range(n_cohorts)]
        flat = in_order(self._of_parts(parts, told))
        if told is not None:
            told.begin(len(parts))
        return [
            np.array(scores).reshape(n_grids, n_cohorts, -1) for scores in zip(*flat, strict=True)
        ]

    def _of_parts(
        self, parts: Sequence[Part], told: _CohortsDone | None
    ) -> Iterator[tuple[int, list[Floats]]]:
        """Scores of one part after the other, an array a size."""
        if is_elsewhere() and self.budget == 1 and self.measure.rows is not None:
            yield from self._elsewhere(parts, told)
            return
        for number, part in enumerate(parts):
            if told is not None:
                told.begin(part.grid * len(self.seeds) + part.cohort)
            if self.budget < 1:
                yield number, self._sampled(part)
            else:
                measure = self.grids[part.grid]
                yield number, measure.of_levels(part.cohort, part.low, part.high, self.n_jobs, told)

    def _elsewhere(
        self, parts: Sequence[Part], told: _CohortsDone | None
    ) -> Iterator[tuple[int, list[Floats]]]:
        rows = cast("Cohorts", self.measure.rows)
        found = levels_elsewhere(ScoredRows(rows, self.measure.above_chance), parts)
        for done, (number, scores) in enumerate(found, start=1):
            part = parts[number]
            measure = cast("MutualInformation", self.grids[part.grid])
            yield number, [measure.bounded(one, part.cohort) for one in scores]
            if told is not None:
                told.begin(done)

    def _sampled(self, part: Part) -> list[Floats]:
        """Scores of a share of a cohort's computable sets, the same in every grid; else NaN."""
        rng = np.random.default_rng(self.seeds[part.cohort])
        recorded = np.flatnonzero(~self.measure.missing[part.cohort])
        n_features = len(self.measure.features)
        scores = [np.full(comb(n_features, m), np.nan) for m in range(part.low, part.high + 1)]
        if part.low == 0:
            scores[0][:] = 0.0  # the empty set tells nothing, and costs nothing
        smallest, largest = max(part.low, 1), min(part.high, len(recorded))
        if smallest > largest:
            return scores
        sample = SAMPLERS[self.sampler](len(recorded), smallest, largest, self.budget, rng)
        for size, ranks in zip(range(smallest, largest + 1), sample, strict=True):
            subsets = recorded[unrank(ranks, size)]
            scores[size - part.low][rank(subsets)] = self.grids[part.grid].of_subsets(
                part.cohort, subsets, self.n_jobs
            )
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
