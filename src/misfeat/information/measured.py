"""Scores of a measure of one's own: of every set of a table, less what chance alone would score.

What chance scores, and how much that varies, comes from dealing the target out anew a few times.
With a numeric target it is the mean over its grids.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.count_measure import check_named, scores_of
from misfeat.information.dealing_counts import CountDeals
from misfeat.information.grids import MeanOfGrids
from misfeat.information.measured_noise import NoiseCurve, ScoreNoise, curve_of, filled_up, smoothed
from misfeat.information.measures import OwnMeasure
from misfeat.information.set_tables import DealtRows
from misfeat.lattice.levels import level, rank
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.deals import Deals
    from misfeat.information.set_tables import DealtLines
    from misfeat.machine.threads import Task

    Progress = Callable[[int, int], None]
    Scores = NDArray[np.float64]

DEALS = 20
"""How often the target is dealt out to see what chance scores: the mean has a twentieth of the
variance that one score has by chance."""
TASKS_A_THREAD = 4
LEAST_WHOLE, MOST_WHOLE = 1e-4, 1e9
"""Between these, scores are told apart as they are in nats."""
LARGEST_FOR_CURVE = 2
"""How scores vary is learned from sets of up to so many features."""


class _Sampled(NamedTuple):
    """Scores of sets of one size, and what dealing the target out gave: NaN where there is none."""

    plug_in: Scores
    chance: Scores
    variance: Scores


class CountedMeasure(OwnMeasure):
    """A measure of one's own over the coded rows of a table.

    No row may lack a value of a recorded feature.
    """

    def __init__(
        self, asked: CountMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        check_named(asked)
        _check_whole(asked, cohorts)
        self.cohorts = cohorts
        self.whole = np.array([_whole(asked, one.target, one.counts) for one in cohorts])
        _check_told(asked, self.whole, cohorts)
        self.ceiling = self.whole
        self._variances: dict[tuple[int, int], Scores] = {}
        self._curve: NoiseCurve | None = None
        super().__init__(asked, cohorts, above_chance=above_chance)

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        recorded, n_features = np.flatnonzero(~self.missing[cohort]), len(self.features)
        by_size = [recorded[level(len(recorded), size)] for size in range(low, high + 1)]
        found = []
        for subsets, sampled in zip(
            by_size, self._sampled(cohort, by_size, Work(n_jobs, progress)), strict=True
        ):
            size, ranks = subsets.shape[1], rank(subsets)
            scores, variances = (np.full(comb(n_features, size), np.nan) for _ in range(2))
            scores[ranks], variances[ranks] = self._scored(cohort, sampled), sampled.variance
            self._variances[cohort, size] = variances
            found.append(scores)
        return found

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found = np.full(len(subsets), np.nan)
        computable = ~self.missing[cohort][subsets].any(axis=1)
        (sampled,) = self._sampled(cohort, [subsets[computable]], Work(n_jobs))
        found[computable] = self._scored(cohort, sampled)
        return found

    def deals(
        self,
        cohort: int,
        largest: int,
        held: tuple[int, ...],
        within: int | None,
        seed: np.random.SeedSequence,
    ) -> Deals:
        """Ways to deal the target of a cohort out, leaving what held features tell as it is."""
        return CountDeals(self.asked, self.cohorts.at(cohort), largest, held, within, seed)

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:
        """How scores above chance of all sets of a size vary from sample to sample."""
        for cohort in range(len(self.missing)):
            if (cohort, size) not in self._variances:
                self.of_levels(cohort, size, size, n_jobs)
        if self._curve is None:
            self._curve = curve_of(self.asked, list(self.cohorts), LARGEST_FOR_CURVE)
        n_rows = self.cohorts.effective_sizes()
        null = np.array([self._variances[cohort, size] for cohort in range(len(n_rows))])
        return ScoreNoise(filled_up(null, n_rows), n_rows, self._curve)

    def _sampled(
        self, cohort: int, by_size: Sequence[NDArray[np.integer]], work: Work
    ) -> list[_Sampled]:
        """Scores of listed sets, all of whose features were recorded, and what chance scores."""
        rows = DealtRows(self.cohorts.at(cohort), np.random.SeedSequence(0, spawn_key=(cohort,)))
        n_deals = 1 + DEALS if self.above_chance else 1
        scores = [np.empty((len(subsets), n_deals)) for subsets in by_size]

        def task(dealt: slice, lines: DealtLines, place: int, first: int, last: int) -> Task:
            def score() -> None:
                for some, tables in lines.tables(by_size[place][first:last]):
                    stack = tables.reshape(-1, *tables.shape[2:])
                    own = scores[place][first:last, dealt]
                    own[some] = scores_of(self.asked, stack).reshape(len(tables), -1)

            return score

        for dealt, lines in rows.stretches(n_deals):
            work.run(
                [
                    task(dealt, lines, place, *stretch)
                    for place, subsets in enumerate(by_size)
                    for stretch in work.stretches(len(subsets), TASKS_A_THREAD)
                ]
            )
        return [_moments(found, rows.effect) for found in scores]

    def _scored(self, cohort: int, sampled: _Sampled) -> Scores:
        """Scores less chance; else at most what there is to tell, which rounding may exceed."""
        if self.above_chance:
            return sampled.plug_in - sampled.chance
        bounded: Scores = np.minimum(sampled.plug_in, self.whole[cohort])
        return bounded


def _moments(scores: Scores, effect: float) -> _Sampled:
    """What sets score, and the mean and variance of what chance scores; a design adds to both."""
    plug_in, dealt = scores[:, 0], scores[:, 1:]
    if not dealt.shape[1]:
        return _Sampled(plug_in, *np.full((2, len(plug_in)), np.nan))
    chance = dealt.mean(axis=1)
    # Taking the mean of some deals off adds their share of the variance.
    variance = smoothed(dealt.var(axis=1, ddof=1), chance) * (1.0 + 1.0 / dealt.shape[1])
    return _Sampled(plug_in, effect * chance, effect**2 * variance)


def _whole(asked: CountMeasure, target: NDArray[np.integer], counts: Scores) -> float:
    by_class: Scores = np.bincount(target, counts).astype(np.float64)
    return max(asked.whole(by_class), 0.0)


def _check_told(asked: CountMeasure, whole: Scores, cohorts: Cohorts) -> None:
    """Raise where a copy of the target tells nothing, or so little or much that digits get lost."""
    for cohort, most in zip(cohorts, whole, strict=True):
        if np.ptp(cohort.target) and not LEAST_WHOLE <= most <= MOST_WHOLE:
            raise MisfeatError(
                "{measure}: a copy of the target scores {most:.3g} in {subgroup!r}, and must score "
                "from {least:g} to {largest:g}; use another unit.",
                measure=Setting("measure", asked),
                most=most,
                subgroup=cohort.name,
                least=LEAST_WHOLE,
                largest=MOST_WHOLE,
            )


def _check_whole(asked: CountMeasure, cohorts: Cohorts) -> None:
    """Raise where rows lack a value here and there: their sets rest on different rows."""
    for cohort in cohorts:
        lacking = (cohort.codes < 0).any(axis=1) & cohort.recorded
        if lacking.any():
            raise MisfeatError(
                "Feature {column!r} is missing in some rows of {subgroup!r}, and {measure} needs "
                "the same rows for all sets; use {setting}.",
                column=cohorts.features[int(np.argmax(lacking))],
                subgroup=cohort.name,
                measure=Setting("measure", asked),
                setting=Setting("sporadic", "category"),
            )


class CountedGrids(MeanOfGrids, OwnMeasure):
    """A measure of one's own with a numeric target: the mean over its grids.

    Parameters are those of `OwnMeasure`; the target of the cohorts has grids.
    """

    def __init__(
        self, asked: CountMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        super().__init__(asked, cohorts, above_chance=above_chance)
        self.parts = tuple(
            CountedMeasure(asked, grid, above_chance=above_chance) for grid in cohorts.by_grid()
        )
        self.ceiling = self.whole = np.mean([part.whole for part in self.parts], axis=0)

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:
        """How scores of the first grid vary; estimates are made of every grid apart."""
        found: ScoreNoise = self.parts[0].noise(size, n_jobs)
        return found

    def deals(
        self,
        cohort: int,
        largest: int,
        held: tuple[int, ...],
        within: int | None,
        seed: np.random.SeedSequence,
    ) -> Deals:
        """Ways to deal the classes of the first grid out, as tests of information do."""
        found: Deals = self.parts[0].deals(cohort, largest, held, within, seed)
        return found
