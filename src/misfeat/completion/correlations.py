"""Correlations of all features and the target in every cohort, those it never recorded, too.

Columns are standardised in every cohort. The correlations that all cohorts share are found by
expectation and maximisation (EM) for a normal distribution of which every cohort saw some
variables: pairs are averaged over the cohorts that recorded them, and what a cohort lacks is
expected from what it has. Rows of a cohort weigh less the more cohorts differ. Of two features that
no cohort recorded together, nothing is known but what others tell about both: they are taken to be
independent given these.

A cohort i that recorded R and lacks Q then keeps its own correlations, and features of Q follow as

    q = A r + d u + w,

r the recorded features, A the regression of q on r elsewhere, u what r leaves of the target (with
the spread that this has in cohort i), d as the partial correlation of q and the target elsewhere,
and w the rest. So a feature that tells nothing beside r elsewhere tells nothing beside r here,
however well it does alone. Being correlations of variables that may exist, these are positive
semidefinite: no set explains less than a part of it, or more than everything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.product_sums import ProductSums

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

ROUNDS = 60
"""Rounds of expectation and maximisation, at most."""
CLOSE = 1e-5
"""Rounds end where no correlation changes by more."""
PRIOR_ROWS = 1.0
"""Rows of unrelated variables that are added, so that copies of features do no harm."""
NEARLY_ALL = 1.0 - 1e-9
"""Unrecorded features explain at most this share of what recorded ones leave of the target."""
LEAST_LEFT = 0.05
"""Correlations of copies are not taken to be known better than those that leave this share."""
CUTOFF = 1e-10
"""Directions with less than this share of the largest variance count as having none."""


@dataclass(frozen=True, eq=False)
class SeenCorrelations:
    """Correlations that cohorts recorded.

    Attributes
    ----------
    values : ndarray of shape (n_cohorts, n_features + 1, n_features + 1)
        The target last; as if unrelated where `seen` does not mark both variables.
    seen : ndarray of bool of shape (n_cohorts, n_features + 1)
        Which variables a cohort recorded and found to vary.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What a cohort never recorded. A feature that it did record and that never varies is neither
        seen nor missing: it has no correlation with anything.
    n_rows : ndarray of shape (n_cohorts,)
        Rows of each cohort.
    """

    values: Floats
    seen: Flags
    missing: Flags
    n_rows: Floats

    @classmethod
    def of(cls, sums: ProductSums, missing: Flags) -> SeenCorrelations:
        """Standardise sums of products; of missing features nothing is read."""
        n_cohorts, n_features = missing.shape
        recorded = np.column_stack([~missing, np.ones(n_cohorts, dtype=bool)])
        products = np.where(recorded[:, :, None] & recorded[:, None, :], sums.products, 0.0)
        squares = np.einsum("gii->gi", products)
        seen = squares > 0
        scale = np.divide(1.0, np.sqrt(np.maximum(squares, 0.0)), where=seen, out=squares * 0.0)
        values = np.clip(products * scale[:, :, None] * scale[:, None, :], -1.0, 1.0)
        values[:, np.arange(n_features + 1), np.arange(n_features + 1)] = 1.0
        return cls(values, seen, missing, sums.rows.astype(np.float64))

    def of_cohorts(self, chosen: Flags) -> SeenCorrelations:
        """The correlations of some cohorts."""
        return SeenCorrelations(
            self.values[chosen], self.seen[chosen], self.missing[chosen], self.n_rows[chosen]
        )

    @cached_property
    def spread(self) -> float:
        """How much correlations differ between cohorts: the variance, for one near 0.

        What sampling does not explain of the differences (DerSimonian and Laird), over all pairs of
        features that several cohorts recorded. Those with the target are left out: they differ all
        together where the target is noisier in one cohort than in another.
        """
        pairs = np.triu_indices(self.missing.shape[1], 1)
        both = (self.seen[:, :, None] & self.seen[:, None, :])[:, pairs[0], pairs[1]]
        rows = both * self.n_rows[:, None]
        values, total = self.values[:, pairs[0], pairs[1]], np.maximum(rows.sum(axis=0), 1.0)
        mean = (rows * values).sum(axis=0) / total
        certainty = rows / np.maximum(1.0 - mean**2, LEAST_LEFT) ** 2
        excess = (certainty * (values - mean) ** 2).sum(axis=0)
        excess -= np.maximum(both.sum(axis=0) - 1.0, 0.0)
        scale = total - (rows**2).sum(axis=0) / total
        return max(0.0, float(excess.sum() / max(scale.sum(), 1.0)))

    @property
    def weight(self) -> Floats:
        """Rows that would tell as much of all cohorts as those of each do."""
        weight: Floats = self.n_rows / (1.0 + self.n_rows * self.spread)
        return weight


def pooled_correlations(own: SeenCorrelations) -> Floats:
    """Correlations that all cohorts share, of shape (n_features + 1, n_features + 1).

    Examples
    --------
    The first and the second feature were recorded apart. What they share is expected from the
    target, which both go with.

    >>> values = np.array([np.eye(3), np.eye(3)])
    >>> values[0, 0, 2] = values[0, 2, 0] = values[1, 1, 2] = values[1, 2, 1] = 0.8
    >>> seen = np.array([[True, False, True], [False, True, True]])
    >>> own = SeenCorrelations(values, seen, ~seen[:, :2], np.array([5000.0, 5000.0]))
    >>> pooled_correlations(own)[0].round(2)
    array([1.  , 0.64, 0.8 ])
    """
    unrelated: Floats = np.eye(own.values.shape[1])
    prior = PRIOR_ROWS / (own.n_rows.sum() + PRIOR_ROWS)
    weight = (1.0 - prior) * own.weight / max(own.weight.sum(), np.finfo(float).tiny)
    pooled = unrelated
    for _ in range(ROUNDS):
        before, pooled = pooled, prior * unrelated
        for values, seen, share in zip(own.values, own.seen, weight, strict=True):
            pooled = pooled + share * _expected(values, seen, before)
        if np.abs(pooled - before).max() < CLOSE:
            break
    spread = np.sqrt(np.diag(pooled))
    together = own.seen.T.astype(np.int64) @ own.seen > 0
    return _independent_where(~together, np.asarray(pooled / spread[:, None] / spread[None, :]))


def completed_correlations(own: SeenCorrelations, pooled: Floats, cohort: int) -> Floats:
    """All correlations in one cohort, up to the scale of unrecorded features; its own ones exact.

    Covariances, the target last; recorded variables have variance 1. `pooled` is what
    `pooled_correlations` gives.

    Examples
    --------
    The second cohort lacks the second feature, which is a noisy copy of the first elsewhere. It is
    expected to go with the target as far as the first does here.

    >>> values = np.array([np.eye(3), np.eye(3)])
    >>> values[0] = [[1.0, 0.9, 0.5], [0.9, 1.0, 0.45], [0.5, 0.45, 1.0]]
    >>> values[1, 0, 2] = values[1, 2, 0] = 0.8
    >>> seen = np.array([[True, True, True], [True, False, True]])
    >>> own = SeenCorrelations(values, seen, ~seen[:, :2], np.array([5000.0, 5000.0]))
    >>> completed_correlations(own, pooled_correlations(own), 1)[2].round(1)
    array([0.8, 0.7, 1. ])
    """
    recorded = np.flatnonzero(own.seen[cohort, :-1])
    lacking = np.flatnonzero(own.missing[cohort])
    completed: Floats = own.values[cohort].copy()
    if not len(lacking):
        return completed
    shared = completed[np.ix_(recorded, recorded)]
    target = completed[recorded, -1]
    slope = _regression(pooled, lacking, recorded)
    rest = pooled[np.ix_(lacking, lacking)] - slope @ pooled[np.ix_(recorded, lacking)]
    left_here = max(0.0, 1.0 - float(target @ np.linalg.pinv(shared, CUTOFF, True) @ target))
    behind = own.n_rows @ own.seen[:, lacking]
    tied = _tie_to_target(pooled, recorded, lacking, slope, rest, behind)
    tied *= _limit(tied, rest)
    with_recorded = slope @ shared
    completed[np.ix_(lacking, recorded)] = with_recorded
    completed[np.ix_(recorded, lacking)] = with_recorded.T
    among = with_recorded @ slope.T + rest
    completed[np.ix_(lacking, lacking)] = (among + among.T) / 2.0
    if own.seen[cohort, -1]:
        with_target = slope @ target + np.sqrt(left_here) * tied
        completed[lacking, -1] = completed[-1, lacking] = with_target
    return completed


def _expected(values: Floats, seen: Flags, pooled: Floats) -> Floats:
    """The correlations of one cohort with what is to be expected of those that it lacks."""
    if seen.all():
        return values
    has, lacks = np.flatnonzero(seen), np.flatnonzero(~seen)
    slope = _regression(pooled, lacks, has)
    rest = pooled[np.ix_(lacks, lacks)] - slope @ pooled[np.ix_(has, lacks)]
    expected: Floats = values.copy()
    across = slope @ values[np.ix_(has, has)]
    expected[np.ix_(lacks, has)] = across
    expected[np.ix_(has, lacks)] = across.T
    expected[np.ix_(lacks, lacks)] = across @ slope.T + rest
    return expected


def _independent_where(unknown: Flags, pooled: Floats) -> Floats:
    """The same with correlations that nobody knows such that the two are independent given others.

    Of all correlations that agree with the known ones, these have the largest determinant; steps
    that would lower it are halved.
    """
    unknown = unknown & ~np.eye(len(pooled), dtype=bool)
    if not unknown.any():
        return pooled
    largest, step = np.linalg.slogdet(pooled)[1], 1.0
    for _ in range(ROUNDS):
        inverse = np.linalg.inv(pooled).astype(np.float64)
        own = np.diag(inverse)
        given_others = -inverse / np.maximum(own[:, None] * own - inverse**2, CUTOFF)
        moved = pooled - step * np.where(unknown, given_others, 0.0)
        sign, determinant = np.linalg.slogdet(moved)
        if sign > 0 and determinant >= largest:
            change = np.abs(moved - pooled).max()
            pooled, largest = moved, determinant
            if change < CLOSE:
                break
        else:
            step /= 2.0
    return pooled


def _regression(pooled: Floats, wanted: NDArray[np.intp], given: NDArray[np.intp]) -> Floats:
    """Slopes of the regression of some variables on others."""
    shared, across = pooled[np.ix_(given, given)], pooled[np.ix_(given, wanted)]
    return np.linalg.solve(shared, across).T.astype(np.float64)


def _tie_to_target(
    pooled: Floats,
    recorded: NDArray[np.intp],
    lacking: NDArray[np.intp],
    slope: Floats,
    rest: Floats,
    behind: Floats,
) -> Floats:
    """How unrecorded features go with what recorded ones leave of the target, of variance 1.

    What chance gives the rows behind each is taken off the square of every partial correlation.
    """
    across = pooled[recorded, -1]
    target_slope = _regression(pooled, np.array([len(pooled) - 1]), recorded)[0]
    left = max(1.0 - float(target_slope @ across), np.finfo(float).tiny)
    partial = (pooled[lacking, -1] - slope @ across) / np.sqrt(left)
    variance = np.maximum(np.diag(rest), np.finfo(float).tiny)
    kept = np.sqrt(np.maximum(partial**2 - variance / np.maximum(behind, 1.0), 0.0))
    tied: Floats = np.copysign(kept, partial)
    return tied


def _limit(tied: Floats, rest: Floats) -> float:
    """By what to multiply so that unrecorded features explain no more than there is."""
    explained = float(tied @ np.linalg.pinv(rest, CUTOFF, True) @ tied)
    return min(1.0, float(np.sqrt(NEARLY_ALL / max(explained, np.finfo(float).tiny))))
