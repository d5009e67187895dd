"""Count tables of all sets of up to three features by class: what scores need in place of rows.

The tables of all sets of a size are laid end to end in the order of ranks, one line per cell, one
column per class. The values of a set's last feature change fastest.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from misfeat.information.null_expectation import expected_n_log_n_weighted, n_log_n
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

LARGEST = 3  # features of the largest sets that tables are held of


def table_starts(subsets: Indices, cards: Indices) -> Integers:
    """Where the tables of sets start when they are laid end to end, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(cards[subsets].prod(axis=1))]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CountTables:
    """Rows by cell and class of all sets of up to three features, in every cohort."""

    features: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    missing: Flags  # (n_cohorts, n_features); tables with a missing feature hold zeros
    by_class: Floats  # (n_cohorts, n_classes)
    singles: Floats  # (n_cohorts, n_lines, n_classes); without lines where there are none
    pairs: Floats
    triples: Floats
    effective: Floats | None = None  # (n_cohorts, 3): exactly counted rows that inform as much
    bias: Floats | None = None  # (n_cohorts, 3, 2): of scores above chance, for every nat of the
    # null expectation, and for every square of a nat
    noise: Floats | None = None  # (n_cohorts,): of counts of the largest sets, against exact ones

    @property
    def largest(self) -> int:
        """Features of the largest sets that tables are held of."""
        held = [size for size in range(1, LARGEST + 1) if self.of_size(size).shape[1]]
        return max(held, default=0)

    def of_size(self, size: int) -> Floats:
        """The tables of all sets of a size."""
        return (self.singles, self.pairs, self.triples)[size - 1]

    def effective_rows_of(self, size: int) -> Floats:
        """How many exactly counted rows of every cohort inform as much about sets of a size."""
        if self.effective is None or size == 0:
            return np.asarray(self.by_class.sum(axis=1))
        return self.effective[:, min(size, LARGEST) - 1]

    @property
    def cards(self) -> Integers:
        """How many values each feature has."""
        return np.array([len(labels) for labels in self.categories], dtype=np.int64)

    def starts(self, size: int) -> Integers:
        """The first line of every set's table, and the end of the last."""
        return table_starts(level(len(self.features), size), self.cards)

    def of(self, cohort: int, members: Any) -> Floats:
        """The table of one set in one cohort."""
        place = int(rank(np.asarray([members]))[0])
        first, last = self.starts(len(members))[place : place + 2]
        return self.of_size(len(members))[cohort, first:last]


class TableScores(NamedTuple):
    """Scores of some tables less their null expectation, and this."""

    above_chance: Floats
    chance: Floats

    @property
    def plug_in(self) -> Floats:
        """The information of the tables as they are."""
        return self.above_chance + self.chance


def scores_of_tables(counts: Floats, by_class: Floats, starts: Integers) -> TableScores:
    """Scores of tables (cells, classes) of the same rows that `starts` cuts, the end included."""
    n_rows, totals = by_class.sum(), counts.sum(axis=1)
    of_totals = expected_n_log_n_weighted(totals, by_class)
    above = np.add.reduceat(n_log_n(counts).sum(axis=1) - of_totals, starts[:-1]) / n_rows
    null = np.add.reduceat(of_totals - n_log_n(totals), starts[:-1]) - n_log_n(by_class).sum()
    return TableScores(above, np.log(n_rows) + null / n_rows)
