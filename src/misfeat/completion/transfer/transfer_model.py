"""The transfer between cohorts: donors' tables in, completed scores out, size by size.

Steps A and B1 with their formulas are in `donor_shrinkage.py`; those of B2 (tables of pairs with an
unrecorded member), B3 (of larger sets) and C (scores) are in `set_completion.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from misfeat.cohorts import Cohorts
from misfeat.completion.base import recorded_part_scores
from misfeat.completion.completer_data import ExactScores, Known
from misfeat.completion.transfer import donor_shrinkage, set_completion
from misfeat.completion.transfer.contingency_tables import Layout, Rows, count_level
from misfeat.completion.transfer.set_completion import Completed, SetEvidence, complete_sets
from misfeat.information.count_tables import CountTables, table_starts
from misfeat.information.measures import MutualInformation
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.threads import Work

LARGEST_STRETCH = 2**22  # entries of tables, of all cohorts, that a thread holds at once: 32 MiB
LARGEST_TABLE = 2**16  # cells of the largest table of three features with the target


class TransferModel:
    """Scores of feature sets that a cohort recorded in part; `missing` counts as never recorded."""

    def __init__(
        self,
        records: "TransferRecords",
        missing: Flags,
        work: Work,
        *,
        proxies: bool = True,
        above_chance: bool = False,
    ) -> None:
        self._rows = rows = records.rows._replace(missing=np.ascontiguousarray(missing))
        self._count = partial(records.count, rows)
        self._work, self._above_chance = work, above_chance
        single_counts, singles = self._counted(1)
        donor_shrinkage.smooth_singles(rows, single_counts, singles)
        pair_counts, self._pairs = self._counted(2)
        pairs = self._pairs
        smooth = partial(donor_shrinkage.smooth_pairs, rows, pair_counts, singles, pairs)
        self._in_stretches(smooth, len(pairs.subsets))
        (n_cohorts, n_features), n_classes = missing.shape, rows.by_class.shape[1]
        strengths = np.full((n_features, n_features), -1.0)
        if proxies:
            compare = partial(donor_shrinkage.proxy_strengths, rows, pairs, strengths)
            self._in_stretches(compare, n_features)
        self._margins = np.zeros((n_cohorts, n_features, int(rows.cards.max()), n_classes))
        donated = rows, single_counts, singles, pairs, strengths, self._margins
        self._in_stretches(partial(donor_shrinkage.predict_margins, *donated), n_cohorts)
        self._completed: dict[int, Completed] = {}  # all sets of a size, with their tables
        self._predicted: dict[int, Completed] = {}  # the same without tables
        for size, counts in ((1, single_counts), (2, pair_counts)):
            self._completed[size] = self._complete_level(size, counts)

    def predict(self, size: int) -> Completed:
        """Predictions for every subset of one size in every cohort that recorded it in part."""
        known = self._predicted | self._completed
        if size in known:
            return known[size]
        subsets, evidence, parts = self._layout(size).subsets, self._evidence(size), {}

        def predict(first: int, last: int) -> None:
            completed = self._complete(subsets[first:last], evidence)
            parts[first] = completed._replace(tables=completed.tables[:, :0].copy())

        most_cells = int(self._rows.cards[subsets].prod(axis=1).max(initial=1))
        longest = max(1, LARGEST_STRETCH // (most_cells * self._rows.by_class.size))
        self._in_stretches(predict, len(subsets), longest)
        in_order = [parts[first] for first in sorted(parts)]
        together = {
            name: np.concatenate([getattr(part, name) for part in in_order], axis=1)
            for name in ("score", "variance", "above")
        }
        self._predicted[size] = in_order[0]._replace(**together)
        return self._predicted[size]

    def _layout(self, size: int) -> Layout:
        subsets = level(len(self._rows.cards), size).astype(np.int64)
        return Layout(subsets, table_starts(subsets, self._rows.cards))

    def _counted(self, size: int) -> tuple[Floats, donor_shrinkage.Smoothed]:
        """Tables of all sets of a size, zeros where unrecorded, and room for smoothed ones."""
        layout = self._layout(size)
        n_cohorts, n_classes = self._rows.by_class.shape
        counts = np.zeros((n_cohorts, layout.starts[-1], n_classes))
        self._in_stretches(partial(self._count, layout, counts), len(layout.subsets))
        none = np.zeros(len(layout.subsets))
        rows = counts.sum(axis=2) if size == 1 else np.zeros(counts.shape[:2])
        kept_rows = np.full_like(none, size == 1)
        tables = np.zeros_like(counts)
        return counts, donor_shrinkage.Smoothed(*layout, tables, rows, none, kept_rows)

    def _complete_level(self, size: int, counts: Floats | None = None) -> Completed:
        layout, evidence = self._layout(size), self._evidence(size)
        completed = self._to_complete(layout, counts)

        def complete(first: int, last: int) -> None:
            if counts is None:
                self._count(layout, completed.tables, first, last)
            complete_sets(layout.subsets, evidence, completed, first, last)

        self._in_stretches(complete, len(layout.subsets))
        return completed

    def _complete(self, subsets: Integers, evidence: SetEvidence) -> Completed:
        layout = Layout(subsets, table_starts(subsets, self._rows.cards))
        completed = self._to_complete(layout)
        self._count(layout, completed.tables, 0, len(subsets))
        complete_sets(subsets, evidence, completed, 0, len(subsets))
        return completed

    def _evidence(self, size: int) -> SetEvidence:
        part_size = 2 if size <= 3 else 3
        if part_size == 3 and 3 not in self._completed:
            self._completed[3] = self._complete_level(3)
        none = self._to_complete(Layout(np.empty((0, 3), np.int64), np.zeros(1, np.int64)))
        singles, pairs, triples = (self._completed.get(m, none) for m in (1, 2, 3))
        members = list(combinations(range(size), part_size))
        return SetEvidence(
            rows=self._rows,
            pairs=self._pairs,
            joint=size in (2, 3),
            margins=self._margins,
            kept=(singles, pairs, triples),
            members=np.array(members, dtype=np.int64).reshape(-1, part_size),
            poisson=set_completion.poisson_table(),
        )

    def _to_complete(self, layout: Layout, counts: Floats | None = None) -> Completed:
        """Room for what is found out about subsets, with the counts of those that are recorded."""
        n_cohorts, n_classes = self._rows.by_class.shape
        shape = n_cohorts, len(layout.subsets)
        if counts is None:
            counts = np.zeros((n_cohorts, layout.starts[-1], n_classes))
        return Completed(
            score=np.full(shape, np.nan),
            variance=np.full(shape, np.nan),
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


@dataclass(frozen=True, eq=False)
class TransferRecords:
    """What cohorts recorded, as the transfer takes it."""

    rows: Rows  # coded, weighted rows; none of them where there are only count tables
    # count(rows, layout, counts, first, last) adds tables where cohorts recorded the sets
    count: Callable[[Rows, Layout, Floats, int, int], None]
    merged: Flags  # (n_features,): whether the rarest categories became one
    as_scored: bool = True  # whether exact scores were computed with these categories
    cohorts: Cohorts | None = None
    _coarse: list[Floats] = field(default_factory=list, repr=False)

    def lost_by_merging(self, exact: ExactScores, size: int) -> Floats:
        """By how much the score of each recorded part is larger with the categories as they are."""
        if len(self._coarse) <= size and self.cohorts is not None:
            categories = tuple(tuple(map(str, range(card))) for card in self.rows.cards)
            codes = self.rows.codes.astype(np.int32)
            rows = replace(self.cohorts, codes=codes, categories=categories)
            measure = MutualInformation(rows, above_chance=exact.above_chance)
            scores = [measure.of_levels(i, 0, size, None) for i in range(len(rows))]
            self._coarse[:] = [np.array(own) for own in zip(*scores, strict=True)]
        subsets = level(exact.missing.shape[1], size)
        fine = recorded_part_scores(exact.by_size, subsets, exact.missing)
        return np.nan_to_num(fine - recorded_part_scores(self._coarse, subsets, exact.missing))


def rows_or_tables(known: Known) -> TransferRecords:
    """The rows of what is known, or what was counted of them where there are none."""
    if known.tables is not None:
        return records_of_tables(known.tables)
    return records_of_rows(known.rows_for("transfer"))


def records_of_rows(cohorts: Cohorts, most: int | None = None) -> TransferRecords:
    """The rows of cohorts; gaps are a category, and rare ones merge so that tables stay small."""
    n_cohorts, n_classes = len(cohorts), len(cohorts.classes)
    most = most or int(np.cbrt(LARGEST_TABLE / max(1, n_classes)) + 1e-9)
    merged = np.zeros(len(cohorts.features), dtype=bool)
    codes = cohorts.codes.astype(np.int64)
    cards = np.array([len(labels) for labels in cohorts.categories], dtype=np.int64)
    cohort_of = np.repeat(np.arange(n_cohorts), np.diff(cohorts.offsets))
    target, weights = cohorts.target_codes.astype(np.int64), cohorts.counts
    as_scored = True
    for feature, values in enumerate(codes):
        recorded = ~cohorts.missing[cohort_of, feature]
        gaps = recorded & (values < 0)
        if gaps.any():
            values[gaps] = cards[feature]
            cards[feature] += 1
            as_scored = False
        if cards[feature] > most:
            # The most frequent categories keep a code each, all others share the last.
            own = values[recorded]
            order = np.argsort(-np.bincount(own, weights[recorded], cards[feature]), kind="stable")
            new_codes = np.empty(len(order), dtype=np.int64)
            new_codes[order] = np.minimum(np.arange(len(order)), most - 1)
            values[recorded] = new_codes[own]
            cards[feature] = most
            merged[feature] = True
            as_scored = False
        values[~recorded] = 0  # never read
    by_class = np.zeros((n_cohorts, n_classes))
    np.add.at(by_class, (cohort_of, target), weights)
    rows = Rows(
        codes=codes.astype(np.uint16),
        target=target,
        weights=weights,
        offsets=cohorts.offsets.astype(np.int64),
        missing=cohorts.missing,
        cards=np.maximum(cards, 1),
        by_class=by_class,
        sizes=by_class.sum(axis=1),
    )
    return TransferRecords(rows, count_level, merged, as_scored, cohorts)


def records_of_tables(tables: CountTables) -> TransferRecords:
    """Count tables of all cohorts in place of rows; sets hold at most three features."""
    # Tables of all sizes weigh the same, as many rows as are as noisy as the largest ones.
    shares = np.ones(len(tables.by_class)) if tables.noise is None else 1 / tables.noise
    by_class, cards = tables.by_class * shares[:, None], tables.cards
    rows = Rows(
        codes=np.zeros((len(cards), 0), dtype=np.uint16),
        target=np.zeros(0, dtype=np.int64),
        weights=np.zeros(0),
        offsets=np.zeros(len(by_class) + 1, dtype=np.int64),
        missing=tables.missing,
        cards=cards,
        by_class=by_class,
        sizes=by_class.sum(axis=1),
    )

    def count(rows: Rows, layout: Layout, counts: Floats, first: int, last: int) -> None:
        size = layout.subsets.shape[1]
        of_size, starts = tables.of_size(size), tables.starts(size)
        ranks = rank(layout.subsets[first:last])
        for s, index in zip(range(first, last), ranks.tolist(), strict=True):
            recorded = ~rows.missing[:, layout.subsets[s]].any(axis=1)
            own = of_size[recorded, starts[index] : starts[index + 1]]
            place = slice(layout.starts[s], layout.starts[s + 1])
            counts[recorded, place] = own * shares[recorded, None, None]

    return TransferRecords(rows, count, np.zeros(len(cards), dtype=bool))
