"""What the transfer counts: coded rows with rare categories merged, or count tables instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.lattice import rank
from misfeat.reading.values import MISSING_LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.transfer.kernels.tables import Layout, Rows
    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]

LARGEST_TABLE = 2**16
"""Cells of the largest table of three features with the target."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Coded, weighted rows of all cohorts, as the transfer counts them.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_rows)
        Categories; a value that is not there is a category of its own.
    target, weights : ndarray of shape (n_rows,)
        The class of a row, and how many rows of the table it stands for, by their weights.
    offsets : ndarray of shape (n_cohorts + 1,)
        Cohort i owns the rows ``offsets[i]:offsets[i + 1]``.
    cards : ndarray of shape (n_features,)
        How many categories each feature has.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    n_classes : int
        How many classes the target has.
    merged : ndarray of bool of shape (n_features,)
        Of which features the rarest categories became one, so that tables of three stay small.
    as_scored : bool
        Whether these are the categories that exact scores were computed with.
    categories : tuple of tuple of str
        What the categories of each feature mean.
    """

    codes: NDArray[np.int64]
    target: NDArray[np.int64]
    weights: NDArray[np.float64]
    offsets: NDArray[np.int64]
    cards: NDArray[np.int64]
    missing: NDArray[np.bool_]
    n_classes: int
    merged: NDArray[np.bool_]
    as_scored: bool
    categories: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, cohorts: Cohorts, most: int | None = None) -> CodedRows:
        """The rows of cohorts."""
        most = most or most_categories(len(cohorts.classes))
        merged = np.zeros(len(cohorts.features), dtype=bool)
        codes = cohorts.codes.astype(np.int64)
        categories = list(cohorts.categories)
        cards = np.array([len(labels) for labels in categories], dtype=np.int64)
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        as_scored, counted = True, cohorts.counts
        for feature, values in enumerate(codes):
            recorded = ~cohorts.missing[cohort_of, feature]
            gaps = recorded & (values < 0)
            if gaps.any():
                values[gaps] = cards[feature]
                cards[feature] += 1
                categories[feature] += (MISSING_LABEL,)
                as_scored = False
            if cards[feature] > most:
                counts = np.bincount(values[recorded], counted[recorded], minlength=cards[feature])
                new_codes = _merged(counts, most)
                values[recorded] = new_codes[values[recorded]]
                cards[feature] = most
                categories[feature] = _labels(categories[feature], new_codes)
                merged[feature] = True
                as_scored = False
            values[~recorded] = 0  # never read
        return cls(
            codes=codes,
            target=cohorts.target_codes.astype(np.int64),
            weights=counted,
            offsets=cohorts.offsets.astype(np.int64),
            cards=np.maximum(cards, 1),
            missing=cohorts.missing,
            n_classes=len(cohorts.classes),
            merged=merged,
            as_scored=as_scored,
            categories=tuple(categories),
        )

    @property
    def by_class(self) -> NDArray[np.float64]:
        """Rows of every cohort by class, of shape (n_cohorts, n_classes)."""
        counts = np.zeros((len(self.offsets) - 1, self.n_classes))
        cohort_of = np.repeat(np.arange(len(counts)), np.diff(self.offsets))
        np.add.at(counts, (cohort_of, self.target), self.weights)
        return counts

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """The same as the kernels take them; of what is `missing` nothing is read."""
        from misfeat.completion.transfer.kernels.tables import Rows

        by_class = self.by_class
        return Rows(
            codes=self.codes.astype(np.uint16),
            target=self.target,
            weights=self.weights,
            offsets=self.offsets,
            missing=np.ascontiguousarray(missing),
            cards=self.cards,
            by_class=by_class,
            sizes=by_class.sum(axis=1),
        )

    def count(
        self, rows: Rows, layout: Layout, first: int, last: int, counts: NDArray[np.float64]
    ) -> None:
        """Add the tables of sets first to last - 1 to `counts`, where cohorts recorded them.

        `counts` is of shape (n_cohorts, n_lines, n_classes).
        """
        from misfeat.completion.transfer.kernels.tables import count_level

        count_level(rows, layout, first, last, counts)


def most_categories(n_classes: int) -> int:
    """How many categories a feature keeps.

    Examples
    --------
    >>> most_categories(2), most_categories(6)
    (32, 22)
    """
    return int(np.cbrt(LARGEST_TABLE / max(1, n_classes)) + 1e-9)


def _merged(counts: NDArray[Any], most: int) -> NDArray[np.int64]:
    """New codes: the most frequent categories keep one each, all others share the last.

    Examples
    --------
    >>> _merged(np.array([5.0, 1.0, 9.0, 2.0]), 3).tolist()
    [1, 2, 0, 2]
    """
    order = np.argsort(-counts, kind="stable")
    codes = np.empty(len(counts), dtype=np.int64)
    codes[order] = np.minimum(np.arange(len(counts)), most - 1)
    return codes


def _labels(labels: tuple[str, ...], codes: NDArray[np.int64]) -> tuple[str, ...]:
    """What new codes mean, of which the last is that of all other categories.

    Examples
    --------
    >>> _labels(("a", "b", "c", "d"), np.array([1, 2, 0, 2]))
    ('c', 'a', 'any other')
    """
    kept = np.argsort(codes, kind="stable")[: codes.max()]
    return (*(labels[old] for old in kept), "any other")


class CountedTables:
    """The tables of all cohorts, in place of `CodedRows`; sets hold at most three features."""

    as_scored = True

    def __init__(self, tables: CountTables) -> None:
        self._tables = tables
        self.cards = tables.cards
        self.missing = tables.missing
        # Tables of all sizes weigh the same, as many rows as are as noisy as the largest ones.
        self._share = np.ones(len(tables.by_class)) if tables.noise is None else 1 / tables.noise
        self.by_class = tables.by_class * self._share[:, None]
        self.n_classes = tables.by_class.shape[1]
        self.categories = tables.categories
        self.merged = np.zeros(len(tables.features), dtype=bool)

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """Sizes and classes of all cohorts, and no rows; `missing` is treated as never recorded."""
        from misfeat.completion.transfer.kernels.tables import Rows

        return Rows(
            codes=np.zeros((len(self.cards), 0), dtype=np.uint16),
            target=np.zeros(0, dtype=np.int64),
            weights=np.zeros(0),
            offsets=np.zeros(len(missing) + 1, dtype=np.int64),
            missing=np.ascontiguousarray(missing),
            cards=self.cards,
            by_class=self.by_class,
            sizes=self.by_class.sum(axis=1),
        )

    def count(self, rows: Rows, layout: Layout, first: int, last: int, counts: Floats) -> None:
        """Write the tables of sets first to last - 1 into `counts`, where cohorts recorded them."""
        size = layout.subsets.shape[1]
        held, starts = self._tables.of_size(size), self._tables.starts(size)
        places = rank(layout.subsets[first:last])
        for s, place in zip(range(first, last), places.tolist(), strict=True):
            begin, end = starts[place], starts[place + 1]
            at = layout.starts[s]
            recorded = ~rows.missing[:, layout.subsets[s]].any(axis=1)
            share = self._share[recorded, None, None]
            counts[recorded, at : at + end - begin] = held[recorded, begin:end] * share
