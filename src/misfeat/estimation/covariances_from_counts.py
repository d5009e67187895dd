"""Moments from count tables of up to three features, where there are no rows.

Tables of pairs hold the covariances of their columns; those of triples hold what an interaction of
two features has in common with a third. Interactions of more than three features together are in no
set that tables are held of. See docs/explanation/population.md, step 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from misfeat.estimation.covariances import (
    Moments,
    classes_with_columns,
    columns_of_cards,
    one_hot,
    with_optimism_removed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.estimation.covariances import Term
    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]


NEARLY_EXACT = 0.8
"""Rounded counts that are worth such a share of their rows may show interactions."""


@dataclass(frozen=True, eq=False)
class CountedTable:
    """Count tables of all subgroups, as moments and interactions read them."""

    tables: CountTables  # the counts

    @property
    def missing(self) -> Flags:
        """Which features each subgroup never recorded."""
        return self.tables.missing

    @property
    def cards(self) -> Integers:
        """How many categories each feature has."""
        return self.tables.cards

    @cached_property
    def usual(self) -> Integers:
        """The most frequent category of each feature, which has no column."""
        starts = self.tables.starts(1)
        counts = self.tables.singles.sum(axis=(0, 2))
        return np.array([np.argmax(counts[i:j]) for i, j in pairwise(starts)], dtype=np.int64)

    @property
    def by_class(self) -> Floats:
        """Rows of every class, of shape (n_cohorts, n_classes)."""
        return self.tables.by_class

    @property
    def shows_interactions(self) -> Flags:
        """Which subgroups' counts are exact, or rounded so little that it cost few rows."""
        found: Flags = self.n_rows >= NEARLY_EXACT * self.by_class.sum(axis=1)
        return found

    @property
    def largest_set(self) -> int:
        """Features of the largest sets that tables are held of."""
        return self.tables.largest

    @property
    def work(self) -> int:
        """What it takes to count one set: next to nothing."""
        return 1

    @cached_property
    def n_rows(self) -> Floats:
        """Rows, counted exactly, that would inform as much."""
        return self.tables.rows_worth(min(2, max(self.tables.largest, 1)))

    def shares(self) -> Floats:
        """The share of every class in every subgroup."""
        counts = np.maximum(self.by_class, 0.0)
        found: Floats = counts / np.maximum(counts.sum(axis=1), 1e-300)[:, None]
        return found

    @cached_property
    def classes_shown(self) -> Integers:
        """The classes that have a column: all but the most frequent, and those without rows."""
        return classes_with_columns(self.by_class)

    def counts(self, features: Sequence[int], cohorts: NDArray[np.integer]) -> Floats:
        """Rows of some subgroups by cell and class, of shape (n_cohorts, n_cells, n_classes)."""
        return np.stack([self.tables.of(int(k), features) for k in cohorts])

    def moments(self, terms: Sequence[Term] = ()) -> Moments:
        """Covariances of the columns of features, terms and classes in every subgroup."""
        blocks, width = columns_of_cards(self.cards, terms)
        n_targets = len(self.classes_shown)
        members = [(f,) for f in range(len(self.cards))] + [term.features for term in terms]
        values = [
            *(one_hot(card, usual) for card, usual in zip(self.cards, self.usual, strict=True)),
            *(term.effects for term in terms),
        ]
        own = np.zeros((len(self.missing), width + n_targets, width + n_targets))
        target = np.arange(width, width + n_targets)
        shares = self.shares()[:, self.classes_shown]
        for k in range(len(own)):
            own[k, width:, width:] = np.diag(shares[k]) - np.outer(shares[k], shares[k])
        for i, first in enumerate(members):
            self._with_target(own, first, values[i], blocks[i], target)
            for j in range(i + 1):
                self._of_two(
                    own, (first, members[j]), (values[i], values[j]), (blocks[i], blocks[j])
                )
        if self.tables.noise is not None:
            for place in np.flatnonzero(self.tables.noise > 1.0):
                own[place] = nearest_covariance(own[place])
        with_optimism_removed(own, self.missing, terms, blocks[len(self.cards) :], target)
        return Moments(own, self.n_rows, ~self.missing, tuple(blocks), n_targets, tuple(terms))

    def _with_target(
        self,
        own: Floats,
        features: tuple[int, ...],
        values: Floats,
        block: Integers,
        target: Integers,
    ) -> None:
        for k in np.flatnonzero(~self.missing[:, features].any(axis=1)):
            counts = self.tables.of(int(k), features)
            whole = max(float(counts.sum()), 1e-300)
            classes = counts[:, self.classes_shown]
            found = values.T @ classes / whole
            found -= np.outer(values.T @ counts.sum(axis=1) / whole, classes.sum(axis=0) / whole)
            own[np.ix_([k], block, target)] = found
            own[np.ix_([k], target, block)] = found.T

    def _of_two(
        self,
        own: Floats,
        features: tuple[tuple[int, ...], tuple[int, ...]],
        values: tuple[Floats, Floats],
        blocks: tuple[Integers, Integers],
    ) -> None:
        """The covariance of two blocks of columns, where tables hold all their features."""
        union = tuple(sorted({*features[0], *features[1]}))
        if len(union) > self.largest_set:
            return
        codes = np.indices(self.cards[list(union)].tolist()).reshape(len(union), -1)
        shown = []
        for members, effects in zip(features, values, strict=True):
            cell = np.zeros(codes.shape[1], dtype=np.int64)
            for f in members:
                cell = cell * self.cards[f] + codes[union.index(f)]
            shown.append(effects[cell])
        for k in np.flatnonzero(~self.missing[:, union].any(axis=1)):
            counts = self.tables.of(int(k), union).sum(axis=1)
            counts = counts / max(float(counts.sum()), 1e-300)
            first, second = shown
            found = first.T @ (second * counts[:, None])
            found -= np.outer(counts @ first, counts @ second)
            own[np.ix_([k], blocks[0], blocks[1])] = found
            own[np.ix_([k], blocks[1], blocks[0])] = found.T


def nearest_covariance(matrix: Floats) -> Floats:
    """A covariance with the same variances, near a matrix that may be none.

    Tables of pairs that were rounded one by one do not fit together: no rows have all of them.
    Negative eigenvalues of the correlations are set to 0.

    Examples
    --------
    >>> odd = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    >>> nearest_covariance(odd).round(2)
    array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]])
    """
    varies = np.flatnonzero(np.diag(matrix) > 0)
    block = np.ix_(varies, varies)
    deviation = np.sqrt(np.diag(matrix)[varies])
    values, vectors = np.linalg.eigh(matrix[block] / np.outer(deviation, deviation))
    near = (vectors * np.maximum(values, 0.0)) @ vectors.T
    scale = deviation / np.sqrt(np.maximum(np.diag(near), 1e-300))
    found = np.zeros_like(matrix)
    found[block] = near * np.outer(scale, scale)
    return found
