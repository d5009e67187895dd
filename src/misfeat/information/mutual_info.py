"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats (plug-in).

A set with a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a
set (see ``sporadic="available"``) are left out of that set's counts.

The fewer rows and the more cells, the more of a score is chance. A score above chance is what is
left of it when its null expectation, the mean score over all permutations of the target over the
same rows, is taken off (`misfeat.information.null_expectation`); it may be negative, and a larger
set may score lower. See docs/explanation/scores.md and docs/explanation/few_rows.md.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.compact_rows import CompactRows, compact_rows
from misfeat.information.scoring import Sums, sums_of_levels, sums_of_subsets
from misfeat.lattice.levels import level, rank
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort, Cohorts

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
    rows = compact_rows(cohort, above_chance=above_chance)
    return mutual_info_of(rows, sums_of_subsets(rows, subsets, Work(n_jobs, progress)))


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

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> cohort = build_cohorts(table, "y")["all rows"]
    >>> [scores.round(4).tolist() for scores in level_mutual_info(cohort, 1, 2)]
    [[0.0, 0.0], [0.6931]]
    """
    rows = compact_rows(cohort, above_chance=above_chance)
    n_features, n_recorded = len(cohort.recorded), rows.n_features
    if high > 6 and low <= n_recorded // 2 <= high and n_recorded > LARGEST_POWER_SET:
        raise MisfeatError(
            f"The sizes {low} to {high} of {n_recorded} features hold most of the power set, which "
            f"is scored for at most {LARGEST_POWER_SET} features; lower the size."
        )
    top = min(high, n_recorded)
    work = Work(n_jobs, progress)
    found = sums_of_levels(rows, low, top, work) if low <= top else []
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


def mutual_info_of(rows: CompactRows, sums: Sums) -> Scores:
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


def entropy(counts: NDArray[np.floating | np.integer]) -> float:
    """The plug-in entropy of a distribution given by counts, in nats."""
    counts = counts[counts > 0].astype(np.float64)
    if len(counts) < 2:
        return 0.0  # to the last bit: nothing is uncertain
    total = counts.sum()
    return float(np.log(total) - (counts @ np.log(counts)) / total)


def target_entropy(cohort: Cohort) -> float:
    """H(Y) of a cohort: the score that no feature set can exceed."""
    return entropy(np.bincount(cohort.target, weights=cohort.counts))


def target_entropies(cohorts: Cohorts) -> list[float]:
    """H(Y) of every cohort, the mean over the grids of a numeric target."""
    found = [[target_entropy(cohort) for cohort in grid] for grid in cohorts.by_grid()]
    means: list[float] = np.mean(found, axis=0).tolist()
    return means
