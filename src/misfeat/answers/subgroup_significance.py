"""Whether any set of a subgroup explains more than chance, and how much testing fits in seconds."""

from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from misfeat.answers.selection_base import FitResult, feature_index, included_features, level_size
from misfeat.cohorts.resampled_rows import reweighted
from misfeat.estimation.significance import (
    PILOTS,
    Greatest,
    MaxTest,
    false_discovery_control,
    max_test,
)
from misfeat.exceptions import MisfeatError, check_count
from misfeat.information.linear_scores import orders_of
from misfeat.information.permuted_scores import (
    MOST_LINEAR,
    MOST_PERMUTATIONS,
    CorrelationPermutations,
    DesignCorrected,
    Permutations,
    joint_effects,
    permutations_of,
    rows_to_permute,
)
from misfeat.lattice.levels import rank
from misfeat.messages import Setting
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.progress import Progress, long_work, unreported
from misfeat.runtime.threads import Work

LEVEL = 0.05
PERMUTING = "Shuffling the target"
MOST_PERMUTED = 12e9  # rows times sets times permutations: about ten seconds on two cores
MOST_PERMUTED_WITH_WEIGHTS = 1e9  # the same where rows have weights
MOST_PERMUTED_ONE_BY_ONE = 3e7  # the same where rows have gaps, so that sets are permuted singly
USUAL_PERMUTATIONS = 999
FEWER_PERMUTATIONS = 199  # where the usual number takes too long; p-values reach down to 0.005
STEP_PERMUTATIONS = 199  # for each step from one size to the next, several a subgroup
FEWER_STEP_PERMUTATIONS = 99
STEP_COST = 3  # as long as permuting all rows at once: they are permuted within cells
AHEAD = 2  # so many further features are tried at once
MOST_AHEAD = 2e11  # as above, for all steps; beyond, one further feature is tried at a time
# Sets, over all subgroups, and coded rows times pairs of features, up to which rows are resampled.
MOST_RESAMPLED, MOST_RESAMPLED_PAIRS = 10_000, 5e6


@dataclass(frozen=True)
class SubgroupSignificance:
    """Whether any set explains more than chance; p-values are NaN where nothing can be tested."""

    subgroup: str
    p_value: float
    adjusted: float
    more_than_chance: bool
    features: tuple[str, ...]
    sets: int
    permutations: int


@dataclass(frozen=True, eq=False)
class SignificanceTests:
    """What permutations of the target said about a table.

    `p_values` are those of every set by size, (n_cohorts, n_sets) by rank; NaN where not recorded.
    """

    subgroups: tuple[SubgroupSignificance, ...]
    p_values: dict[int, Floats]
    within: str | None = None
    level: float = LEVEL


def significance_tests(
    selection: FitResult,
    size: int | None = None,
    *,
    permutations: int | None = None,
    within: str | None = None,
    level: float = LEVEL,
) -> SignificanceTests:
    """Whether any set explains more than chance (`Selection.significance`)."""
    effort = effort_for(selection, level_size(selection, size))
    largest = level_size(selection, size if size is not None else effort.tested or None)
    if permutations is None:
        permutations = effort.permutations or FEWER_PERMUTATIONS
    tester = PermutationTester(selection, permutations, within, level)
    # Smaller sets than those of all features to include are tested whatever they hold.
    fits = len(selection.options.include) <= largest
    include = tuple(included_features(selection, largest)) if fits else ()

    def tests() -> SignificanceTests:
        names, missing = tester.scores.measure.features, tester.scores.measure.missing
        n_cohorts, n_features = missing.shape
        sizes = range(1, largest + 1)
        p_values = {m: np.full((n_cohorts, comb(n_features, m)), np.nan) for m in sizes}
        whole = n_cohorts * tester.permutations
        with long_work(selection.verbose > 0) as progress:
            progress(PERMUTING, 0, whole)
            tested: dict[int, MaxTest] = {}
            for cohort in filter(tester.can_explain, range(n_cohorts)):
                test = tester.test(SearchedSets(cohort, largest, include=include), progress)
                for index, subsets in enumerate(test.subsets):
                    p_values[subsets.shape[1]][cohort, rank(subsets)] = test.p_values_of(index)
                if test.n_sets:
                    tested[cohort] = test
            progress(PERMUTING, whole, whole)
        adjusted = false_discovery_control([t.p_value for t in tested.values()]) if tested else ()
        by_cohort = {
            cohort: SubgroupSignificance(
                subgroup=tester.cohorts.names[cohort],
                p_value=test.p_value,
                adjusted=float(q),
                more_than_chance=bool(q <= level),
                features=tuple(names[f] for f in test.best),
                sets=test.n_sets,
                permutations=len(test.maxima),
            )
            for (cohort, test), q in zip(tested.items(), adjusted, strict=True)
        }
        subgroups = [
            by_cohort.get(i, SubgroupSignificance(subgroup, np.nan, np.nan, False, (), 0, 0))
            for i, subgroup in enumerate(tester.cohorts.names)
        ]
        return SignificanceTests(tuple(subgroups), p_values, within, level)

    question = ("significance", largest, int(permutations), within, level)
    return selection.remembered(question, tests)


class PermutationTester:
    """Tests sets of a selection; the target is permuted within the values of a feature."""

    def __init__(
        self, selection: FitResult, permutations: int, within: str | None, level: float
    ) -> None:
        self.scores, self.cohorts = selection.set_scores, selection.cohorts
        self.seed = selection.options.seed  # None is a seed, too, always the same
        self.scores.check_rows()
        check_count(permutations, "permutations")
        self.permutations = int(permutations)
        sums = self.scores.measure.sums
        most = (MOST_PERMUTATIONS if sums is None else sums.permuted.shape[1]) - PILOTS - 1
        if permutations > most:
            raise MisfeatError(
                f"{Setting('permutations', permutations)}; at most {most:,} are possible."
            )
        if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
            raise MisfeatError(f"{Setting('level', level)}; it must lie between 0 and 1.")
        self.within = None
        if within is not None:
            self.within = feature_index(selection, within, "a feature to permute within")
            if sums is not None:
                raise MisfeatError(
                    f"{Setting('within', within)} needs the values of a feature, of which "
                    f"{Setting('measure', 'r2')} knows nothing; use "
                    f"{Setting('measure', 'mutual_info')}."
                )
        if selection.shortlist is not None:  # only these rows do not know which features were kept
            self.cohorts = reweighted(self.cohorts, selection.shortlist.held_back)
        # What tests of the same rows came to before, by what was tested.
        self.greatest: dict[tuple[Any, ...], Greatest] = selection.remembered(("greatest",), dict)

    def p_value(self, sets: "SearchedSets") -> float:
        """How likely chance gives a set that scores as high; an earlier test of the sets serves."""
        known = self.greatest.get((*sets, self.within, self.seed))
        p_value = None if known is None else known.p_value(self.permutations)
        return self.test(sets).p_value if p_value is None else p_value

    def can_explain(self, cohort: int) -> bool:
        """Whether a cohort recorded a feature, and its target varies."""
        measure = self.scores.measure
        return bool(measure.whole[cohort] > 0) and not measure.missing[cohort].all()

    def sets_beside(self, cohort: int, held: tuple[int, ...], most: int) -> "SearchedSets":
        """Sets of up to so many features beside those held."""
        recorded = int((~self.scores.measure.missing[cohort]).sum())
        return SearchedSets(cohort, min(most, recorded - len(held)), held)

    def _permutations(self, cohort: int, largest: int, held: tuple[int, ...]) -> Permutations:
        """Permutations of the target of a cohort that leave what held features explain."""
        measure = self.scores.measure
        seed = np.random.SeedSequence(self.seed or 0, spawn_key=(cohort, *held))
        rows = self.cohorts.at(cohort)
        sums = measure.sums
        if sums is not None:
            found = CorrelationPermutations(sums, cohort, largest, held=held)
            if rows.joint_effects is None:
                return found
            known = {name: place for place, name in enumerate(self.cohorts.features)}
            # Features that are numbers alone are taken as constant in clusters.
            lines = [*(known.get(name, -1) for name in sums.features), -1]
            joint, freedom = rows.joint_effects[:, lines], np.ones(len(sums.features))
            return DesignCorrected(found, joint_effects(joint, freedom, found.subsets, held)[1])
        strata = None if self.within is None else rows.codes[self.within]
        most = 1 + PILOTS + self.permutations
        orders = orders_of(self.cohorts, cohort) if rows.size <= MOST_LINEAR else None
        return permutations_of(
            rows, largest, held=held, strata=strata, seed=seed, most=most, orders=orders
        )

    def test(self, sets: "SearchedSets", progress: Progress = unreported) -> MaxTest:
        """Test all of these sets of a cohort in one."""
        cohort, largest, held, include = sets

        def searched(subsets: Integers) -> Flags:
            held = [(subsets == feature).any(axis=1) for feature in include]
            return np.asarray(np.logical_and.reduce(held))

        def report(permuted: int, most: int) -> None:
            progress(PERMUTING, cohort * self.permutations + permuted, len(self.cohorts) * most)

        test = max_test(
            self._permutations(cohort, largest, held),
            Work(self.scores.n_jobs, report),
            permutations=self.permutations,
            searched=searched if include else None,
        )
        self.greatest[*sets, self.within, self.seed] = test.greatest
        return test


class SearchedSets(NamedTuple):
    """What is tested at once: the sets of a cohort up to a size that hold some features."""

    cohort: int
    largest: int
    held: tuple[int, ...] = ()
    include: tuple[int, ...] = ()


@dataclass(frozen=True)
class Effort:
    """What is asked of a selection by default; numbers are 0 where nothing is asked."""

    tested: int  # the largest sets that are tested against chance
    permutations: int
    resampled: bool
    step_permutations: int = STEP_PERMUTATIONS  # for each size that may be enough
    ahead: int = AHEAD  # further features that are tried at once


def effort_for(selection: FitResult, size: int) -> Effort:
    """What fits into some seconds."""
    if selection.set_scores.rows_withheld:
        return Effort(0, 0, resampled=False)
    n_features, n_cohorts = len(selection.feature_names), len(selection.cohorts)
    n_rows = float(sum(map(rows_to_permute, selection.cohorts)))
    recorded = zip(selection.cohorts, ~selection.cohorts.missing, strict=True)
    gaps = any((cohort.codes[columns] < 0).any() for cohort, columns in recorded)
    weighted = any(cohort.effective is not None for cohort in selection.cohorts)
    most = MOST_PERMUTED_WITH_WEIGHTS if weighted else MOST_PERMUTED
    most = MOST_PERMUTED_ONE_BY_ONE if gaps else most
    smaller = [(largest, FEWER_PERMUTATIONS) for largest in range(size, 0, -1)]
    for tested, permutations in [(size, USUAL_PERMUTATIONS), *smaller, (0, 0)]:
        sets = sum(comb(n_features, m) for m in range(1, tested + 1))
        if sets * n_rows * permutations <= most:
            break
    counted = selection.set_scores.measure.rows is not None
    resampled = counted and comb(n_features, size) * n_cohorts <= MOST_RESAMPLED
    resampled &= len(selection.cohorts.weights) * comb(n_features, 2) <= MOST_RESAMPLED_PAIRS
    # Each step permutes all sets of up to two features beside those of the set so far.
    ahead = sum(comb(n_features, m) for m in range(1, AHEAD + 1))
    work = STEP_COST * (tested + 1) * ahead * n_rows * STEP_PERMUTATIONS
    steps = STEP_PERMUTATIONS if work <= MOST_PERMUTED else FEWER_STEP_PERMUTATIONS
    return Effort(tested, permutations, resampled, steps, AHEAD if work <= MOST_AHEAD else 1)
