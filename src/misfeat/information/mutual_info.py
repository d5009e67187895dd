"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats (plug-in).

A set with a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a
set (see ``sporadic="available"``) are left out of that set's counts. A score above chance is what
is left when the mean score over all permutations of the target over the same rows is taken off
(`null_expectation`); it may be negative, and a larger set may score lower. See
docs/explanation/scores.md and docs/explanation/few_rows.md.

The plug-in score is the mean over rows of log p(s, y) / (p(s) p(y)). To first order its sampling
error is the mean of what that logarithm lies above or below the score, row by row (`influence`), so
the errors of two sets of a cohort are correlated as these are over its rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import NamedTuple

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
LEAST_DEVIATION = 1e-12  # nats; deviations as small as this are rounding


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


def influence(cohort: Cohort, members: Sequence[int]) -> Floats:
    """The influence of every row on the score of a set, of length 1; 0 where a value is missing."""
    whole: Flags = np.all(cohort.codes[list(members)] >= 0, axis=0)
    found = np.zeros(len(whole))
    if not whole.any():
        return found
    cells = cells_of_rows(cohort, members, whole)
    target = cohort.target[whole].astype(np.int64)
    counts = cohort.counts[whole]
    share = counts / counts.sum()
    joint = np.bincount(cells * cohort.n_classes + target, weights=share)
    joint = np.append(joint, np.zeros(-len(joint) % cohort.n_classes))
    table = joint.reshape(-1, cohort.n_classes)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pointwise = np.log(table / expected)[cells, target]
    # Sums, not products of vectors: threads of the linear algebra cost more than they save here.
    off = pointwise - (share * pointwise).sum()
    deviation = float(np.sqrt((share * off**2).sum()))
    if deviation >= LEAST_DEVIATION:
        found[whole] = off * np.sqrt(share) / deviation
    return found


class SampledShare(NamedTuple):
    """A share of the target's entropy, by the rows of one sample."""

    share: float  # above chance: 0 on the mean where nothing is explained, so it may be negative
    n_rows: float  # rows that lack no value of the set; with weights their effective size
    spread: float  # the variance of what one row says: n times that of the share to first order
    chance: float  # the variance that the share has where nothing is explained
    freedom: float  # the degrees of freedom of chance


def sampled_share(cohort: Cohort, members: Sequence[int]) -> SampledShare | None:
    """The share of the target's entropy that a set explains in a cohort, and how it varies.

    To first order its error is a mean over rows: of the influence on the score, less the share
    times the same for -log p(y), over the entropy. Tables of counts look less even than the
    population is, which adds about one over the rows for every degree of freedom to the variance of
    a row; it is taken off again. Where nothing is explained the first order vanishes; what is left
    is a chi-square of (cells - 1)(classes - 1) degrees of freedom over twice the rows.

    The features, ascending, are all recorded. None without a row of all values, or with one class.
    """
    rows = cohort.counts
    by_class = np.bincount(cohort.target, weights=rows)
    uncertainty, whole = entropy(by_class), np.all(cohort.codes[list(members)] >= 0, axis=0)
    if uncertainty <= 0 or not whole.any():
        return None
    n_rows = float(rows[whole].sum())
    cells = np.unique(cells_of_rows(cohort, members, whole), return_inverse=True)[1]
    target = cohort.target[whole].astype(np.int64)
    counts = np.zeros((int(cells.max()) + 1, cohort.n_classes))
    np.add.at(counts, (cells, target), rows[whole])
    expected = counts.sum(axis=1)[cells] * counts.sum(axis=0)[target] / rows[whole].sum()
    pointwise = np.log(counts[cells, target] / expected)
    held = list(members)
    # Of these features alone: compacting the rows of all of them takes longer than the score.
    names = ("codes", "recorded", "cardinalities")
    only = replace(cohort, **{name: getattr(cohort, name)[held] for name in names})
    every = np.arange(len(held))[None, :]
    share = float(joint_mutual_info(only, every, above_chance=True)[0]) / uncertainty
    freedom = float((len(counts) - 1) * (np.count_nonzero(by_class) - 1))
    off = np.zeros(len(rows))
    off[whole] = (pointwise - np.average(pointwise, weights=rows[whole])) / n_rows
    surprise = np.log(rows.sum() / by_class[cohort.target]) - uncertainty
    says = (off - max(share, 0.0) * surprise / rows.sum()) / uncertainty
    by_rows = n_rows * float((rows * says**2).sum()) - freedom / n_rows / uncertainty**2
    # Of weak sets the variance of a score is twice the score over the rows, of complete ones none:
    # whatever few rows show, what one row says varies at least so much.
    within = min(max(share, 0.0), 1.0)
    spread = max(by_rows, 2.0 * within * (1.0 - within) / uncertainty)
    chance = freedom / (2.0 * n_rows**2) / uncertainty**2
    return SampledShare(share, n_rows, spread, chance, freedom)
