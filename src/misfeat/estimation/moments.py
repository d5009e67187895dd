"""Covariances of columns, and the one that all subgroups share.

Step 2 of docs/explanation/population.md: it is found by EM, in which missing columns are regressed
on recorded ones and the target.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

EM_ROUNDS = 60
EM_RIDGE = 1e-3
EM_TOLERANCE = 1e-5
LEAST_HALF = 50  # lines from which on half a matrix is inverted by itself
NUMBERS_AT_ONCE = 2**22  # entries of the matrices that are solved at once
TARGET_RIDGE = 1e-9
DETERMINED = 1e-6  # a feature is determined by one that leaves no more of its variance unexplained


@dataclass(frozen=True, eq=False)
class Term:
    """An interaction as further columns, which belong to every set that holds its features."""

    features: tuple[int, ...]  # ascending
    effects: Floats  # (n_cells, n_columns): the last feature's values change fastest
    optimism: Floats  # (n_columns, n_targets): covariance that fitting effects to it added


@dataclass(frozen=True, eq=False)
class Moments:
    """Covariances of columns within every subgroup, or within those of several resamples."""

    # (..., n_cohorts, n_columns, n_columns): around each subgroup's means; 0 where not recorded
    own: Floats
    rows: Floats  # (..., n_cohorts): rows of equal weight that inform as much
    recorded: Flags  # (n_cohorts, n_features)
    columns: tuple[Integers, ...]  # the columns of every feature, then those of every term
    n_targets: int  # columns of the target, which come last
    terms: tuple[Term, ...] = ()  # interactions that have columns
    weights: Floats | None = None  # (..., n_cohorts): of what is shared; None: rows

    @cached_property
    def pooled_rows(self) -> Floats:
        """The rows of each subgroup in what is shared."""
        return self.rows if self.weights is None else self.weights

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
        found = np.ones((len(self.recorded), self.own.shape[-1]), dtype=bool)
        members = [(f,) for f in range(self.n_features)] + [term.features for term in self.terms]
        for columns, features in zip(self.columns, members, strict=True):
            found[:, columns] = recorded_all(self.recorded, features)[:, None]
        return found

    @cached_property
    def determined(self) -> Flags:
        """Which feature (line) determines which other; of two that do so, the first the second."""
        if self.rows.ndim > 1:  # the same in all resamples
            return replace(self, own=self.own[0], rows=self.rows[0]).determined
        n_features, widest = self.n_features, int(self.widths.max(initial=0))
        found = np.zeros((n_features, n_features), dtype=bool)
        # A line a feature: its columns, and -1 where it has fewer of them than another.
        lines = np.full((n_features, widest), -1)
        lines[np.arange(widest) < self.widths[:, None]] = [
            column for columns in self.columns[:n_features] for column in columns
        ]
        here = lines >= 0
        both = here[:, :, None] & here[:, None]
        inside = np.where(both, self.own[:, lines[:, :, None], lines[:, None]], 0.0)
        patterns, which = np.unique(self.recorded, axis=1, return_inverse=True)
        for number, pattern in enumerate(patterns.T):
            others = np.flatnonzero((which.ravel() == number) & (self.widths > 0))
            if not (pattern.any() and len(others)):
                continue
            rows = (self.rows * pattern)[:, None] * self.recorded  # with a feature and the others
            theirs = np.concatenate([self.columns[f] for f in others])
            firsts = np.cumsum([0, *self.widths[others[:-1]]])
            variance = rows.T @ self.own[:, theirs, theirs]
            whole = np.add.reduceat(variance, firsts, axis=1)
            block = np.einsum("kf,kfab->fab", rows, inside)
            ridge = TARGET_RIDGE * np.maximum(np.einsum("fii->f", block), TARGET_RIDGE)
            block += np.where(here, ridge[:, None], 1.0)[:, None] * np.eye(widest)
            step = max(1, NUMBERS_AT_ONCE // (widest * len(theirs)))
            for few in (slice(first, first + step) for first in range(0, n_features, step)):
                shared = sum(
                    n[few, None, None] * own[lines[few, :, None], theirs]
                    for n, own in zip(rows, self.own, strict=True)
                )
                shared = np.where(here[few, :, None], shared, 0.0)
                left = variance[few] - (np.linalg.solve(block[few], shared) * shared).sum(axis=1)
                unexplained = np.add.reduceat(left, firsts, axis=1)
                found[few, others] = (unexplained <= DETERMINED * whole[few]) & (whole[few] > 0.0)
        np.fill_diagonal(found, val=False)
        return found & ~np.tril(found & found.T)

    def redundant(self, subsets: Indices, recorded: Flags | None = None) -> Flags:
        """Which features of sets another one of the set, among those recorded, determines."""
        found = np.zeros(subsets.shape, dtype=bool)
        if self.determined.any():
            by = self.determined if recorded is None else self.determined & recorded[:, None]
            for one, other in permutations(range(subsets.shape[1]), 2):
                found[:, other] |= by[subsets[:, one], subsets[:, other]]
        return found

    @cached_property
    def rows_recorded(self) -> Floats:
        """Rows of all subgroups that recorded each feature; of shape (n_features,)."""
        return np.maximum(self.pooled_rows @ self.recorded, 1.0)

    def hidden(self, mask: Flags) -> "Moments":
        """The same without the features that a mask marks, of shape (n_cohorts, n_features)."""
        return replace(self, recorded=self.recorded & ~mask)

    def pooled(self, cohorts: Indices) -> Floats:
        """The mean covariance of some subgroups, by their rows."""
        weights = np.zeros(self.rows.shape)  # of all, so that no covariance is copied
        weights[..., cohorts] = self.pooled_rows[..., cohorts]
        weights /= weights.sum(axis=-1, keepdims=True)
        lines = self.own.reshape(*weights.shape, -1)
        pooled: Floats = weights[..., None, :] @ lines
        return pooled.reshape(*self.rows.shape[:-1], *self.own.shape[-2:])

    @cached_property
    def shared(self) -> Floats:
        """One covariance for all subgroups, by EM over patterns of lacking columns (step 2)."""
        different, which = np.unique(self.observed, axis=0, return_inverse=True)
        if different.all():
            return self.pooled(np.arange(len(self.recorded)))
        members = [np.flatnonzero(which.ravel() == p) for p in range(len(different))]
        rows = self.pooled_rows
        whole = wide(rows.sum(axis=-1))
        weights = [wide(rows[..., chosen].sum(axis=-1)) / whole for chosen in members]
        ridge = EM_RIDGE * np.eye(self.own.shape[-1])
        # Columns that no subgroup lacks come first: what they have in common stays as it is.
        order = np.argsort(~different.all(axis=0), kind="stable")
        different, n_fixed = different[:, order], int(different.all(axis=0).sum())
        means = [
            _definite(self.pooled(chosen)[..., order[:, None], order] * np.outer(o, o), ridge)
            for chosen, o in zip(members, different, strict=True)
        ]
        patterns = list(zip(weights, means, different, strict=True))
        seen = sum(w * np.outer(o, o) for w, _, o in patterns)
        start = sum(w * mean for w, mean, _ in patterns)
        found = _definite(start / np.maximum(seen, 1.0 / whole), ridge) + ridge
        fills = [(w, _Filling.of(mean, o, n_fixed)) for w, mean, o in patterns if not o.all()]
        done = np.zeros(whole.shape, dtype=bool)
        for turn in range(EM_ROUNDS):
            before, found = found, start + ridge
            first, across, last = _parts(before + ridge, n_fixed)
            if turn < 2:
                fixed = _inverse(first)
            slopes = across @ fixed
            free = _inverse(last - slopes @ across.swapaxes(-1, -2))
            precision = np.concatenate([-free @ slopes, free], axis=-1)
            lines = np.zeros_like(precision)
            for weight, fill in fills:
                fill.add_to(lines, weight, precision)
            found[..., n_fixed:, :] += lines
            found[..., n_fixed:] += lines.swapaxes(-1, -2)
            found = np.where(done, before, found)
            done |= np.abs(found - before).max(axis=(-2, -1), keepdims=True) < EM_TOLERANCE
            if done.all():
                break
        back = np.argsort(order)
        return found.take(back, axis=-2).take(back, axis=-1)

    def completed(self, cohort: int) -> Floats:
        """The covariance of one subgroup, columns that it lacks regressed on those that it has."""
        observed = self.observed[cohort]
        found: Floats = self.own[cohort] * np.outer(observed, observed)
        lines, ridge = np.zeros_like(found), EM_RIDGE * np.eye(len(found))
        _Filling.of(found, observed).add_to(lines, 1.0, _inverse(self.shared + ridge))
        found += lines
        found += lines.T
        return found


def _definite(covariances: Floats, ridge: Floats) -> Floats:
    """Covariances whose correlations are shrunk until no combination has a negative variance."""
    # Entries are means over different rows, so that all of them together may be no covariance.
    if covariances.ndim > 2:
        return np.stack([_definite(covariance, ridge) for covariance in covariances])
    across = covariances * (ridge == 0.0)
    for shrinkage in np.linspace(0.0, 1.0, 21):
        shrunk: Floats = covariances - shrinkage * across
        with suppress(np.linalg.LinAlgError):
            np.linalg.cholesky(shrunk + ridge)
            break
    return shrunk


class _Filling(NamedTuple):
    """What lines of a covariance that were not observed are by regression on the others."""

    recorded: Floats  # what was observed
    seen: Integers  # the columns that were, and those that were not
    lacking: Integers
    lines: Integers  # the lines of the latter

    @classmethod
    def of(cls, own: Floats, observed: Flags, n_fixed: int = 0) -> "_Filling":
        """What need not be worked out anew for every shared covariance."""
        seen, lacking = np.flatnonzero(observed), np.flatnonzero(~observed)
        recorded = np.ascontiguousarray(own[..., seen[:, None], seen])
        return cls(recorded, seen, lacking, lacking - n_fixed)

    def add_to(self, lines: Floats, weight: Any, precision: Floats) -> None:
        """Add what lacks by the lines of a shared precision, half of what it has in common."""
        own = precision.take(self.lines, axis=-2)
        left = _inverse(own.take(self.lacking, axis=-1))  # the covariance of what regression leaves
        slopes = -left @ own.take(self.seen, axis=-1)
        new = slopes @ self.recorded
        left += new @ slopes.swapaxes(-1, -2) - EM_RIDGE * np.eye(len(self.lacking))
        own[..., self.seen], own[..., self.lacking] = weight * new, weight / 2.0 * left
        lines[..., self.lines, :] += own


def _parts(symmetric: Floats, n_first: int) -> tuple[Floats, Floats, Floats]:
    """The first lines and columns of matrices, what the last have in common with them, the last."""
    first, last = slice(None, n_first), slice(n_first, None)
    return symmetric[..., first, first], symmetric[..., last, first], symmetric[..., last, last]


def _inverse(symmetric: Floats) -> Floats:
    """The inverse of symmetric matrices; of large ones by halves, as products are faster."""
    half = symmetric.shape[-1] // 2
    if half < LEAST_HALF:
        return np.asarray(np.linalg.inv(symmetric), dtype=np.float64)
    first, across, last = _parts(symmetric, half)
    first = _inverse(first)
    slopes = across @ first
    last = _inverse(last - slopes @ across.swapaxes(-1, -2))
    across = -last @ slopes
    first = first - slopes.swapaxes(-1, -2) @ across
    upper = np.concatenate([first, across.swapaxes(-1, -2)], axis=-1)
    return np.concatenate([upper, np.concatenate([across, last], axis=-1)], axis=-2)


def wide(numbers: Any) -> Floats:
    """Numbers of resamples, each against a matrix."""
    return np.asarray(numbers, dtype=np.float64)[..., None, None]


def recorded_all(recorded: Flags, features: Sequence[int] | Indices) -> Flags:
    """Where all of some features were recorded, or of every line of several sets."""
    return np.asarray(recorded[:, features].all(axis=-1))
