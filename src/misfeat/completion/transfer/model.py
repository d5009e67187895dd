"""The transfer between cohorts: donors' tables in, completed scores out, size by size.

The steps and their formulas:

A. `smoothing.py`: every donor's tables of one, two and three features with the target, shrunk
   towards what the smaller tables lead one to expect.
B. 1. `smoothing.py`: how an unrecorded feature is distributed in each class, p̂(q|y).
   2. `fitting.py`: tables of pairs with an unrecorded member, the donors' mean conditional
      distribution, raked to the cohort's own margins.
   3. `fitting.py`: tables of larger sets, started from the donors' mean where some recorded all of
      the set, fitted to the tables of its parts and to the cohort's own rows.
C. `expectation.py`: the plug-in score that the cohort's number of rows would give on average, its
   sampling variance, and where asked for, how far it is above chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import recorded_part_scores
from misfeat.completion.transfer import smoothing
from misfeat.completion.transfer.expectation import Completed, note_score, poisson_table
from misfeat.completion.transfer.smoothing import Smoothed
from misfeat.completion.transfer.table_completion import (
    Margins,
    SetEvidence,
    complete_pairs,
    complete_sets,
)
from misfeat.completion.transfer.tables import Layout, Rows, count_level
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level, rank
from misfeat.reading.values import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.completed_scores import ExactScores, Known
    from misfeat.information.count_tables import CountTables
    from misfeat.runtime.threads import Work

    Floats = NDArray[np.float64]


LARGEST_STRETCH = 2**22
"""Entries of the tables, of all cohorts, that a thread holds at a time: 32 MiB."""


class TransferModel:
    """Scores of feature sets that a cohort recorded in part, from the cohorts that did.

    `missing`, of shape (n_cohorts, n_features), is what to treat as never recorded: at least what
    was not. Margins may be taken through `proxies`. Donors' tables of subsets of up to `table_size`
    (2 or 3) are used; larger sets are fitted to these.
    """

    def __init__(
        self,
        records: TransferRows | TransferTables,
        missing: NDArray[np.bool_],
        work: Work,
        *,
        proxies: bool = True,
        table_size: int = 3,
        above_chance: bool = False,
    ) -> None:
        self._rows = records.rows(missing)
        self._count = partial(records.count, self._rows)
        self._work = work
        self._table_size = table_size
        self._above_chance = above_chance
        self._single_counts, self._singles = self._counted(1)
        smoothing.smooth_singles(self._rows, self._single_counts, self._singles)
        pair_counts, self._pairs = self._counted(2)

        def smooth(first: int, last: int) -> None:
            smoothing.smooth_pairs(self._rows, pair_counts, self._singles, first, last, self._pairs)

        self._in_stretches(smooth, len(self._pairs.subsets))
        self._margins = self._predicted_margins(proxies)
        self._completed: dict[int, Completed] = {}
        self._predicted: dict[int, Completed] = {}
        self._complete_singles()
        self._complete_pairs(pair_counts)

    def predict(self, size: int) -> Completed:
        """Predictions for every subset of one size in every cohort that recorded it in part.

        No more tables are held than those of the sets that a thread works on.
        """
        if size in self._predicted:
            return self._predicted[size]
        if size in self._completed and self._completed[size].score.shape[1]:
            return self._completed[size]
        subsets = _layout(self._rows.cards, size).subsets
        evidence, parts = self._evidence(size), {}

        def predict(first: int, last: int) -> None:
            completed = self._complete(subsets[first:last], evidence, scores=True)
            parts[first] = completed._replace(tables=completed.tables[:, :0].copy())

        most_cells = int(self._rows.cards[subsets].prod(axis=1).max(initial=1))
        longest = max(1, LARGEST_STRETCH // (most_cells * self._rows.by_class.size))
        self._in_stretches(predict, len(subsets), longest)
        in_order = [parts[first] for first in sorted(parts)]
        self._predicted[size] = in_order[0]._replace(
            **{
                name: np.concatenate([getattr(part, name) for part in in_order], axis=1)
                for name in ("score", "variance", "above")
            }
        )
        return self._predicted[size]

    def keep_triples(self) -> None:
        """Complete all triples and keep their tables, which larger subsets are fitted to."""
        if 3 in self._completed:
            return
        layout, evidence = _layout(self._rows.cards, 3), self._evidence(3)
        completed = self._to_complete(layout, scores=not self._above_chance)

        def complete(first: int, last: int) -> None:
            self._count(layout, first, last, completed.tables)
            complete_sets(layout.subsets, evidence, first, last, completed)

        self._in_stretches(complete, len(layout.subsets))
        self._completed[3] = completed

    def table_of(self, subset: NDArray[np.integer]) -> Floats:
        """The table of one subset in all cohorts, of shape (n_cohorts, n_cells, n_classes).

        Counts where a cohort recorded the subset, expected counts where it did not; the categories
        of the last feature change fastest.
        """
        size, index = len(subset), int(rank(subset[None])[0])
        if size not in self._completed:
            subsets = subset[None].astype(np.int64)
            return self._complete(subsets, self._evidence(size)).tables
        kept, n_cells = self._completed[size], int(self._rows.cards[subset].prod())
        start = kept.starts[index]
        return kept.tables[:, start : start + n_cells].copy()

    def _complete(
        self, subsets: NDArray[np.int64], evidence: SetEvidence, *, scores: bool = False
    ) -> Completed:
        """Complete subsets of three or more.

        Scores that are not above chance are worked out where asked for, or where no others are.
        """
        layout = _layout_of(subsets, self._rows.cards)
        completed = self._to_complete(layout, scores=scores or not self._above_chance)
        self._count(layout, 0, len(subsets), completed.tables)
        complete_sets(subsets, evidence, 0, len(subsets), completed)
        return completed

    def _counted(self, size: int) -> tuple[Floats, Smoothed]:
        """Tables of all sets of a size, zeros where unrecorded, and room for smoothed ones."""
        layout = _layout(self._rows.cards, size)
        n_cohorts, n_classes = self._rows.by_class.shape
        counts = np.zeros((n_cohorts, layout.n_cells, n_classes))
        self._in_stretches(partial(self._count, layout, counts=counts), len(layout.subsets))
        none = np.zeros(len(layout.subsets))
        rows = counts.sum(axis=2) if size == 1 else np.zeros(counts.shape[:2])
        smoothed = Smoothed(
            layout.subsets,
            layout.starts,
            np.zeros_like(counts),
            rows,
            none,
            np.full_like(none, size == 1),
        )
        return counts, smoothed

    def _predicted_margins(self, proxies: bool) -> Margins:
        rows = self._rows
        n_cohorts, n_features = rows.missing.shape
        strengths = np.full((n_features, n_features), -1.0)
        found = np.zeros((n_cohorts, n_features, int(rows.cards.max()), rows.by_class.shape[1]))

        def strengths_of(first: int, last: int) -> None:
            for q in range(first, last):
                smoothing.proxy_strengths(rows, self._pairs, q, strengths[q])

        def margins_of(first: int, last: int) -> None:
            for i in range(first, last):
                smoothing.margins_of(
                    i, rows, self._single_counts, self._singles, self._pairs, strengths, found[i]
                )

        if proxies:
            self._in_stretches(strengths_of, n_features)
        self._in_stretches(margins_of, n_cohorts)
        return Margins(self._single_counts, self._singles.starts, found)

    def _complete_singles(self) -> None:
        rows = self._rows
        completed = self._to_complete(_layout(rows.cards, 1), self._single_counts.copy())
        for i, f in zip(*np.nonzero(rows.missing), strict=True):
            start, n_cells = completed.starts[f], rows.cards[f]
            shares = self._margins.predicted[i, f, :n_cells]
            own = rows.by_class[i : i + 1]
            note_score(i, f, shares[None], own, poisson_table(), completed)
            completed.tables[i, start : start + n_cells] = shares * own
        self._completed[1] = completed

    def _complete_pairs(self, counts: Floats) -> None:
        completed = self._to_complete(_layout(self._rows.cards, 2), counts)

        def complete(first: int, last: int) -> None:
            complete_pairs(
                self._rows, self._pairs, self._margins, poisson_table(), first, last, completed
            )

        self._in_stretches(complete, len(self._pairs.subsets))
        self._completed[2] = completed

    def _evidence(self, size: int) -> SetEvidence:
        """What subsets of three or more are completed from."""
        part_size = 2 if size == 3 or self._table_size == 2 else 3
        if part_size == 3:
            self.keep_triples()
        none = self._to_complete(_layout_of(np.empty((0, 3), np.int64), self._rows.cards))
        return SetEvidence(
            rows=self._rows,
            pairs=self._pairs,
            joint=size == 3 and self._table_size == 3,
            margins=self._margins.predicted,
            kept=(self._completed[1], self._completed[2], self._completed.get(3, none)),
            members=np.array(list(combinations(range(size), part_size))),
            poisson=poisson_table(),
        )

    def _to_complete(
        self, layout: Layout, counts: Floats | None = None, *, scores: bool = True
    ) -> Completed:
        """Room for what is found out about subsets, with the counts of those that are recorded."""
        n_cohorts, n_classes = self._rows.by_class.shape
        shape = n_cohorts, len(layout.subsets)
        if counts is None:
            counts = np.zeros((n_cohorts, layout.n_cells, n_classes))
        return Completed(
            score=np.full(shape if scores else (n_cohorts, 0), np.nan),
            variance=np.full(shape if scores else (n_cohorts, 0), np.nan),
            above=np.full(shape if self._above_chance else (n_cohorts, 0), np.nan),
            starts=layout.starts,
            tables=counts,
            informed=np.zeros(shape, dtype=bool),
        )

    def _in_stretches(
        self, work_on: Callable[[int, int], None], count: int, longest: int = 2**62
    ) -> None:
        """Do independent work on threads; each result is written by one of them."""
        stretches = self._work.stretches(count, a_thread=8, longest=longest)
        self._work.run([partial(work_on, first, last) for first, last in stretches])


def _layout(cards: NDArray[np.int64], size: int) -> Layout:
    """Tables of all subsets of one size, of features with so many categories."""
    return _layout_of(level(len(cards), size).astype(np.int64), cards)


def _layout_of(subsets: NDArray[np.int64], cards: NDArray[np.int64]) -> Layout:
    """Tables of listed subsets."""
    ends = np.cumsum(cards[subsets].prod(axis=1))
    starts = np.concatenate([[0], ends])[:-1]
    return Layout(subsets, starts, int(ends[-1]) if len(ends) else 0)


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
                # The most frequent categories keep a code each, all others share the last.
                rows = np.bincount(own, weights, minlength=cards[feature])
                order = np.argsort(-rows, kind="stable")
                new_codes = np.empty(len(order), dtype=np.int64)
                new_codes[order] = np.minimum(np.arange(len(order)), most - 1)
                values[recorded] = new_codes[own]
                cards[feature] = most
                kept = (categories[feature][old] for old in order[: most - 1])
                categories[feature] = (*kept, "any other")
                merged[feature] = True
                as_scored = False
            values[~recorded] = 0  # never read
        cards = np.maximum(cards, 1)
        return cls(cohorts, codes, cards, tuple(categories), merged, as_scored)

    def rows(self, missing: NDArray[np.bool_]) -> Rows:
        """The same as the kernels take them; of what is `missing` nothing is read."""
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
        count_level(rows, layout, first, last, counts)

    def lost_by_merging(self, exact: ExactScores, size: int) -> Floats:
        """By how much the score of each recorded part is larger with the categories as they are."""
        if len(self._coarse.get(exact.above_chance, ())) <= size:
            # The rows as the transfer sees them: categories merged, gaps a category.
            codes = self.codes.astype(np.int32)
            categories = tuple(tuple(map(str, range(card))) for card in self.cards)
            rows = replace(self.cohorts, codes=codes, categories=categories)
            measure = MutualInformation(rows, above_chance=exact.above_chance)
            scores = [measure.of_levels(i, 0, size, None) for i in range(len(rows))]
            self._coarse[exact.above_chance] = [np.array(own) for own in zip(*scores, strict=True)]
        coarse = self._coarse[exact.above_chance]
        subsets = level(exact.missing.shape[1], size)
        lost = [
            recorded_part_scores(exact.by_size, cohort, subsets, missing)
            - recorded_part_scores(coarse, cohort, subsets, missing)
            for cohort, missing in enumerate(exact.missing)
        ]
        return np.nan_to_num(lost)


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
    """How many categories a feature keeps, so that tables of three stay small."""
    return int(np.cbrt(LARGEST_TABLE / max(1, n_classes)) + 1e-9)
