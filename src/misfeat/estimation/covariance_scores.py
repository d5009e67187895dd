"""From covariances of columns to additive scores of feature sets, and their scale.

Steps 3 and 5 of docs/explanation/population.md, with its names: R and A of a set, d, which counts
the columns that the ridge leaves free; I(ρ) and V of a measure, information or R².
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from misfeat.estimation.interaction_kernels import solve_sets
from misfeat.estimation.moments import TARGET_RIDGE, Moments, recorded_all, wide
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

POOL_RIDGE = 1e-4  # added to the variance of every column of the shared covariance
MOST_EXPLAINED = 1.0 - 1e-9
TINY = 1e-300
WEAK = 1e-4  # below this explained share the limits for weak features hold
GRID = 1000  # scores at which the variance of single rows is worked out
STRONGEST = 20.0  # additive scores (nats) above this one are not distinguished


class Additive(NamedTuple):
    """Additive scores of sets, and how many free columns of each feature they rest on."""

    score: Floats  # (..., n_sets): A, chance included
    freedom: Floats  # (..., n_sets, size): free columns of every feature, without those of terms


class SetColumns(NamedTuple):
    """The columns of sets, both of shape (n_sets, n_columns)."""

    columns: Integers  # those of features, then those of terms within the set, then -1
    position: Integers  # which feature of its set a column belongs to; of terms the set's size


def set_columns(moments: Moments, subsets: Indices, redundant: Flags | None = None) -> SetColumns:
    """The columns of listed sets of one size, those of redundant features left out."""
    n_sets, size = subsets.shape
    widest = int(moments.widths.max(initial=0))
    of_feature = np.full((moments.n_features, widest), -1, dtype=np.int64)
    for f, columns in enumerate(moments.columns[: moments.n_features]):
        of_feature[f, : len(columns)] = columns
    own = of_feature[subsets]
    if redundant is not None:
        own[redundant] = -1
    parts = [own.reshape(n_sets, -1)]
    positions = [np.repeat(np.arange(size), widest)]
    member = np.zeros((n_sets, moments.n_features), dtype=bool)
    member[np.arange(n_sets)[:, None], subsets] = True
    for term, columns in zip(moments.terms, moments.columns[moments.n_features :], strict=True):
        held = recorded_all(member, term.features)
        if held.any():
            parts.append(np.where(held[:, None], columns, -1))
            positions.append(np.full(len(columns), size))
    columns, position = np.concatenate(parts, axis=1), np.concatenate(positions)
    order = np.argsort(columns < 0, axis=1, kind="stable")
    order = order[:, : int((columns >= 0).sum(axis=1).max(initial=0))]
    return SetColumns(np.take_along_axis(columns, order, axis=1), position[order])


class Whitened(NamedTuple):
    """A covariance of columns, and what each has in common with the whitened target."""

    covariance: Floats  # (..., n_columns, n_columns): the target's columns last
    across: Floats  # (..., n_columns, n_targets): with these made uncorrelated and of variance 1


def whitened(covariance: Floats, n_targets: int) -> Whitened:
    """A covariance whose last columns are the target's, ready for scores."""
    first = covariance.shape[-1] - n_targets
    white = whitening(covariance[..., first:, first:])
    return Whitened(covariance, covariance[..., first:] @ white.swapaxes(-1, -2))


def additive_scores(
    given: Whitened, sets: SetColumns, size: int, ridge: Floats | float
) -> Additive:
    """Additive scores of sets whose columns are known."""
    columns, n_targets = np.ascontiguousarray(sets.columns), given.across.shape[-1]
    lead = given.across.shape[:-2]
    score, freedom = (np.zeros((*lead, len(columns), *more)) for more in ((), (size,)))
    if n_targets == 0:
        return Additive(score, freedom)
    no_slopes, free = np.zeros((0, 0, n_targets)), np.zeros((*lead, *columns.shape))
    ridge = np.broadcast_to(np.asarray(ridge, dtype=np.float64), lead)
    for one in np.ndindex(lead):
        own = Whitened(np.ascontiguousarray(given[0][one]), np.ascontiguousarray(given[1][one]))
        solve_sets(*own, columns, ridge[one], no_slopes, score[one], free[one])
        if (rest := np.flatnonzero(np.isnan(score[one]))).size:
            few = SetColumns(columns[rest], sets.position[rest])
            shared: Any = own.across[few.columns].transpose(0, 2, 1)
            explained = shared @ slopes_of(own, few, ridge[one])  # R: of one column a number
            shares = explained[:, 0] if n_targets == 1 else np.linalg.eigvalsh(explained)
            left = np.log1p(-np.clip(shares, 0.0, MOST_EXPLAINED))
            score[(*one, rest)] = -0.5 * left.sum(axis=1)
    free = np.where(columns >= 0, 1.0 - wide(ridge) * free, 0.0)
    for place in range(size):
        freedom[..., place] = (free * (sets.position == place)).sum(axis=-1)
    return Additive(score, freedom)


def slopes_of(given: Whitened, sets: SetColumns, ridge: Any) -> Floats:
    """What columns of sets give the whitened target, of shape (n_sets, n_columns, n_targets)."""
    slopes = np.zeros((*sets.columns.shape, given.across.shape[1]))
    covariance, across, columns = map(np.ascontiguousarray, (*given, sets.columns))
    diagonals, scores = np.zeros(columns.shape), np.zeros(len(columns))
    solve_sets(covariance, across, columns, ridge, slopes, scores, diagonals)
    return slopes


def whitening(covariance: Floats) -> Floats:
    """A matrix that makes columns of a covariance uncorrelated and of variance 1."""
    trace = np.trace(covariance, axis1=-2, axis2=-1)
    ridge = wide(TARGET_RIDGE * np.maximum(trace, TARGET_RIDGE))
    root = np.linalg.cholesky(covariance + ridge * np.eye(covariance.shape[-1]))
    return np.linalg.inv(root)


@dataclass(frozen=True, eq=False)
class InformationScale:
    """Information about classes with given shares (step 5)."""

    shares: Floats  # (..., n_classes): the share of every class, 0 of those without rows
    unit = 1.0

    @cached_property
    def _n_classes(self) -> Floats:
        """How many classes have rows, against scores of sets."""
        return np.asarray((self.shares > 0).sum(axis=-1, keepdims=True), dtype=np.float64)

    def _precision(self, additive: Floats) -> tuple[Floats, Floats]:
        """The share of the variance that is explained, and the Dirichlet precision with it."""
        n_dimensions = np.maximum(self._n_classes - 1.0, 1.0)
        explained = -np.expm1(-2.0 * np.clip(additive, 0.0, STRONGEST) / n_dimensions)
        return explained, (1.0 - explained) / np.maximum(explained, WEAK)

    def score(self, additive: Floats) -> Floats:
        """Information in nats; additive scores below 0 stay as they are."""
        from scipy.special import digamma

        additive = np.asarray(additive, dtype=np.float64)
        explained, precision = self._precision(additive)
        gained = -digamma(precision + 1.0)
        for share in np.moveaxis(self.shares, -1, 0)[..., None]:
            gained += share * (digamma(share * precision + 1.0) - np.log(np.maximum(share, TINY)))
        found = np.where(explained > WEAK, gained, additive)
        return np.where(self._n_classes > 1, found, 0.0)

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Scores from 0 to the entropy, and what single rows vary by at each."""
        from scipy.special import digamma

        additive = np.concatenate([[0.0], np.geomspace(WEAK, STRONGEST, GRID)])
        explained, precision = self._precision(additive)
        whole = precision + 1.0
        mean, square = np.zeros_like(whole), np.zeros_like(whole)
        for share in np.moveaxis(self.shares, -1, 0)[..., None]:
            own = share * precision + 1.0
            gain = digamma(own) - digamma(whole) - np.log(np.maximum(share, TINY))
            mean += share * gain
            square += share * (gain**2 + trigamma(own) - trigamma(whole))
        score = np.maximum.accumulate(self.score(additive), axis=-1)
        variance = np.where(explained > WEAK, np.maximum(square - mean**2, 0.0), 2.0 * score)
        return score, np.where(self._n_classes > 1, variance, 0.0)

    def row_variance(self, score: Floats) -> Floats:
        """The variance of log p(y | x) / p(y) over rows; by interpolation."""
        score = np.maximum(np.asarray(score, dtype=np.float64), 0.0)
        found, (scores, variances) = np.empty_like(score), self._grid
        for one in np.ndindex(self.shares.shape[:-1]):
            found[one] = np.interp(score[one], scores[one], variances[one])
        return found


def trigamma(x: Floats) -> Floats:
    """The derivative of digamma for x of at least 1, by its asymptotic series at x + 8."""
    found = sum(1.0 / (x + k) ** 2 for k in range(8))
    z = 1.0 / (x + 8.0)
    square, series = z * z, np.zeros_like(z)
    for bernoulli in (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        series = (series + bernoulli) * square
    return np.asarray(found + z * (1.0 + z * 0.5 + series))


@dataclass(frozen=True)
class CorrelationScale:
    """The squared multiple correlation with a numeric target: R² = 1 - exp(-2 A)."""

    unit = 2.0

    def score(self, additive: Floats) -> Floats:
        """R², or a little below 0 where less is explained than by chance."""
        return -np.expm1(-2.0 * np.asarray(additive, dtype=np.float64))

    def row_variance(self, score: Floats) -> Floats:
        """4 R² (1 - R²)²."""
        within = np.clip(score, 0.0, 1.0)
        return 4.0 * within * (1.0 - within) ** 2


Scale = InformationScale | CorrelationScale  # how additive scores become scores of a measure
