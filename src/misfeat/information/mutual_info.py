"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats (plug-in).

A set with a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a
set (see ``sporadic="available"``) are left out of that set's counts. A score above chance is what
is left when the mean score over all permutations of the target over the same rows is taken off
(`null_expectation`); it may be negative, and a larger set may score lower. See
docs/explanation/scores.md and docs/explanation/few_rows.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

from misfeat.cohorts.cohort_data import Cohort, Cohorts
from misfeat.exceptions import MisfeatError
from misfeat.information.kernels.dense_blocks import squeeze
from misfeat.information.score_sums import Sums, sums_of_levels, sums_of_subsets
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Array, Flags, Floats, Indices, Integers
from misfeat.runtime.threads import Counting, Work

LARGEST_POWER_SET = 22  # subsets of every size are scored for at most so many features
FEW = 32  # subsets that are scored one by one
MOST_CELLS = 2**16  # With more cells, they are first numbered anew, without the empty ones


def joint_mutual_info(
    cohort: Cohort, subsets: Indices, *, above_chance: bool = False, n_jobs: int | None = None
) -> Floats:
    """Score listed feature subsets of one size, members ascending, in one cohort."""
    if len(subsets) <= FEW and not above_chance:
        return np.array([_plug_in_score(cohort, members) for members in subsets])
    rows = compact_rows(cohort, above_chance=above_chance)
    return mutual_info_of(rows, sums_of_subsets(rows, subsets, Work(n_jobs)))


def _plug_in_score(cohort: Cohort, members: Indices) -> float:
    """The score of one set without kernels, so that reading a saved run does not load Numba."""
    whole: Flags = np.all(cohort.codes[members] >= 0, axis=0)
    if not cohort.recorded[members].all() or not whole.any():
        return np.nan
    cells, target = cells_of_rows(cohort, members, whole), cohort.target[whole].astype(np.int64)
    keys = (cells, target, cells * cohort.n_classes + target)
    of_set, classes, joint = (entropy(np.bincount(key, cohort.counts[whole])) for key in keys)
    return max(of_set + classes - joint, 0.0)


def level_mutual_info(
    cohort: Cohort,
    low: int,
    high: int,
    *,
    above_chance: bool = False,
    n_jobs: int | None = None,
    progress: Counting | None = None,
) -> list[Floats]:
    """Score every feature subset of sizes low to high in one cohort."""
    rows = compact_rows(cohort, above_chance=above_chance)
    n_features, n_recorded = len(cohort.recorded), rows.n_features
    if high > 6 and low <= n_recorded // 2 <= high and n_recorded > LARGEST_POWER_SET:
        raise MisfeatError(
            f"The sizes {low} to {high} of {n_recorded} features hold most of the power set, which "
            f"is scored for at most {LARGEST_POWER_SET} features; lower the size."
        )
    top = min(high, n_recorded)
    sums = sums_of_levels(rows, low, top, Work(n_jobs, progress)) if low <= top else []
    found = [mutual_info_of(rows, of_size) for of_size in sums]
    if n_recorded == n_features and high == top:
        return found
    scores = [np.full(comb(n_features, size), np.nan) for size in range(low, high + 1)]
    for size, (whole, values) in enumerate(zip(scores, found, strict=False), start=low):
        whole[rank(rows.features[level(n_recorded, size)])] = values
    return scores


def mutual_info_of(rows: "CompactRows", sums: Sums) -> Floats:
    """I(S; Y), or what of it is above chance, in nats from the sums of its subsets."""
    if len(sums) == 1:
        counts = rows.by_class[rows.by_class > 0]
        classes = float(counts @ np.log(counts))  # the sum of f(c) = c log c
        difference, n_rows = sums[0], np.float64(rows.total)
    else:
        joint, marginal, classes, n_rows = sums
        difference = joint - marginal
    with np.errstate(invalid="ignore", divide="ignore"):
        if rows.above_chance:
            scores = difference / n_rows
        else:
            scores = np.log(n_rows) + (difference - classes) / n_rows
            scores[scores < 0.0] = 0.0  # rounding may leave a trace below zero
    return np.where(n_rows == 0, np.nan, scores)  # no row has all of the set's features


def entropy(counts: Array) -> float:
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
    return list(map(float, np.mean(found, axis=0)))


@dataclass(frozen=True, eq=False)
class CompactRows:
    """Rows of the features that a cohort recorded; every code below a cardinality occurs."""

    features: Integers  # the numbers of those features in the cohort
    positions: Integers  # the reverse; -1 where a feature was not recorded
    codes: Indices  # (n_features, n_rows); -1 where a value is missing
    target: NDArray[np.unsignedinteger]
    weights: Integers  # how many rows each stands for, or what they weigh
    cardinalities: Integers
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

    @cached_property
    def by_class(self) -> Floats:
        """How many rows each class has, or what they weigh."""
        return np.bincount(self.target, weights=self.weights, minlength=1).astype(np.float64)


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
    values = features, positions, codes, target, weights, cardinalities, int(n_classes[0])
    return CompactRows(*values, int(weights.sum()), lacks_values, above_chance, unit, shift)


def _unsigned(cardinality: int) -> type[np.unsignedinteger]:
    return np.uint8 if cardinality <= 2**8 else np.uint16


def cells_of_rows(cohort: Cohort, members: Iterable[int], whole: Flags) -> Integers:
    """The number of the cell that each of some rows lies in, those that lack no value."""
    cells = np.zeros(int(whole.sum()), dtype=np.int64)
    many = 1
    for member in members:
        values = int(cohort.cardinalities[member])
        cells = cells * values + cohort.codes[member, whole]
        many *= values
        if many > MOST_CELLS:
            held, cells = np.unique(cells, return_inverse=True)
            many = len(held)
    return cells
