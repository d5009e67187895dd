"""What the transfer counts: coded rows with rare categories merged, or count tables instead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.base import recorded_part_scores
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, rank
from misfeat.reading.values import MISSING_LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.transfer.tables import Layout, Rows
    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]

LARGEST_TABLE = 2**16  # cells of the largest table of three features with the target


def rows_or_tables(known: Known) -> TransferRows | TransferTables:
    """The rows of what is known, or what was counted of them where there are none."""
    if known.tables is not None:
        return TransferTables(known.tables)
    return TransferRows.of(known.rows_for("transfer"))


@dataclass(frozen=True, eq=False)
class TransferRows:
    """Coded, weighted rows of all cohorts; a value that is not there is a category of its own."""

    cohorts: Cohorts = field(repr=False)
    codes: NDArray[np.int64]  # (n_features, n_rows)
    cards: NDArray[np.int64]  # (n_features,): how many categories each feature has
    categories: tuple[tuple[str, ...], ...]  # what they mean
    merged: NDArray[np.bool_]  # (n_features,): whether the rarest became one, see `most_categories`
    as_scored: bool  # whether exact scores were computed with these categories
    _coarse: dict[bool, list[Floats]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, cohorts: Cohorts, most: int | None = None) -> TransferRows:
        """The rows of cohorts."""
        most = most or most_categories(len(cohorts.classes))
        merged = np.zeros(len(cohorts.features), dtype=bool)
        codes = cohorts.codes.astype(np.int64)
        categories = list(cohorts.categories)
        cards = np.array([len(labels) for labels in categories], dtype=np.int64)
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        as_scored = True
        for feature, values in enumerate(codes):
            recorded = ~cohorts.missing[cohort_of, feature]
            gaps = recorded & (values < 0)
            if gaps.any():
                values[gaps] = cards[feature]
                cards[feature] += 1
                categories[feature] += (MISSING_LABEL,)
                as_scored = False
            if cards[feature] > most:
                own, weights = values[recorded], cohorts.counts[recorded]
                new_codes = _merged(np.bincount(own, weights, minlength=cards[feature]), most)
                values[recorded] = new_codes[own]
                cards[feature] = most
                categories[feature] = _labels(categories[feature], new_codes)
                merged[feature] = True
                as_scored = False
            values[~recorded] = 0  # never read
        cards = np.maximum(cards, 1)
        return cls(cohorts, codes, cards, tuple(categories), merged, as_scored)

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """The same as the kernels take them; of what is `missing` nothing is read."""
        from misfeat.completion.transfer.tables import Rows

        cohorts = self.cohorts
        target, weights = cohorts.target_codes.astype(np.int64), cohorts.counts
        by_class = np.zeros((len(cohorts), len(cohorts.classes)))
        cohort_of = np.repeat(np.arange(len(cohorts)), np.diff(cohorts.offsets))
        np.add.at(by_class, (cohort_of, target), weights)
        return Rows(
            codes=self.codes.astype(np.uint16),
            target=target,
            weights=weights,
            offsets=cohorts.offsets.astype(np.int64),
            missing=np.ascontiguousarray(missing),
            cards=self.cards,
            by_class=by_class,
            sizes=by_class.sum(axis=1),
        )

    def count(self, rows: Rows, layout: Layout, first: int, last: int, counts: Floats) -> None:
        """Add the tables of sets first to last - 1 to `counts`, where cohorts recorded them."""
        from misfeat.completion.transfer.tables import count_level

        count_level(rows, layout, first, last, counts)

    def lost_by_merging(self, exact: ExactScores, size: int) -> Floats:
        """By how much the score of each recorded part is larger with the categories as they are."""
        coarse = self._coarse_up_to(size, exact.above_chance)
        subsets = level(exact.missing.shape[1], size)
        lost = [
            recorded_part_scores(exact.by_size, cohort, subsets, missing)
            - recorded_part_scores(coarse, cohort, subsets, missing)
            for cohort, missing in enumerate(exact.missing)
        ]
        return np.nan_to_num(lost)

    def _coarse_up_to(self, size: int, above_chance: bool) -> list[Floats]:
        """Scores of the rows as the transfer sees them: categories merged, gaps a category."""
        if len(self._coarse.get(above_chance, ())) <= size:
            codes = self.codes.astype(np.int32)
            categories = tuple(tuple(map(str, range(card))) for card in self.cards)
            rows = replace(self.cohorts, codes=codes, categories=categories)
            measure = MutualInformation(rows, above_chance=above_chance)
            scores = [measure.of_levels(i, 0, size, None) for i in range(len(rows))]
            self._coarse[above_chance] = [np.array(own) for own in zip(*scores, strict=True)]
        return self._coarse[above_chance]


class TransferTables:
    """Count tables of all cohorts in place of `TransferRows`; sets hold at most three features."""

    as_scored = True  # tables are of the categories that scores are of

    def __init__(self, tables: CountTables) -> None:
        self._tables = tables
        self.cards = tables.cards
        # Tables of all sizes weigh the same, as many rows as are as noisy as the largest ones.
        self._share = np.ones(len(tables.by_class)) if tables.noise is None else 1 / tables.noise
        self._by_class = tables.by_class * self._share[:, None]
        self.categories = tables.categories
        self.merged = np.zeros(len(tables.features), dtype=bool)

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """Sizes and classes of all cohorts, and no rows; `missing` is treated as never recorded."""
        from misfeat.completion.transfer.tables import Rows

        return Rows(
            codes=np.zeros((len(self.cards), 0), dtype=np.uint16),
            target=np.zeros(0, dtype=np.int64),
            weights=np.zeros(0),
            offsets=np.zeros(len(missing) + 1, dtype=np.int64),
            missing=np.ascontiguousarray(missing),
            cards=self.cards,
            by_class=self._by_class,
            sizes=self._by_class.sum(axis=1),
        )

    def count(self, rows: Rows, layout: Layout, first: int, last: int, counts: Floats) -> None:
        """Write the tables of sets first to last - 1 into `counts`, where cohorts recorded them."""
        size = layout.subsets.shape[1]
        tables, starts = self._tables.of_size(size), self._tables.starts(size)
        ranks = rank(layout.subsets[first:last])
        for s, index in zip(range(first, last), ranks.tolist(), strict=True):
            begin, end = starts[index], starts[index + 1]
            at = layout.starts[s]
            recorded = ~rows.missing[:, layout.subsets[s]].any(axis=1)
            share = self._share[recorded, None, None]
            counts[recorded, at : at + end - begin] = tables[recorded, begin:end] * share

    def lost_by_merging(self, exact: ExactScores, size: int) -> Floats:
        """Nothing."""
        return np.zeros_like(exact.by_size[size])


def most_categories(n_classes: int) -> int:
    """How many categories a feature keeps, so that tables of three stay small.

    >>> most_categories(2), most_categories(6)
    (32, 22)
    """
    return int(np.cbrt(LARGEST_TABLE / max(1, n_classes)) + 1e-9)


def _merged(counts: NDArray[Any], most: int) -> NDArray[np.int64]:
    """New codes: the most frequent categories keep one each, all others share the last.

    >>> _merged(np.array([5.0, 1.0, 9.0, 2.0]), 3).tolist()
    [1, 2, 0, 2]
    """
    order = np.argsort(-counts, kind="stable")
    codes = np.empty(len(counts), dtype=np.int64)
    codes[order] = np.minimum(np.arange(len(counts)), most - 1)
    return codes


def _labels(labels: tuple[str, ...], codes: NDArray[np.int64]) -> tuple[str, ...]:
    """What new codes mean, of which the last is that of all other categories.

    >>> _labels(("a", "b", "c", "d"), np.array([1, 2, 0, 2]))
    ('c', 'a', 'any other')
    """
    kept = np.argsort(codes, kind="stable")[: codes.max()]
    return (*(labels[old] for old in kept), "any other")
