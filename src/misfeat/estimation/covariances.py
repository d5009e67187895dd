"""Second moments of feature and target columns in every subgroup, and what all of them share.

The covariances of columns within subgroups are all that additive scores need. A subgroup that
never recorded a feature lacks its lines; one covariance for all subgroups is found by EM, in which
missing columns are regressed on recorded ones and the target (docs/explanation/population.md,
step 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

EM_ROUNDS = 60
EM_RIDGE = 1e-3
EM_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Term:
    """An interaction as further columns, which belong to every set that holds its features."""

    features: tuple[int, ...]  # ascending
    effects: Floats  # (n_cells, n_columns): the last feature's values change fastest
    # (n_columns, n_targets): by how much the covariance with the target is too high because
    # effects were fitted to it
    optimism: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """Covariances of columns within every subgroup."""

    # (n_cohorts, n_columns, n_columns): around each subgroup's means; 0 where not recorded
    own: Floats
    rows: Floats  # (n_cohorts,): rows of equal weight that inform as much
    recorded: Flags  # (n_cohorts, n_features)
    columns: tuple[Integers, ...]  # the columns of every feature, then those of every term
    n_targets: int  # columns of the target, which come last
    terms: tuple[Term, ...] = ()  # interactions that have columns
    _pooled: dict[bytes, Floats] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.recorded.shape[1])

    @cached_property
    def widths(self) -> Integers:
        """How many columns each feature has."""
        return np.array([len(columns) for columns in self.columns[: self.n_features]])

    @cached_property
    def observed(self) -> Flags:
        """Which columns each subgroup has, of shape (n_cohorts, n_columns)."""
        found = np.ones(self.own.shape[:2], dtype=bool)
        members = [(f,) for f in range(self.n_features)] + [term.features for term in self.terms]
        for columns, features in zip(self.columns, members, strict=True):
            found[:, columns] = recorded_all(self.recorded, features)[:, None]
        return found

    @cached_property
    def rows_recorded(self) -> Floats:
        """Rows of all subgroups that recorded each feature; of shape (n_features,)."""
        return np.maximum(self.rows @ self.recorded, 1.0)

    def hidden(self, mask: Flags) -> Moments:
        """The same without the features that a mask marks, of shape (n_cohorts, n_features)."""
        return replace(self, recorded=self.recorded & ~mask)

    def pooled(self, cohorts: NDArray[np.integer]) -> Floats:
        """The mean covariance of some subgroups, by their rows."""
        key = cohorts.tobytes()
        if key not in self._pooled:
            weights = self.rows[cohorts] / self.rows[cohorts].sum()
            self._pooled[key] = np.tensordot(weights, self.own[cohorts], axes=1)
        return self._pooled[key]

    @cached_property
    def shared(self) -> Floats:
        """One covariance for all subgroups, by EM where some lack columns.

        The sum of completed covariances is linear in the recorded ones, so that subgroups that lack
        the same columns are added up once.
        """
        different, which = np.unique(self.observed, axis=0, return_inverse=True)
        if different.all():
            return self.pooled(np.arange(len(self.rows)))
        members = [np.flatnonzero(which.ravel() == p) for p in range(len(different))]
        whole = self.rows.sum()
        weights = np.array([self.rows[chosen].sum() for chosen in members]) / whole
        means = [self.pooled(chosen) for chosen in members]
        patterns = list(zip(weights, means, different, strict=True))
        seen = sum(w * np.outer(o, o).astype(np.float64) for w, _, o in patterns)
        start = sum(w * mean * np.outer(o, o) for w, mean, o in patterns)
        ridge = EM_RIDGE * np.eye(self.own.shape[1])
        found: Floats = start / np.maximum(seen, 1.0 / whole) + ridge
        for _ in range(EM_ROUNDS):
            before = found
            found = sum(w * _filled(mean, before, o) for w, mean, o in patterns) + ridge
            if np.abs(found - before).max() < EM_TOLERANCE:
                break
        return found

    def completed(self, cohort: int) -> Floats:
        """The covariance of one subgroup, columns that it lacks regressed on those that it has."""
        return _filled(self.own[cohort], self.shared, self.observed[cohort])


def _filled(own: Floats, shared: Floats, observed: Flags) -> Floats:
    """A covariance with the lines that were not observed regressed on the others."""
    if observed.all():
        return own
    seen, lacking = np.flatnonzero(observed), np.flatnonzero(~observed)
    within = shared[np.ix_(seen, seen)] + EM_RIDGE * np.eye(len(seen))
    across = shared[np.ix_(seen, lacking)]
    slopes = np.linalg.solve(within, across).T
    recorded = own[np.ix_(seen, seen)]
    filled = np.zeros_like(own)
    filled[np.ix_(seen, seen)] = recorded
    filled[np.ix_(lacking, seen)] = slopes @ recorded
    filled[np.ix_(seen, lacking)] = filled[np.ix_(lacking, seen)].T
    rest = shared[np.ix_(lacking, lacking)] - slopes @ across
    filled[np.ix_(lacking, lacking)] = rest + slopes @ recorded @ slopes.T
    return filled


def recorded_all(recorded: Flags, features: Sequence[int] | NDArray[np.integer]) -> Flags:
    """Where all of some features were recorded, or of every line of several sets."""
    return np.asarray(recorded[:, features].all(axis=-1))
