"""Tables that kernels look up: f(c) = c log c, what chance gives, and words of small counts."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.chance import ChanceTable
from misfeat.information.kernels.chance import entropy_by_chance
from misfeat.information.kernels.logs import Logs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows

    Table = NDArray[np.float64]

SHORTEST_TABLE = 2**6
LONGEST_TABLE = 2**20
"""f(c) = c log c is looked up below this count, and computed from there on."""
LONGEST_CHANCE = 2**16
"""The same for what chance gives, which takes longer to make: all that 16-bit counts need."""


def logs_of(rows: PreparedRows, lanes: int) -> Logs:
    """The tables for one cohort, whose cells have so many 16-bit lanes; 0: they have others."""
    f, none = log_table(rows.total), np.empty(0)
    if not rows.above_chance:
        return Logs(f, f, none, small_cells(lanes) if lanes else none, 1.0, 0.0, none)
    by_class = rows.whole_by_class
    if rows.counts_rows:
        g, small = _chance_tables(tuple(by_class.tolist()), lanes, rows.lacks_values)
        return Logs(f, g, by_class, small, 1.0, 0.0, none)
    entropies = none if rows.lacks_values else _entropies(tuple(by_class.tolist()))
    return Logs(f, np.zeros(1), by_class, none, rows.unit, rows.shift, entropies)


def log_table(total: int) -> Table:
    """f(c) = c log c for counts up to `total`, as far as a table is worth its memory."""
    return _log_table(min(max(1 << int(total).bit_length(), SHORTEST_TABLE), LONGEST_TABLE))


@lru_cache(maxsize=8)
def _log_table(length: int) -> Table:
    counts = np.arange(length, dtype=np.float64)
    return _kept(counts * np.log(np.maximum(counts, 1.0)))


@lru_cache(maxsize=4)
def small_cells(lanes: int) -> Table:
    """Sums of f(c) = c log c over the lanes of a word whose counts are small, looked up as a whole.

    Two lanes of a cell below 256, or four below 16, are packed into 16 bits; the table holds the
    sum of f less f of the sum. Where a cell has more words than one, it holds the sum of f alone.
    """
    joint, totals = _small_words(lanes == 2)
    return _kept(joint - log_table(2**9)[totals]) if lanes <= 4 else joint


@lru_cache(maxsize=2)
def _small_words(two_lanes: bool) -> tuple[Table, NDArray[np.int64]]:
    """For every word of small counts the sum of f over its lanes, and the sum of its lanes."""
    index = np.arange(2**16)
    bits, shifts = (8, (0, 8)) if two_lanes else (4, (0, 4, 8, 12))
    counts = [index >> shift & (2**bits - 1) for shift in shifts]
    f = log_table(2**9)
    return _kept(np.sum([f[count] for count in counts], axis=0)), np.sum(counts, axis=0)


@lru_cache(maxsize=32)
def _chance_tables(by_class: tuple[int, ...], lanes: int, differs: bool) -> tuple[Table, Table]:
    """What chance gives for totals of cells, and words of small counts as in `small_cells`.

    Where chance `differs` between subsets, no table holds more than cells of at most one row.
    """
    g = _kept(ChanceTable.of(by_class, 1 if differs else LONGEST_CHANCE - 1).values)
    if not lanes:
        return g, np.empty(0)
    joint, totals = _small_words(lanes == 2)
    if lanes > 4:
        return g, joint
    return g, _kept(joint - g.take(totals, mode="clip"))  # no total exceeds the rows of the cohort


@lru_cache(maxsize=32)
def _entropies(by_class: tuple[float, ...]) -> Table:
    """The mean entropy of the classes in a cell of 0, 1, 2, … rows, by chance alone."""
    n_rows = int(sum(by_class))
    rows = np.arange(1 + min(n_rows, LONGEST_CHANCE - 1))
    found = np.empty(len(rows))
    entropy_by_chance(rows, np.array(by_class), found)
    return _kept(found)


def _kept(table: Table) -> Table:
    """The same table, which many share and none may change."""
    table.flags.writeable = False
    return table
