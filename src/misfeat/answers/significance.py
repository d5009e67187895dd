"""Whether any set of a subgroup tells more than chance, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from misfeat.answers.options import feature_index, included_features, level_size
from misfeat.cohorts.weights import reweighted
from misfeat.estimation.significance import PERMUTATIONS, PILOTS, Greatest, MaxTest, max_test
from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.information.permutation import (
    MOST_PERMUTATIONS,
    CorrelationPermutations,
    permutations_of,
)
from misfeat.lattice import rank
from misfeat.runtime.progress import long_work
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.estimation.scores import SetScores
    from misfeat.information.permutation import Permutations
    from misfeat.runtime.progress import Progress
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]

LEVEL = 0.05
PERMUTING = "Dealing the target out anew"


@dataclass(frozen=True)
class SubgroupSignificance:
    """Whether any set tells more than chance; p-values are NaN where there is nothing to test."""

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

    `p_values` are those of every set by size, of shape (n_cohorts, n_sets) in the order of ranks;
    NaN where a subgroup did not record it. `within` and `level` are those that were asked for.
    """

    subgroups: tuple[SubgroupSignificance, ...]
    p_values: dict[int, Floats]
    within: str | None = None
    level: float = LEVEL


def significance_tests(
    selection: Selection,
    size: int | None = None,
    *,
    permutations: int = PERMUTATIONS,
    within: str | None = None,
    level: float = LEVEL,
) -> SignificanceTests:
    """Whether any set explains more than chance; kept as `known_tests` of the selection."""
    size = level_size(selection, size)
    tester = permutation_tester(selection, permutations, within, level)
    # Smaller sets than those of all features to include are tested whatever they hold.
    fits = len(selection.options.include) <= size
    include = included_features(selection, size) if fits else []

    def tests() -> SignificanceTests:
        with long_work(selection.verbose > 0) as progress:
            found = tests_of_subgroups(tester, size, include, level, progress)
        return replace(found, within=within, level=level)

    asked = ("significance", size, int(permutations), within, level)
    found = selection.known_tests = selection.remembered(asked, tests)
    return found


def permutation_tester(
    selection: Selection, permutations: int, within: str | None, level: float
) -> PermutationTester:
    """How sets of a selection are tested, what was asked for checked."""
    scores, rows = selection.set_scores, selection.cohorts
    scores.check_rows()
    check_count(permutations, "permutations")
    most = MOST_PERMUTATIONS - PILOTS - 1
    if permutations > most:
        raise MisfeatError(
            "{setting}; at most {most:,} are possible.",
            setting=Setting("permutations", permutations),
            most=most,
        )
    if not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise MisfeatError(
            "{setting}; it must lie between 0 and 1.", setting=Setting("level", level)
        )
    number = None
    if within is not None:
        number = feature_index(selection, within, "a feature to deal within")
        if not scores.measure.largest_table:
            raise MisfeatError(
                "{within} needs the values of a feature, of which {measure} knows nothing; use "
                "{other}.",
                within=Setting("within", within),
                measure=Setting("measure", "r2"),
                other=Setting("measure", "mutual_info"),
            )
    if selection.shortlist is not None:  # only these rows know nothing of which features were kept
        rows = reweighted(rows, selection.shortlist.held_back)
    greatest: dict[tuple[Any, ...], Greatest] = selection.remembered(("greatest",), dict)
    return PermutationTester(
        rows, scores, int(permutations), number, selection.options.seed, greatest
    )


@dataclass(frozen=True, eq=False)
class PermutationTester:
    """How sets of a table are tested.

    The target is permuted within the values of the feature `within`. `greatest` has what tests of
    the same rows came to before, by what was tested. None is a seed, too, always the same.
    """

    cohorts: Cohorts
    scores: SetScores
    permutations: int
    within: int | None = None
    seed: int | None = None
    greatest: dict[tuple[Any, ...], Greatest] = field(default_factory=dict)

    def p_value(self, asked: SearchedSets) -> float:
        """How likely chance gives a set that tells as much; an earlier test of the sets serves."""
        known = self.greatest.get((*asked, self.within, self.seed))
        found = None if known is None else known.p_value(self.permutations)
        if found is None:
            (test,) = permutation_tests(self, [asked])
            found = test.p_value
        return found

    def has_something_to_tell(self, cohort: int) -> bool:
        """Whether a cohort recorded a feature, and its target varies."""
        measure = self.scores.measure
        return bool(measure.whole[cohort] > 0) and not measure.missing[cohort].all()

    def sets_beside(self, cohort: int, held: tuple[int, ...], most: int) -> SearchedSets:
        """Sets of up to so many features beside those held."""
        recorded = int((~self.scores.measure.missing[cohort]).sum())
        return SearchedSets(cohort, min(most, recorded - len(held)), held)

    def deals(self, cohort: int, largest: int, held: tuple[int, ...] = ()) -> Permutations:
        """Ways to deal the target of a cohort out, leaving what held features tell as it is."""
        measure = self.scores.measure
        seed = np.random.SeedSequence(self.seed or 0, spawn_key=(cohort, *held))
        sums = measure.sums
        if sums is not None:
            recorded = np.flatnonzero(~measure.missing[cohort])
            products, n_rows = sums.products[cohort], int(sums.rows[cohort])
            return CorrelationPermutations(
                products, n_rows, recorded, largest, held=held, seed=seed
            )
        rows = self.cohorts.at(cohort)
        strata = None if self.within is None else rows.codes[self.within]
        most = 1 + PILOTS + self.permutations
        return permutations_of(rows, largest, held=held, strata=strata, seed=seed, most=most)

    def of(
        self,
        cohort: int,
        largest: int,
        held: tuple[int, ...] = (),
        include: Sequence[int] = (),
        progress: Progress | None = None,
    ) -> MaxTest:
        """Test all sets of a cohort that hold some features, in one."""

        def searched(subsets: NDArray[np.int64]) -> NDArray[np.bool_]:
            held = [(subsets == feature).any(axis=1) for feature in include]
            whole: NDArray[np.bool_] = np.logical_and.reduce(held)
            return whole

        done, n_cohorts = cohort * self.permutations, len(self.cohorts)

        def tell(dealt: int, most: int) -> None:
            if progress is not None:
                progress(PERMUTING, done + dealt, n_cohorts * most)

        return max_test(
            self.deals(cohort, largest, held),
            Work(self.scores.n_jobs, tell),
            permutations=self.permutations,
            searched=searched if include else None,
        )


class SearchedSets(NamedTuple):
    """What is tested at once: the sets of a cohort up to a size that hold some features."""

    cohort: int
    largest: int
    held: tuple[int, ...] = ()
    include: tuple[int, ...] = ()


def permutation_tests(
    tester: PermutationTester, asked: Sequence[SearchedSets], progress: Progress | None = None
) -> list[MaxTest]:
    """Carry out tests, cohort by cohort."""
    tests = [tester.of(*one, progress=progress) for one in asked]
    for one, test in zip(asked, tests, strict=True):
        tester.greatest[*one, tester.within, tester.seed] = test.greatest
    return tests


def tests_of_subgroups(
    tester: PermutationTester,
    size: int,
    include: Sequence[int],
    level_of: float,
    progress: Progress | None,
) -> SignificanceTests:
    """Test all sets of up to a size in every subgroup, p-values adjusted for their number."""
    names, missing = tester.scores.measure.features, tester.scores.measure.missing
    n_cohorts, n_features = missing.shape
    p_values = {m: np.full((n_cohorts, comb(n_features, m)), np.nan) for m in range(1, size + 1)}
    whole = n_cohorts * tester.permutations
    if progress is not None:
        progress(PERMUTING, 0, whole)
    able = list(filter(tester.has_something_to_tell, range(n_cohorts)))
    searched = [SearchedSets(i, size, include=tuple(include)) for i in able]
    tests = dict(zip(able, permutation_tests(tester, searched, progress), strict=True))
    for cohort, test in tests.items():
        for index, subsets in enumerate(test.subsets):
            p_values[subsets.shape[1]][cohort, rank(subsets)] = test.p_values_of(index)
    if progress is not None:
        progress(PERMUTING, whole, whole)
    tested = {cohort: test for cohort, test in tests.items() if test.n_sets}
    adjusted = iter(false_discovery_control([t.p_value for t in tested.values()]) if tested else ())
    subgroups = []
    for cohort, subgroup in enumerate(tester.cohorts.names):
        if cohort not in tested:
            subgroups.append(SubgroupSignificance(subgroup, np.nan, np.nan, False, (), 0, 0))
            continue
        test, q = tested[cohort], float(next(adjusted))
        subgroups.append(
            SubgroupSignificance(
                subgroup=subgroup,
                p_value=test.p_value,
                adjusted=q,
                more_than_chance=q <= level_of,
                features=tuple(names[f] for f in test.best),
                sets=test.n_sets,
                permutations=len(test.maxima),
            )
        )
    return SignificanceTests(tuple(subgroups), p_values)
