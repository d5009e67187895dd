"""Scores of count tables that are laid end to end, apart from what chance gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.chance import chance_of_counts, n_log_n

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
