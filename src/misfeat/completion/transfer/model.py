"""The transfer between cohorts: donors' tables in, completed scores out, size by size.

The steps and their formulas:

A. `kernels/smoothing.py`: every donor's tables of one, two and three features with the target,
   shrunk towards what the smaller tables lead one to expect.
B. 1. `kernels/margins.py`: how an unrecorded feature is distributed in each class, p̂(q|y).
   2. `complete_pairs` in `kernels/sets.py`: tables of pairs with an unrecorded member, the donors'
      mean conditional distribution, raked to the cohort's own margins.
   3. `complete_sets` in `kernels/sets.py`: tables of larger sets, started from the donors' mean
      where some recorded all of the set, fitted to the tables of its parts and to the cohort's own
      rows.
C. `expected_score` in `kernels/prediction.py`: the plug-in score that the cohort's number of rows
   would give on average, and its sampling variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from misfeat.completion.transfer.kernels import margins, prediction, sets, smoothing, tables
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.completion.transfer.rows import CodedRows
    from misfeat.machine.threads import Work

    Floats = NDArray[np.float64]
    Targets = tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]

SMOOTHING_SWEEPS = 4
FITTING_SWEEPS = 5


@dataclass(frozen=True, eq=False)
class Layout:
    """The tables of all subsets of one size, laid end to end."""

    subsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_cells: int

    @classmethod
    def of(cls, cards: NDArray[np.int64], size: int) -> Layout:
        """Tables of features with so many categories."""
        subsets = level(len(cards), size).astype(np.int64)
        ends = np.cumsum(cards[subsets].prod(axis=1))
        starts = np.concatenate([[0], ends])[:-1]
        return cls(subsets, starts, int(ends[-1]) if len(ends) else 0)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions for the subsets of one size.

    Attributes
    ----------
    score : ndarray of shape (n_cohorts, n_subsets)
        The expected plug-in score; NaN where a cohort recorded the whole subset.
    variance : ndarray of shape (n_cohorts, n_subsets)
        Its sampling variance, were the predicted distribution true.
    """

    score: Floats
    variance: Floats


class TransferModel:
    """Scores of feature sets that a cohort recorded in part, from the cohorts that did.

    Parameters
    ----------
    records : CodedRows
        The rows of all cohorts.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What to treat as never recorded: at least what is.
    work : Work
        Threads.
    proxies : bool, default=True
        Whether margins are taken through proxies.
    table_size : {2, 3}, default=3
        The largest subsets whose donors' tables are used; larger sets are fitted to these.
    """

    def __init__(
        self,
        records: CodedRows,
        missing: NDArray[np.bool_],
        work: Work,
        *,
        proxies: bool = True,
        table_size: int = 3,
    ) -> None:
        self._records = records
        self._missing = np.ascontiguousarray(missing)
        self._work = work
        self._table_size = table_size
        self._by_class = records.by_class
        self._sizes = self._by_class.sum(axis=1)
        self._smooth_singles()
        self._smooth_pairs()
        self._find_margins(proxies)
        self._completed: dict[int, Predicted] = {}
        self._triples: Targets | None = None
        self._complete_singles()
        self._complete_pairs()

    def predict(self, size: int) -> Predicted:
        """Predictions for every subset of one size in every cohort that recorded it in part."""
        if size not in self._completed:
            self._complete_larger(size, keep=False)
        return self._completed[size]

    def _smooth_singles(self) -> None:
        cards = self._records.cards
        self._singles = Layout.of(cards, 1)
        self._single_counts = self._counted(self._singles)
        self._single_tables = np.zeros_like(self._single_counts)
        self._single_kept = np.zeros(len(cards))
        smoothing.smooth_singles(
            self._single_counts, self._singles.starts, cards, self._missing,
            self._single_tables, self._single_kept,
        )  # fmt: skip

    def _smooth_pairs(self) -> None:
        self._pairs = Layout.of(self._records.cards, 2)
        counts = self._counted(self._pairs)
        self._pair_tables = np.zeros_like(counts)
        self._pair_rows = np.zeros(counts.shape[:2])
        self._pair_kept, self._pair_kept_rows = np.zeros((2, len(self._pairs.subsets)))
        single_rows = self._single_counts.sum(axis=2)

        def smooth(first: int, last: int) -> None:
            sets.smooth_pairs(
                counts, self._pairs.starts, self._pairs.subsets, self._records.cards,
                self._missing, self._singles.starts, self._single_tables, single_rows,
                self._single_kept, SMOOTHING_SWEEPS, first, last, self._pair_tables,
                self._pair_rows, self._pair_kept, self._pair_kept_rows,
            )  # fmt: skip

        self._in_stretches(smooth, len(self._pairs.subsets))

    def _find_margins(self, proxies: bool) -> None:
        cards, n_features = self._records.cards, len(self._records.cards)
        strengths = np.full((n_features, n_features), -1.0)
        self._margins = np.zeros(
            (len(self._missing), n_features, int(cards.max()), self._records.n_classes)
        )

        def strengths_of(first: int, last: int) -> None:
            for q in range(first, last):
                margins.proxy_strengths(
                    self._pair_tables, self._pairs.starts, cards, self._missing, q, strengths[q]
                )

        def margins_of(first: int, last: int) -> None:
            for i in range(first, last):
                margins.margins_of(
                    i, self._single_counts, self._single_tables, self._singles.starts,
                    self._pair_tables, self._pairs.starts, cards, self._missing, self._sizes,
                    strengths, proxies, self._margins[i],
                )  # fmt: skip

        if proxies:
            self._in_stretches(strengths_of, n_features)
        self._in_stretches(margins_of, len(self._missing))

    def _complete_singles(self) -> None:
        score, variance = np.full((2, *self._missing.shape), np.nan)
        table = _poisson_table()
        for i, f in zip(*np.nonzero(self._missing), strict=True):
            shares = self._margins[i, f, : self._records.cards[f]][None]
            score[i, f], variance[i, f] = prediction.expected_score(
                shares, self._by_class[i : i + 1], table[2:], table[0], table[1]
            )
        self._completed[1] = Predicted(score, variance)

    def _complete_pairs(self) -> None:
        n_cohorts, n_pairs = len(self._missing), len(self._pairs.subsets)
        self._pair_targets = np.zeros((n_cohorts, self._pairs.n_cells, self._records.n_classes))
        self._has_pair_target = np.zeros((n_cohorts, n_pairs), dtype=bool)
        score, variance = np.full((2, n_cohorts, n_pairs), np.nan)

        def complete(first: int, last: int) -> None:
            sets.complete_pairs(
                self._pair_tables, self._pairs.starts, self._pairs.subsets, self._records.cards,
                self._missing, self._sizes, self._singles.starts, self._single_counts,
                self._by_class, self._margins, _poisson_table(), first, last,
                self._pair_targets, self._has_pair_target, score, variance,
            )  # fmt: skip

        self._in_stretches(complete, n_pairs)
        self._completed[2] = Predicted(score, variance)

    def _complete_larger(self, size: int, keep: bool) -> Targets:
        """Predict sets of three or more; returns their completed tables where they are kept."""
        records = self._records
        n_cohorts, n_classes = len(self._missing), records.n_classes
        layout = Layout.of(records.cards, size)
        n_subsets = len(layout.subsets)
        score, variance = np.full((2, n_cohorts, n_subsets), np.nan)
        informed = np.zeros((n_cohorts, n_subsets), dtype=bool)
        kept = np.zeros((n_cohorts, layout.n_cells if keep else 0, n_classes))
        from_pairs = size == 3 or self._table_size == 2
        parts = np.array(list(combinations(range(size), 2 if from_pairs else 3)))
        pairs = self._pairs.starts, self._pair_targets, self._has_pair_target
        part_starts, part_targets, has_target = pairs if from_pairs else self._kept_triples()

        def complete(first: int, last: int) -> None:
            sets.complete_sets(
                records.codes, records.target, records.weights, records.offsets, layout.subsets,
                records.cards, self._missing, self._sizes, self._by_class, self._margins,
                size == 3 and self._table_size == 3, self._pairs.starts, self._pair_tables,
                self._pair_rows, self._pair_kept, self._pair_kept_rows, SMOOTHING_SWEEPS, parts,
                part_starts, part_targets, has_target, FITTING_SWEEPS, _poisson_table(), first,
                last, score, variance, keep, layout.starts, kept, informed,
            )  # fmt: skip

        self._in_stretches(complete, n_subsets)
        self._completed[size] = Predicted(score, variance)
        return layout.starts, kept, informed

    def _kept_triples(self) -> Targets:
        """Completed tables of all triples, which larger sets are fitted to."""
        if self._triples is None:
            self._triples = self._complete_larger(3, keep=True)
        return self._triples

    def _counted(self, layout: Layout) -> Floats:
        """Tables of every cohort, zeros where a cohort did not record a subset."""
        records = self._records
        counts = np.zeros((len(self._missing), layout.n_cells, records.n_classes))

        def count(first: int, last: int) -> None:
            tables.count_level(
                records.codes, records.target, records.weights, records.offsets, self._missing,
                layout.subsets, records.cards, layout.starts, first, last, counts,
            )  # fmt: skip

        self._in_stretches(count, len(layout.subsets))
        return counts

    def _in_stretches(self, work_on: Callable[[int, int], None], count: int) -> None:
        """Do independent work on threads; each result is written by one of them."""
        stretches = self._work.stretches(count, a_thread=8)
        self._work.run([partial(work_on, first, last) for first, last in stretches])


@cache
def _poisson_table() -> Floats:
    """E[n log n] / mean of Poisson counts: first log mean, its step, then the values."""
    logs = np.linspace(np.log(1e-4), np.log(400.0), 1200)
    means, n = np.exp(logs), np.arange(2, 700)
    probability = np.exp(n * logs[:, None] - means[:, None] - gammaln(n + 1))
    values = (probability * (n * np.log(n))).sum(axis=1) / means
    return np.concatenate([[logs[0], logs[1] - logs[0]], values])
