"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats.

A set with a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a
set (see ``sporadic="available"``) are left out of that set's counts.

The fewer rows and the more cells, the more of a score is chance. A score above chance is what is
left of it when the mean score over all ways to deal the target out over the same rows is taken off
(`misfeat.information.chance`); it may be negative, and a larger set may score lower.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.prepared import PreparedRows, prepare_rows
from misfeat.information.scoring import Sums, sums_of_levels, sums_of_subsets
from misfeat.lattice.levels import level, rank
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Scores = NDArray[np.float64]
    Subsets = NDArray[np.integer]
    Progress = Callable[[int, int], None]

LARGEST_POWER_SET = 22
"""Subsets of every size are scored for at most so many features."""


def joint_mutual_info(
    cohort: Cohort,
    subsets: Subsets,
    *,
    above_chance: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score listed feature subsets of one size in one cohort.

    Parameters
    ----------
    cohort : Cohort
        Coded, weighted rows.
    subsets : ndarray of shape (n_subsets, size)
        Feature numbers, ascending along a row.
    above_chance : bool, default=False
        Whether to take off what chance alone would give.
    n_jobs : int, default=None
        Threads, as joblib reads it. The result is the same for any number.
    progress : callable, default=None
        Called as ``progress(done, total)``; what it raises stops the work.

    Returns
    -------
    ndarray of shape (n_subsets,)

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.datasets import load_readmission
    >>> patients = load_readmission()
    >>> cohorts = build_cohorts(patients.columns, patients.target, groups={"age": [1000]})
    >>> subsets = np.array([[cohorts.features.index("family_history")]])
    >>> joint_mutual_info(cohorts["age<=1000"], subsets).round(4)
    array([0.1169])

    Nearly half of it is what a feature that tells nothing would score:

    >>> joint_mutual_info(cohorts["age<=1000"], subsets, above_chance=True).round(4)
    array([0.0657])
    """
    rows = prepare_rows(cohort, above_chance=above_chance)
    return mutual_info_of(rows, sums_of_subsets(rows, subsets, 1, Work(n_jobs, progress)))


def level_mutual_info(
    cohort: Cohort,
    low: int,
    high: int,
    *,
    above_chance: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Scores]:
    """Score every feature subset of sizes low to high in one cohort.

    Parameters
    ----------
    cohort : Cohort
        Coded, weighted rows.
    low, high : int
        The sizes. All of them (the power set) for at most 22 recorded features.
    above_chance, n_jobs, progress
        As in `joint_mutual_info`.

    Returns
    -------
    list of ndarray
        One a size, in the order of the ranks of `misfeat.lattice.level`.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> cohort = build_cohorts(table, "y")["all rows"]
    >>> [scores.round(4).tolist() for scores in level_mutual_info(cohort, 1, 2)]
    [[0.0, 0.0], [0.6931]]
    """
    rows = prepare_rows(cohort, above_chance=above_chance)
    n_features, n_recorded = len(cohort.recorded), rows.n_features
    if high > 6 and low <= n_recorded // 2 <= high and n_recorded > LARGEST_POWER_SET:
        raise MisfeatError(
            f"The sizes {low} to {high} of {n_recorded} features hold most of the power set, which "
            f"is scored for at most {LARGEST_POWER_SET} features; lower the size."
        )
    top = min(high, n_recorded)
    work = Work(n_jobs, progress)
    found = sums_of_levels(rows, low, top, 1, work) if low <= top else []
    scores = []
    for size in range(low, high + 1):
        whole = np.full(comb(n_features, size), np.nan)
        if size <= top:
            values = mutual_info_of(rows, found[size - low])
            if n_recorded == n_features:
                whole = values
            else:
                whole[rank(rows.features[level(n_recorded, size)])] = values
        scores.append(whole)
    return scores


def mutual_info_of(rows: PreparedRows, sums: Sums) -> Scores:
    """I(S; Y), or what of it is above chance, in nats from the sums of its subsets."""
    if len(sums) == 1:
        difference, classes, n_rows = sums[0], rows.sum_f_of_classes, np.float64(rows.total)
    else:
        joint, marginal, classes, n_rows = sums
        difference = joint - marginal
    with np.errstate(invalid="ignore", divide="ignore"):
        if rows.above_chance:
            scores = difference / n_rows
        else:
            scores = np.log(n_rows) + (difference - classes) / n_rows
            scores[scores < 0.0] = 0.0  # rounding may leave a trace below zero
    found: Scores = np.where(n_rows == 0, np.nan, scores)  # no row has all of the set's features
    return found
