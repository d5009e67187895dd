"""What is asked of a selection without being told to: all of it, unless that takes too long.

Tests against chance score every set for many ways to deal the target out, and stability answers
anew for many draws. Where a table has very many sets, the first screen asks for less, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from misfeat.answers.enough import AHEAD, STEP_PERMUTATIONS

if TYPE_CHECKING:
    from misfeat.selection import Selection

MOST_DEALT = 60e9
"""Rows times sets times deals that are tested at most: about a minute on two cores."""
MOST_DEALT_ONE_BY_ONE = 3e7
"""The same where rows count only for sets that they have in full, which are dealt one by one."""
USUAL_DEALS = 999
FEWER_DEALS = 199
"""Deals where the usual number takes too long; p-values then reach down to 0.005."""
FEWER_STEP_DEALS = 99
"""The same for each step to see how many features are enough; p-values then reach down to 0.01."""
MOST_REDRAWN = 10_000
"""Sets, over all subgroups, up to which the whole answer is made again for every draw of rows."""
MOST_LARGER = 30_000
"""Sets of one feature more, over all subgroups, that are scored to see whether they add."""


@dataclass(frozen=True)
class Effort:
    """What to ask."""

    tested: int
    """The largest sets that are tested against chance; 0: none are."""
    deals: int
    """How many deals at most."""
    enough: int
    """The largest sets that are looked at to see how many features are enough; 0: none are."""
    redrawn: bool
    """Whether rows are drawn anew to see what comes out again."""
    step_deals: int = STEP_PERMUTATIONS
    """How many deals at most for each step to see how many features are enough."""


def effort_for(selection: Selection, size: int) -> Effort:
    """What fits into a minute or so."""
    if selection.set_scores.rows_withheld:
        return Effort(0, 0, 0, redrawn=False)
    n_features, n_cohorts = len(selection.feature_names), len(selection.cohorts)
    tested, deals = _tested(selection, size)
    larger = size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_LARGER
    enough = size + 1 if larger and tested == size else tested
    counted = selection.set_scores.measure.rows is not None
    redrawn = counted and comb(n_features, size) * n_cohorts <= MOST_REDRAWN
    return Effort(tested, deals, enough, redrawn, _step_deals(selection, enough))


def _tested(selection: Selection, size: int) -> tuple[int, int]:
    n_features, n_rows = len(selection.feature_names), float(selection.cohorts.weights.sum())
    most = MOST_DEALT_ONE_BY_ONE if has_gaps(selection) else MOST_DEALT
    for deals in (USUAL_DEALS, FEWER_DEALS):
        for largest in (size, *range(size - 1, 0, -1)):
            sets = sum(comb(n_features, m) for m in range(1, largest + 1))
            if sets * n_rows * deals <= most and (largest == size or deals == FEWER_DEALS):
                return largest, deals
    return 0, 0


def _step_deals(selection: Selection, enough: int) -> int:
    """Deals for every step: each deals all sets of up to two features beside those held."""
    n_features, n_rows = len(selection.feature_names), float(selection.cohorts.weights.sum())
    sets = sum(comb(n_features, m) for m in range(1, AHEAD + 1))
    usual = enough * sets * n_rows * STEP_PERMUTATIONS <= MOST_DEALT
    return STEP_PERMUTATIONS if usual else FEWER_STEP_DEALS


def has_gaps(selection: Selection) -> bool:
    """Whether rows lack values of features that their subgroup recorded."""
    recorded = ~selection.cohorts.missing
    return any(
        (cohort.codes[recorded[number]] < 0).any()
        for number, cohort in enumerate(selection.cohorts)
    )
