"""Scores of feature sets from count tables, where there are no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.chance import chance_of_counts, n_log_n
from misfeat.information.measures import LevelByLevel
from misfeat.information.shannon import entropy
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]


class TableScores(NamedTuple):
    """Scores of some tables less what chance alone would give them, and what that is."""

    above_chance: Floats
    chance: Floats

    @property
    def plug_in(self) -> Floats:
        """The information of the tables as they are."""
        return self.above_chance + self.chance


def scores_of_tables(counts: Floats, by_class: Floats, starts: NDArray[np.int64]) -> TableScores:
    """Scores of tables that count the same rows.

    A line of `counts` is a cell, a column a class. `starts` are the first line of every table, and
    the end of the last.
    """
    n_rows, totals = by_class.sum(), counts.sum(axis=1)
    of_totals = chance_of_counts(totals, by_class)
    above = np.add.reduceat(n_log_n(counts).sum(axis=1) - of_totals, starts[:-1]) / n_rows
    dealt = np.add.reduceat(of_totals - n_log_n(totals), starts[:-1]) - n_log_n(by_class).sum()
    return TableScores(above, np.log(n_rows) + dealt / n_rows)


class TableInformation(LevelByLevel):
    """Joint mutual information with the target, in nats, from count tables alone."""

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    tables: CountTables

    def __init__(self, tables: CountTables, *, above_chance: bool = False) -> None:
        self.above_chance, self.closed = above_chance, not above_chance
        self.tables, self.features, self.missing = tables, tables.features, tables.missing
        self.ceiling = self.whole = np.array([entropy(counts) for counts in tables.by_class])
        self._plain = TableInformation(tables) if above_chance else None

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        del n_jobs  # one sum over all tables
        if size == 0:
            return np.zeros(1)
        subsets = level(len(self.features), size)
        lacking = self.missing[cohort][subsets].any(axis=1)
        if size > self.tables.largest:
            return np.full(len(subsets), np.nan)
        counts, by_class = self.tables.of_size(size)[cohort], self.tables.by_class[cohort]
        starts = self.tables.starts(size)
        if self.above_chance:
            found = scores_of_tables(counts, by_class, starts)
            scores = found.above_chance
            if self.tables.bias is not None:
                first, second = self.tables.bias[cohort, size - 1]
                scores = scores - first * found.chance - second * found.chance**2
        else:
            n_rows = by_class.sum()
            cells = n_log_n(counts).sum(axis=1) - n_log_n(counts.sum(axis=1))
            sums = np.add.reduceat(cells, starts[:-1])
            scores = np.log(n_rows) + (sums - n_log_n(by_class).sum()) / n_rows
            scores = np.clip(scores, 0.0, self.ceiling[cohort])
        return np.where(lacking, np.nan, scores)
