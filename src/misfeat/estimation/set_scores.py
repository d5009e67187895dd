"""The scores of one table: computed where they can be, completed where not, kept for questions."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from math import comb
from threading import RLock
from typing import Any

import numpy as np

from misfeat.cohorts.cohort_data import Cohorts
from misfeat.completion.completer_data import CompletedScores, ExactScores, Known
from misfeat.completion.interactions_completer import InteractionsCompleter
from misfeat.estimation.population_model import largest_counted
from misfeat.estimation.score_estimate import Estimate, ListedScores
from misfeat.estimation.shortlist import sets_in_all
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import Measure, information_of
from misfeat.lattice.levels import level, rank, unrank
from misfeat.lattice.sampling import SAMPLERS
from misfeat.runtime.array_types import Array, Floats, Indices
from misfeat.runtime.memory import check_memory, memory_needed
from misfeat.runtime.progress import Progress, unreported

SETTINGS = ("max_sets", "budget", "sampler", "n_jobs")
_COMPLETED = ("score", "low", "high", "predicted", "support")
STEPS = 1000  # of progress, for the scores of each cohort
SCORING, SEARCHING = "Scoring feature sets", "Searching for the best sets"
_NOTHING_TO_PREDICT = InteractionsCompleter(confidence=None, largest=1)  # of features recorded


class SetScores:
    """Scores of all feature sets, size by size; settings as in `SubgroupSelector`, thread-safe."""

    def __init__(
        self,
        measure: Measure,
        estimate: Estimate,
        *,
        max_sets: int | None = None,
        budget: float = 1.0,
        sampler: str = "randwalk",
        seed: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure, self.estimate, self.n_jobs = measure, estimate, n_jobs
        self.max_sets, self.budget, self.sampler = max_sets, budget, sampler
        self.include: tuple[int, ...] = ()
        self._n_features = len(measure.features)
        self._seeds = np.random.SeedSequence(seed)
        self._exact: list[Floats] = []
        self._by_grid: list[Floats] = []
        self._completed: dict[int, CompletedScores] = {}
        self._listed: ListedScores | None = None
        self.rows_withheld = self._fits = False  # into memory, as far as is known
        self._lock = RLock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            held = {name: value for name, value in vars(self).items() if name != "_lock"}
            held["_listed"] = None  # made anew in a moment
            own = {"_exact": list(self._exact), "_by_grid": list(self._by_grid)}
            return {**held, **own, "_completed": dict(self._completed)}

    def __setstate__(self, held: dict[str, Any]) -> None:
        vars(self).update(held, _lock=RLock())  # locks can be neither pickled nor copied

    def without_rows(self, measure: Measure, scores: dict[int, CompletedScores]) -> "SetScores":
        """Scores of the same estimate, of which some are known by size, and nothing else."""
        own = SetScores(measure, self.estimate, sampler=self.sampler, n_jobs=self.n_jobs)
        own._completed = dict(scores)
        own.rows_withheld = True
        return own

    def rescored(self, rows: Cohorts, seed: int = 0) -> "SetScores":
        """The same of resampled rows, none computed yet, of which nobody reads bounds."""
        measure = information_of(rows, above_chance=self.measure.above_chance)
        estimate = replace(deepcopy(self.estimate), confidence=None)
        settings: Any = {name: getattr(self, name) for name in SETTINGS}
        own = SetScores(measure, estimate, seed=seed, **settings)
        own._fits = True  # as these do
        return own

    def completed(self, size: int, progress: Progress = unreported) -> CompletedScores:
        """The scores of every set of one size in every cohort; of those found, if too many."""
        with self._lock:
            if size in self._completed:
                return self._completed[size]
            if self.rows_withheld:
                raise MisfeatError(
                    f"Only counts of sets of up to {max(self._completed, default=0)} features are "
                    "at hand, no rows; ask for sets of at most so many."
                )
            if self.is_searched(size):
                listed = self.listed(progress)
                found = listed.search(size, self.include, partial(progress, SEARCHING))
                self._completed[size] = listed.completed(found)
                return self._completed[size]
            estimate = self.estimate
            models = self.listed(progress).models if self.estimate.lists else ()
            whole = self.budget == 1 and not self.measure.missing.any()
            if whole and not estimate.above_chance:
                estimate = replace(estimate, completer=_NOTHING_TO_PREDICT)
            known = self.known(size, progress, estimate=estimate)
            self._completed |= estimate.complete_up_to(known, size, models)
            return self._completed[size]

    def scored(self, subsets: Indices) -> CompletedScores:
        """The scores of some sets of one size, features ascending, in every cohort."""
        size = subsets.shape[1]
        if self.is_searched(size):
            return self.listed().completed(subsets)
        return self.completed(size).of_sets(rank(subsets))

    def is_searched(self, size: int) -> bool:
        """Whether there are too many sets of a size to score all; large ones take longer."""
        if self.max_sets is None or not self.estimate.lists:
            return False
        sets = sets_in_all(self._n_features, size, len(self.measure.missing))
        return sets * max(1.0, size / 3.0) ** 2 > self.max_sets

    @property
    def largest_level(self) -> int:
        """The largest size of which all sets are scored."""
        sizes = range(self._n_features, 1, -1)
        return next((size for size in sizes if not self.is_searched(size)), 1)

    def listed(self, progress: Progress = unreported) -> ListedScores:
        """Scores of single sets of any size."""
        with self._lock:
            if self._listed is None:
                rows, counted = self.measure.rows, 0
                if rows is not None:  # where they are at hand, larger sets are counted
                    counted = largest_counted(self._n_features, len(rows.weights))
                self._listed = self.estimate.listed(self.known(1, progress, counted))
            return self._listed

    def observed(self, cohort: int, subsets: Indices) -> Floats:
        """The scores of the rows as they are, of listed sets of one size."""
        size, measure = subsets.shape[1], self.measure.plug_in
        ranks = rank(subsets)
        if measure is self.measure and size < len(self._exact):
            computed: Floats = self._exact[size][cohort, ranks]
            if not np.isnan(computed).any():
                return computed
        return measure.of_subsets(cohort, subsets, self.n_jobs)

    def packed(self, arrays: dict[str, Array]) -> dict[str, Any]:
        """What is known so far: arrays put into a dict, the rest returned as plain values."""
        with self._lock:
            for size, scores in enumerate(self._exact):
                arrays[f"book.exact.{size}"] = scores
            for size, scores in enumerate(self._by_grid):
                arrays[f"book.grids.{size}"] = scores
            for size, completed in self._completed.items():
                for name in names_of_completed(self.measure):
                    arrays[f"book.completed.{size}.{name}"] = getattr(completed, name)
                if self.is_searched(size):
                    arrays[f"book.completed.{size}.subsets"] = completed.subsets
            return {
                **{name: getattr(self, name) for name in SETTINGS},
                "budget": float(self.budget),
                "n_exact": len(self._exact),
                "rows_withheld": self.rows_withheld,
                "sizes": [int(size) for size in self._completed],
                "entropy": str(self._seeds.entropy),
                "drawn": self._seeds.n_children_spawned,
            }

    @classmethod
    def unpacked(
        cls,
        held: dict[str, Any],
        arrays: dict[str, Array],
        measure: Measure,
        estimate: Estimate,
    ) -> "SetScores":
        """The scores that `packed` gave the contents of."""
        settings: Any = {name: held.get(name) for name in SETTINGS}
        own = cls(measure, estimate, **settings)
        own.rows_withheld = held.get("rows_withheld", False)
        own._exact = [arrays[f"book.exact.{size}"] for size in range(held["n_exact"])]
        if measure.parts:
            own._by_grid = [arrays[f"book.grids.{size}"] for size in range(held["n_exact"])]
        names = names_of_completed(measure)
        for size in held["sizes"]:
            searched = arrays.get(f"book.completed.{size}.subsets")
            own._completed[size] = CompletedScores(
                subsets=level(own._n_features, size) if searched is None else searched,
                **{name: arrays[f"book.completed.{size}.{name}"] for name in names},
            )
        own._seeds = np.random.SeedSequence(int(held["entropy"]), n_children_spawned=held["drawn"])
        return own

    def check_rows(self) -> None:
        """Raise where something is asked for that only rows could answer."""
        if self.rows_withheld:
            raise MisfeatError(
                "This needs rows, and only counts of them are at hand.",
                remedy="Ask it where the rows are.",
            )

    def known(
        self,
        size: int,
        progress: Progress = unreported,
        counted: int = 0,
        estimate: Estimate | None = None,
    ) -> Known:
        """What a completer may look at; sets of up to `counted` features are scored in any case."""
        estimate = self.estimate if estimate is None else estimate
        n_cohorts, parts = len(self.measure.missing), self.measure.parts

        def needed(n_features: int, m: int) -> int:
            own = estimate.memory_needed(m, n_features, n_cohorts)
            largest = max(m, estimate.reach(m, n_features))
            return memory_needed(n_features, largest, n_cohorts * (1 + len(parts))) + own

        def known_of(measure: Measure, scores: Sequence[Floats], **of: Any) -> Known:
            about = measure.missing, measure.ceiling, measure.closed, measure.above_chance
            exact = ExactScores(tuple(scores), *about)
            held = exact, measure.rows, self.n_jobs, progress, measure.sums
            return Known(*held, tables=measure.tables, **of)

        with self._lock:
            if not self._fits:
                check_memory(self._n_features, size, n_cohorts, needed)
            reach = max(estimate.reach(size, self._n_features), counted)
            if reach >= len(self._exact):
                self._compute_up_to(reach, progress)
            grids = tuple(
                known_of(part, [scores[index] for scores in self._by_grid[: reach + 1]])
                for index, part in enumerate(parts)
            )
            return known_of(self.measure, self._exact[: reach + 1], grids=grids)

    def _compute_up_to(self, size: int, progress: Progress) -> None:
        """Add the scores of all sizes that are not known yet, grid by grid and cohort by cohort."""
        low, grids = len(self._exact), self.measure.parts or (self.measure,)
        seeds = self._seeds.spawn(len(self.measure.missing))
        by_cohort: list[list[Floats]] = []
        last = 0

        def tell(done: int, total: int) -> None:
            """How far the scores of this cohort are; they may be computed in several turns."""
            nonlocal last
            steps = STEPS * len(by_cohort) + STEPS * done // max(total, 1)
            if not done or steps > last:
                last = steps
                progress(SCORING, steps, STEPS * len(seeds) * len(grids))

        for measure in grids:
            for cohort, seed in enumerate(seeds):
                tell(0, 1)
                if self.budget < 1:
                    by_cohort.append(self._sampled(measure, cohort, low, size, seed))
                else:
                    by_cohort.append(measure.of_levels(cohort, low, size, self.n_jobs, tell))
        tell(0, 1)
        levels = [
            np.array(scores).reshape(len(grids), len(seeds), -1)
            for scores in zip(*by_cohort, strict=True)
        ]
        if self.measure.parts:
            self._by_grid += levels
            self._exact += [scores.mean(axis=0) for scores in levels]
        else:
            self._exact += [scores[0] for scores in levels]

    def _sampled(
        self, measure: Measure, cohort: int, low: int, high: int, seed: np.random.SeedSequence
    ) -> list[Floats]:
        """Scores of a share of a cohort's computable sets, the same in every grid; else NaN."""
        recorded = np.flatnonzero(~self.measure.missing[cohort])
        scores = [np.full(comb(self._n_features, m), np.nan) for m in range(low, high + 1)]
        if low == 0:
            scores[0][:] = 0.0  # the empty set explains nothing, and costs nothing
        smallest, largest = max(low, 1), min(high, len(recorded))
        if smallest > largest:
            return scores
        rng = np.random.default_rng(seed)
        sample = SAMPLERS[self.sampler](len(recorded), smallest, largest, self.budget, rng)
        for size, ranks in zip(range(smallest, largest + 1), sample, strict=True):
            subsets = recorded[unrank(ranks, size)]
            scores[size - low][rank(subsets)] = measure.of_subsets(cohort, subsets, self.n_jobs)
        return scores


def names_of_completed(measure: Measure) -> tuple[str, ...]:
    """The arrays of completed scores; those of a numeric target have a spread."""
    return (*_COMPLETED, "spread") if measure.parts else _COMPLETED
