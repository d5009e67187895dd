"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats (plug-in).

A set with a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a
set (see ``sporadic="available"``) are left out of that set's counts.

The fewer rows and the more cells, the more of a score is chance. A score above chance is what is
left of it when its null expectation, the mean score over all permutations of the target over the
same rows, is taken off (`misfeat.information.null_expectation`); it may be negative, and a larger
set may score lower. See docs/explanation/scores.md and docs/explanation/few_rows.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.kernels.tables import squeeze
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
    """Score listed feature subsets of one size in one cohort."""
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
    """Score every feature subset of sizes low to high in one cohort."""
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


@dataclass(frozen=True, eq=False)
class CompactRows:
    """Rows of the features that a cohort recorded; every code below a cardinality occurs."""

    features: NDArray[np.int64]  # the numbers of those features in the cohort
    positions: NDArray[np.int64]  # the reverse; -1 where a feature was not recorded
    codes: NDArray[np.integer]  # (n_features, n_rows); -1 where a value is missing
    target: NDArray[np.unsignedinteger]
    weights: NDArray[np.int64]  # how many rows each stands for, or what they weigh
    cardinalities: NDArray[np.int64]
    n_classes: int
    total: int  # the sum of the weights
    lacks_values: bool  # whether any code is -1
    above_chance: bool = False  # whether null expectations are taken off scores
    unit: float = 1.0  # what one of the effective rows weighs; 1 where weights count rows
    shift: float = 0.0  # a cell is worth so many more of them: its first row is a whole one

    @property
    def counts_rows(self) -> bool:
        """Whether weights are whole rows, which are permuted one by one."""
        return self.unit == 1.0

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.features)

    @property
    def n_rows(self) -> int:
        """How many distinct rows there are."""
        return len(self.target)

    @property
    def whole_by_class(self) -> NDArray[np.float64]:
        """How many rows each class has, or rows of equal weight, to the nearest whole number."""
        if self.counts_rows:
            return self.by_class
        return np.diff(np.rint(np.cumsum(self.by_class) / self.unit), prepend=0.0)

    @cached_property
    def by_class(self) -> NDArray[np.float64]:
        """How many rows each class has, or what they weigh."""
        return np.bincount(self.target, weights=self.weights, minlength=1).astype(np.float64)

    @cached_property
    def sum_f_of_classes(self) -> float:
        """The sum of f(c) = c log c over the classes of the target."""
        counts = self.by_class
        return float(counts[counts > 0] @ np.log(counts[counts > 0]))


def compact_rows(cohort: Cohort, *, above_chance: bool = False) -> CompactRows:
    """Take the features that a cohort recorded, and leave out codes that do not occur."""
    features = np.flatnonzero(cohort.recorded)
    positions = np.full(len(cohort.recorded), -1, dtype=np.int64)
    positions[features] = np.arange(len(features))
    codes = cohort.codes if len(features) == len(cohort.recorded) else cohort.codes[features]
    lacks_values = bool(codes.size) and int(codes.min()) < 0
    most = int(cohort.cardinalities[features].max(initial=1))
    codes = codes.astype(np.int16 if lacks_values else _unsigned(most), order="C")
    cardinalities, n_classes = np.empty(len(features), np.int64), np.empty(1, np.int64)
    squeeze(codes, most, cardinalities)
    target = cohort.target.astype(_unsigned(cohort.n_classes))
    squeeze(target[None], cohort.n_classes, n_classes)
    weights, unit, shift = cohort.weights, 1.0, 0.0
    if cohort.effective is not None:
        weights = cohort.weights if cohort.masses is None else cohort.masses
        weights = weights // max(int(np.gcd.reduce(weights)), 1)
        effective = max(float(np.rint(cohort.effective)), 1.0)
        unit = float(weights.sum()) / effective
        shift = max(1.0 - effective / max(cohort.size, 1), 0.0)
    return CompactRows(
        features=features,
        positions=positions,
        codes=codes,
        target=target,
        weights=weights,
        cardinalities=cardinalities,
        n_classes=int(n_classes[0]),
        total=int(weights.sum()),
        lacks_values=lacks_values,
        above_chance=above_chance,
        unit=unit,
        shift=shift,
    )


def _unsigned(cardinality: int) -> type[np.unsignedinteger]:
    return np.uint8 if cardinality <= 2**8 else np.uint16
