"""What is asked of a selection where nobody says how much: as much as fits into some seconds.

Tests score every set for many permutations of the target, and stability answers for many
resamples. Where a table has very many sets or rows, less is asked for, and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misfeat.selection import Selection

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
MOST_RESAMPLED = 10_000  # sets, over all subgroups, up to which every resample is answered


@dataclass(frozen=True)
class Effort:
    """What is asked of a selection by default; numbers are 0 where nothing is asked."""

    tested: int  # the largest sets that are tested against chance
    permutations: int
    resampled: bool
    step_permutations: int = STEP_PERMUTATIONS  # for each size that may be enough
    ahead: int = AHEAD  # further features that are tried at once


def effort_for(selection: Selection, size: int) -> Effort:
    """What fits into some seconds."""
    if selection.set_scores.rows_withheld:
        return Effort(0, 0, resampled=False)
    n_features, n_cohorts = len(selection.feature_names), len(selection.cohorts)
    n_rows = float(selection.cohorts.weights.sum())
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
    # Each step permutes all sets of up to two features beside those of the set so far.
    ahead = sum(comb(n_features, m) for m in range(1, AHEAD + 1))
    work = STEP_COST * (tested + 1) * ahead * n_rows * STEP_PERMUTATIONS
    steps = STEP_PERMUTATIONS if work <= MOST_PERMUTED else FEWER_STEP_PERMUTATIONS
    return Effort(tested, permutations, resampled, steps, AHEAD if work <= MOST_AHEAD else 1)
