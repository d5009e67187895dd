"""Imputation by Markov blankets as a completer: a baseline of the paper.

A Markov blanket is the smallest set of features given which all others say nothing more about the
target. It is learned by inter-IAMB (Tsamardinos and others, 2003): it grows by the feature that
explains most given the blanket so far; after every step, members that add nothing given the others
leave. A test without enough rows a cell counts as independence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc

from misfeat.cohorts.cohort_data import Cohorts, distinct_columns
from misfeat.completion import base, nearest_neighbours
from misfeat.completion.base import BaseCompleter
from misfeat.completion.completer_data import Guess, Known
from misfeat.exceptions import check_count
from misfeat.information.null_expectation import n_log_n
from misfeat.lattice.levels import level
from misfeat.runtime.array_types import Flags, Indices, Integers
from misfeat.runtime.threads import Work


@dataclass(kw_only=True, eq=False, repr=False)
class MarkovBlanketCompleter(BaseCompleter):
    """Predict a score from imputed rows, by the features in the target's Markov blanket alone.

    Unrecorded features are imputed by nearest neighbours and the Markov blanket of the target is
    learned in every subgroup, in turns, until it no longer changes; neighbours are then those in
    the blanket's features. A set scores what its features within the blanket explain together in
    the imputed rows. Needs the rows of all subgroups.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals; five rounds by default.
    n_neighbors : int, default=5
        How many rows vote on a value, as in `KNNCompleter`.
    with_target : bool, default=False
        Whether rows are compared in the target as in a feature. Then imputed values follow the
        target, and blankets of them alone.
    alpha : float, default=0.01
        The level of the tests for the blanket, as in `markov_blanket`.
    rows_per_cell : float, default=5
        Rows a cell that a test needs, as in `markov_blanket`.
    repeats : int, default=10
        How often to impute and learn at most; where blankets still change, the last ones are taken.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> completer = MarkovBlanketCompleter(confidence=None)
    >>> selector = SubgroupSelector(data.groups, completer=completer, confidence=None)
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    n_neighbors: int = 5
    with_target: bool = False
    alpha: float = 0.01
    rows_per_cell: float = 5.0
    repeats: int = 10
    rounds: int = 5

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        imputed, members = self._imputed_with_blankets(known)
        scores = nearest_neighbours.imputed_scores(imputed, known.exact, size, known.n_jobs)
        levels = [level(members.shape[1], m) for m in range(size + 1)]
        within = [base.recorded_part_scores(scores, subsets, ~members) for subsets in levels]
        return nearest_neighbours.guess_from_scores(known.exact, within)

    def _imputed_with_blankets(self, known: Known) -> tuple[Cohorts, Flags]:
        """Imputed rows, and the features in each cohort's blanket, none if it lacks no feature."""
        cohorts, work = known.rows_for("markov_blanket"), Work(known.n_jobs)
        missing = known.exact.missing
        members = np.ones_like(missing)
        for _ in range(self.repeats):
            codes = nearest_neighbours.imputed_codes(
                cohorts, missing, self.n_neighbors, self.with_target, work, members
            )
            imputed = nearest_neighbours.all_recorded(cohorts, codes)
            before, members = members, np.zeros_like(missing)
            for i in np.flatnonzero(missing.any(axis=1)):
                cohort = imputed[imputed.names[i]]
                rows = cohort.codes, cohort.target, cohort.weights
                blanket = markov_blanket(*rows, float(self.alpha), float(self.rows_per_cell))
                members[i, list(blanket)] = True
            if np.array_equal(members, before):
                break
        return imputed, members

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_neighbors, "n_neighbors")
        check_count(self.repeats, "repeats")
        base.check_number(self.alpha, "alpha", 1, "lie between 0 and 1", zero=False)
        base.check_number(self.rows_per_cell, "rows_per_cell")


class GTest(NamedTuple):
    """The result of a test of independence."""

    statistic: float
    dof: int

    @property
    def p_value(self) -> float:
        """How likely so large a statistic is under independence; 1 where nothing can be said."""
        return float(chdtrc(self.dof, self.statistic)) if self.dof else 1.0


def g_test(
    x: Indices,
    y: Indices,
    strata: Indices | None = None,
    weights: Integers | None = None,
    rows_per_cell: float = 0.0,
) -> GTest:
    """Whether codes are independent within strata, of those with enough rows per cell."""
    weights = np.ones(len(x), dtype=np.int64) if weights is None else weights
    strata = np.zeros(len(x), dtype=np.int64) if strata is None else strata
    # Tables of strata lie below each other, a line for every value that x has there.
    values, y = np.unique(y, return_inverse=True)
    of_line, line = distinct_columns(np.stack([strata, x]))
    cells = np.bincount(line * len(values) + y, weights, minlength=len(of_line) * len(values))
    counts = cells.reshape(len(of_line), len(values)).astype(np.float64)
    first = np.flatnonzero(np.diff(strata[of_line], prepend=-1))
    if not len(first):
        return GTest(0.0, 0)
    by_stratum = np.add.reduceat(counts, first, axis=0)
    values_of_x = np.diff(first, append=len(counts))
    values_of_y = (by_stratum > 0).sum(axis=1)
    rows = by_stratum.sum(axis=1)
    statistic = 2 * (
        np.add.reduceat(n_log_n(counts).sum(axis=1) - n_log_n(counts.sum(axis=1)), first)
        - n_log_n(by_stratum).sum(axis=1)
        + n_log_n(rows)
    )
    enough = rows >= rows_per_cell * values_of_x * values_of_y
    dof = ((values_of_x - 1) * (values_of_y - 1))[enough].sum()
    return GTest(max(0.0, float(statistic[enough].sum())), int(dof))


def markov_blanket(
    codes: Indices,
    target: Indices,
    weights: Integers | None = None,
    alpha: float = 0.01,
    rows_per_cell: float = 5.0,
) -> tuple[int, ...]:
    """The features in the Markov blanket of a target, ascending.

    Rows with a negative code are left out of tests of that feature; `alpha` is the level of the
    tests of all features together.
    """
    weights = np.ones(len(target), dtype=np.int64) if weights is None else weights
    highest = alpha / max(1, len(codes))

    def strata_of(given: Sequence[int]) -> Integers:
        """The number of each row's combination of values; -1 where one of them is not there."""
        lines = codes[list(given)]
        strata = distinct_columns(np.maximum(lines, 0))[1]
        return np.where((lines >= 0).all(axis=0), strata, -1)

    def tested(feature: int, strata: Integers) -> GTest:
        own = codes[feature]
        whole = (own >= 0) & (strata >= 0)
        kept = slice(None) if whole.all() else whole
        return g_test(own[kept], target[kept], strata[kept], weights[kept], rows_per_cell)

    blanket: tuple[int, ...] = ()
    seen = {frozenset(blanket)}
    while True:
        outside = [feature for feature in range(len(codes)) if feature not in blanket]
        strata = strata_of(blanket)
        tests = {feature: tested(feature, strata) for feature in outside}
        dependent = [feature for feature in outside if tests[feature].p_value < highest]
        if not dependent:
            break
        # G less what independence would give on average, to compare variables of any width
        blanket = (*blanket, max(dependent, key=lambda f: tests[f].statistic - tests[f].dof))
        while blanket:  # members that say nothing given the others leave, weakest first
            tests = {m: tested(m, strata_of([f for f in blanket if f != m])) for m in blanket}
            weakest = max(blanket, key=lambda member: tests[member].p_value)
            if tests[weakest].p_value < highest:
                break
            blanket = tuple(member for member in blanket if member != weakest)
        if frozenset(blanket) in seen:
            break
        seen.add(frozenset(blanket))
    return tuple(sorted(blanket))
