"""Scores of feature sets from count tables, where there are no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.chance import chance_of_counts, n_log_n
from misfeat.information.measures import LevelByLevel
from misfeat.information.shannon import entropy
from misfeat.information.table_scores import scores_of_tables
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.count_tables import CountTables

    Floats = NDArray[np.float64]


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
        if self.above_chance and self.tables.bias is not None:
            found = scores_of_tables(counts, by_class, self.tables.starts(size))
            first, second = self.tables.bias[cohort, size - 1]
            scores = found.above_chance - first * found.chance - second * found.chance**2
            return np.where(lacking, np.nan, scores)
        n_rows, totals = by_class.sum(), counts.sum(axis=1)
        of_totals = chance_of_counts(totals, by_class) if self.above_chance else n_log_n(totals)
        cells = n_log_n(counts).sum(axis=1) - of_totals
        sums = np.add.reduceat(cells, self.tables.starts(size)[:-1])
        scores = sums / n_rows
        if not self.above_chance:
            scores = np.log(n_rows) + (sums - n_log_n(by_class).sum()) / n_rows
            scores = np.clip(scores, 0.0, self.ceiling[cohort])
        return np.where(lacking, np.nan, scores)
