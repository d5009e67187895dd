"""Second moments of feature and target columns in every subgroup, and what all of them share.

Every feature becomes one-hot columns (or is a number), every class of the target a column, each
centred in its subgroup: differences between subgroups say nothing about features. The covariances
of these columns are all that additive scores need. A subgroup that never recorded a feature lacks
its lines; one covariance for all subgroups is found by EM, in which missing columns are regressed
on recorded ones and the target. See docs/explanation/population.md, steps 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from misfeat.estimation.kernels import count_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.cohorts.product_sums import ProductSums

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MOST_COLUMNS = 39
"""Columns of one feature; the rarest of its categories share one."""
EM_ROUNDS = 60
EM_RIDGE = 1e-3
EM_TOLERANCE = 1e-5
ROWS_AT_ONCE = 2**15
"""Rows whose columns are held in memory at once."""


@dataclass(frozen=True, eq=False)
class Term:
    """An interaction as further columns, which belong to every set that holds its features."""

    features: tuple[int, ...]  # feature numbers, ascending
    # (n_cells, n_columns): the value of each column in every cell, the last feature's values
    # changing fastest
    effects: Floats
    # (n_columns, n_targets): by how much the covariance with the target is too high because
    # effects were fitted to it
    optimism: Floats


@dataclass(frozen=True, eq=False)
class Moments:
    """Covariances of columns within every subgroup."""

    # (n_cohorts, n_columns, n_columns): of every subgroup, around its own means; zeros where a
    # feature was not recorded
    own: Floats
    rows: Floats  # (n_cohorts,): rows of equal weight that inform as much
    recorded: Flags  # (n_cohorts, n_features): which features each subgroup recorded
    columns: tuple[Integers, ...]  # the columns of every feature, then those of every term
    n_targets: int  # columns of the target, which come last
    terms: tuple[Term, ...] = ()  # interactions that have columns
    _pooled: dict[bytes, Floats] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.recorded.shape[1])

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
        found: Floats = np.maximum(self.rows @ self.recorded, 1.0)
        return found

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
    def patterns(self) -> tuple[Flags, Integers]:
        """The different lines of `observed`, and which of them each subgroup has."""
        different, place = np.unique(self.observed, axis=0, return_inverse=True)
        return different, place.ravel()

    @cached_property
    def shared(self) -> Floats:
        """One covariance for all subgroups, by EM where some lack columns.

        The sum of completed covariances is linear in the recorded ones, so that subgroups that lack
        the same columns are added up once.
        """
        different, place = self.patterns
        whole = self.rows.sum()
        if different.all():
            return self.pooled(np.arange(len(self.rows)))
        weight = np.array([self.rows[place == p].sum() for p in range(len(different))]) / whole
        means = [self.pooled(np.flatnonzero(place == p)) for p in range(len(different))]
        seen = sum(
            w * np.outer(o, o).astype(np.float64) for w, o in zip(weight, different, strict=True)
        )
        start = sum(
            w * mean * np.outer(o, o) for w, mean, o in zip(weight, means, different, strict=True)
        )
        ridge = EM_RIDGE * np.eye(self.own.shape[1])
        found: Floats = start / np.maximum(seen, 1.0 / whole) + ridge
        for _ in range(EM_ROUNDS):
            filled = sum(
                w * _filled(mean, found, o)
                for w, mean, o in zip(weight, means, different, strict=True)
            )
            new = filled + ridge
            change = np.abs(new - found).max()
            found = new
            if change < EM_TOLERANCE:
                break
        return found

    def completed(self, cohort: int) -> Floats:
        """The covariance of one subgroup, columns that it lacks regressed on those that it has."""
        return _filled(self.own[cohort], self.shared, self.observed[cohort])


def _filled(own: Floats, shared: Floats, observed: Flags) -> Floats:
    """A covariance with the lines that were not observed regressed on the others."""
    if observed.all():
        return own
    lacking = ~observed
    within = shared[np.ix_(observed, observed)] + EM_RIDGE * np.eye(observed.sum())
    across = shared[np.ix_(observed, lacking)]
    slopes = np.linalg.solve(within, across).T
    recorded = own[np.ix_(observed, observed)]
    filled = np.zeros_like(own)
    filled[np.ix_(observed, observed)] = recorded
    filled[np.ix_(lacking, observed)] = slopes @ recorded
    filled[np.ix_(observed, lacking)] = filled[np.ix_(lacking, observed)].T
    rest = shared[np.ix_(lacking, lacking)] - slopes @ across
    filled[np.ix_(lacking, lacking)] = rest + slopes @ recorded @ slopes.T
    return filled


def moments_of_sums(sums: ProductSums, missing: Flags) -> Moments:
    """Moments of numeric columns: a column a feature, the target last.

    Columns are scaled to a pooled variance of 1, so that ridges mean the same for each.
    """
    rows = np.maximum(sums.rows.astype(np.float64), 1.0)
    own = sums.products / rows[:, None, None]
    seen = np.concatenate([~sums.missing, np.ones((len(rows), 1), dtype=bool)], axis=1)
    variances = np.einsum("kii->ki", own)
    pooled = (rows[:, None] * seen * variances).sum(axis=0) / np.maximum(rows @ seen, 1.0)
    scale = 1.0 / np.sqrt(np.where(pooled > 0, pooled, 1.0))
    own = own * scale[:, None] * scale * seen[:, :, None] * seen[:, None, :]
    n_features = len(sums.features)
    columns = tuple(np.array([f], dtype=np.int64) for f in range(n_features))
    return Moments(own, rows, ~(sums.missing | missing), columns, n_targets=1)


def columns_of_cards(cards: Integers, terms: Sequence[Term]) -> tuple[list[Integers], int]:
    """The columns of every feature, one less than categories, then of every term; and how many."""
    widths = [int(card) - 1 for card in cards] + [term.effects.shape[1] for term in terms]
    ends = np.cumsum(widths)
    blocks = [np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)]
    return blocks, int(ends[-1]) if len(ends) else 0


def one_hot(card: int, usual: int) -> Floats:
    """The columns of every category of a feature, of shape (card, card - 1)."""
    return np.delete(np.eye(card), usual, axis=1)


def classes_with_columns(by_class: Floats) -> Integers:
    """All classes that have rows but the most frequent, from rows by subgroup and class."""
    counts = by_class.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[1:][counts[order[1:]] > 0])


def with_optimism_removed(
    own: Floats, missing: Flags, terms: Sequence[Term], blocks: Sequence[Integers], target: Integers
) -> None:
    """Take off, in place, what terms have in common with the target because they were fitted."""
    for term, columns in zip(terms, blocks, strict=True):
        there = np.flatnonzero(~missing[:, term.features].any(axis=1))
        own[np.ix_(there, columns, target)] -= term.optimism
        own[np.ix_(there, target, columns)] -= term.optimism.T


@dataclass(frozen=True, eq=False)
class OneHotColumns:
    """How codes become columns."""

    # (n_features, n_rows): categories, the rarest merged; -1 where a value is missing here and
    # there
    codes: NDArray[np.int16]
    # (n_features,): how many categories each feature has. Category 0, the most frequent, has no
    # column
    cards: Integers

    @classmethod
    def of(cls, cohorts: Cohorts) -> OneHotColumns:
        """Number categories by how frequent they are, over all subgroups."""
        weights = cohorts.counts
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        codes = np.empty(cohorts.codes.shape, dtype=np.int16)
        cards = np.empty(len(cohorts.features), dtype=np.int64)
        for f, values in enumerate(cohorts.codes):
            there = (values >= 0) & ~cohorts.missing[cohort_of, f]
            n_labels = max(len(cohorts.categories[f]), 1)
            counts = np.bincount(values[there], weights[there], minlength=n_labels)
            order = np.argsort(-counts, kind="stable")
            number = np.empty(n_labels, dtype=np.int16)
            number[order] = np.minimum(np.arange(n_labels), MOST_COLUMNS)
            codes[f] = np.where(there, number[np.where(there, values, 0)], -1)
            cards[f] = max(min(int((counts > 0).sum()), MOST_COLUMNS + 1), 1)
        return cls(codes, cards)

    def cells(self, features: Sequence[int], rows: slice | NDArray[np.integer]) -> Integers:
        """The cell of every row in the table of some features; -1 where a value is missing."""
        cell = np.zeros(self.codes[0, rows].shape, dtype=np.int64)
        gap = np.zeros(cell.shape, dtype=bool)
        for f in features:
            values = self.codes[f, rows]
            cell = cell * self.cards[f] + values
            gap |= values < 0
        return np.where(gap, -1, cell)


def recorded_all(recorded: Flags, features: Sequence[int] | NDArray[np.integer]) -> Flags:
    """Where all of some features were recorded, or of every line of several sets."""
    found: Flags = np.asarray(recorded[:, features].all(axis=-1))
    return found


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Coded rows of all subgroups as moments and interactions read them."""

    columns: OneHotColumns  # the codes
    target: Integers  # (n_rows,): classes
    weights: Floats  # (n_rows,): what each row counts; together the effective rows
    offsets: Integers  # (n_cohorts + 1,): subgroup k owns the rows ``offsets[k]:offsets[k + 1]``
    missing: Flags  # (n_cohorts, n_features): which features each subgroup never recorded
    by_class: Floats  # (n_cohorts, n_classes): rows of every class

    @classmethod
    def of(cls, cohorts: Cohorts) -> CodedTable:
        """Of the rows of cohorts."""
        n_classes = len(cohorts.classes)
        target = cohorts.target_codes.astype(np.int64)
        weights = cohorts.counts.astype(np.float64)
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        by_class = np.bincount(
            cohort_of * n_classes + target, weights, minlength=len(cohorts) * n_classes
        )
        return cls(
            OneHotColumns.of(cohorts),
            target,
            weights,
            cohorts.offsets.astype(np.int64),
            cohorts.missing,
            by_class.reshape(-1, n_classes).astype(np.float64, copy=False),
        )

    @property
    def cards(self) -> Integers:
        """How many categories each feature has."""
        return self.columns.cards

    @property
    def usual(self) -> Integers:
        """The category of each feature that has no column: the first, which is most frequent."""
        return np.zeros(len(self.cards), dtype=np.int64)

    @property
    def shows_interactions(self) -> Flags:
        """Which subgroups' counts are exact: all of them."""
        return np.ones(len(self.n_rows), dtype=bool)

    @property
    def largest_set(self) -> int:
        """Features of the largest sets that can be counted: all of them."""
        return len(self.cards)

    @property
    def work(self) -> int:
        """What it takes to count one set: a look at every row."""
        return len(self.target)

    @cached_property
    def cohort_of(self) -> Integers:
        """The subgroup of every row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def counts(self, features: Sequence[int], cohorts: NDArray[np.integer]) -> Floats:
        """Rows of some subgroups by cell and class, of shape (n_cohorts, n_cells, n_classes)."""
        members = np.array(features, dtype=np.int64)
        found = np.zeros((len(cohorts), int(self.cards[members].prod()), self.by_class.shape[1]))
        count_cells(
            self.columns.codes,
            self.cards,
            members,
            self.target,
            self.weights,
            self.offsets,
            np.asarray(cohorts, dtype=np.int64),
            found,
        )
        return found

    @property
    def n_rows(self) -> Floats:
        """Rows of every subgroup, by their weights."""
        rows: Floats = self.by_class.sum(axis=1)
        return rows

    def shares(self) -> Floats:
        """The share of every class in every subgroup."""
        found: Floats = self.by_class / np.maximum(self.n_rows, 1e-300)[:, None]
        return found

    @cached_property
    def classes_shown(self) -> Integers:
        """The classes that have a column: all but the most frequent, and those without rows."""
        return classes_with_columns(self.by_class)

    def moments(self, terms: Sequence[Term] = ()) -> Moments:
        """Covariances of the columns of features, terms and classes in every subgroup."""
        blocks, width = columns_of_cards(self.cards, terms)
        n_targets = len(self.classes_shown)
        own = np.stack(
            [
                self._covariance(k, blocks, terms, width + n_targets)
                for k in range(len(self.offsets) - 1)
            ]
        )
        target = np.arange(width, width + n_targets)
        with_optimism_removed(own, self.missing, terms, blocks[len(self.cards) :], target)
        return Moments(own, self.n_rows, ~self.missing, tuple(blocks), n_targets, tuple(terms))

    def _covariance(
        self, cohort: int, blocks: Sequence[Integers], terms: Sequence[Term], width: int
    ) -> Floats:
        """The covariance of one subgroup; of pairs of columns that rows have both of."""
        products = np.zeros((width, width))
        total, sums, both = np.zeros(width), np.zeros((width, width)), np.zeros((width, width))
        start, end = self.offsets[cohort : cohort + 2]
        gaps = False
        for first in range(start, end, ROWS_AT_ONCE):
            rows = slice(first, min(first + ROWS_AT_ONCE, end))
            values, there = self._values(cohort, rows, blocks, terms, width)
            weighed = values * self.weights[rows, None]
            products += weighed.T @ values
            if there is None:
                total += weighed.sum(axis=0)
                continue
            gaps = True
            sums += weighed.T @ there
            both += (there * self.weights[rows, None]).T @ there
        if not gaps:
            n_rows = max(float(self.by_class[cohort].sum()), 1e-300)
            mean = total / n_rows
            return products / n_rows - np.outer(mean, mean)
        both = np.maximum(both, 1e-300)
        return np.asarray(products / both - (sums / both) * (sums / both).T)

    def _values(
        self,
        cohort: int,
        rows: slice,
        blocks: Sequence[Integers],
        terms: Sequence[Term],
        width: int,
    ) -> tuple[Floats, Floats | None]:
        """The columns of some rows, and where a row has a value; None: everywhere."""
        n_rows = rows.stop - rows.start
        values = np.zeros((n_rows, width))
        there = np.ones((n_rows, width))
        line = np.arange(n_rows)
        gaps = False
        for f, columns in enumerate(blocks[: len(self.cards)]):
            if self.missing[cohort, f] or not len(columns):
                continue
            codes = self.columns.codes[f, rows]
            shown = codes > 0
            values[line[shown], columns[0] + codes[shown] - 1] = 1.0
            if (codes < 0).any():
                gaps = True
                there[np.ix_(codes < 0, columns)] = 0.0
        for term, columns in zip(terms, blocks[len(self.cards) :], strict=True):
            if self.missing[cohort, term.features].any():
                continue
            cells = self.columns.cells(term.features, rows)
            values[:, columns] = term.effects[cells] * (cells >= 0)[:, None]
            if (cells < 0).any():
                gaps = True
                there[np.ix_(cells < 0, columns)] = 0.0
        n_targets = len(self.classes_shown)
        values[:, width - n_targets :] = self.target[rows, None] == self.classes_shown
        return values, there if gaps else None
