"""Tables of c log c and of its null expectation, which kernels look counts up in."""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.null_expectation import fill_expectations, fill_null_entropies, n_log_n
from misfeat.runtime.array_types import Floats
from misfeat.runtime.compilation import compiled_fast

if TYPE_CHECKING:
    from misfeat.information.mutual_info import CompactRows

SHORTEST_TABLE = 2**6
LONGEST_TABLE = 2**20  # f(c) = c log c is looked up below this count, and computed from there on
LONGEST_EXPECTATIONS = 2**16  # The same for null expectations: all that 16-bit counts need


class Logs(NamedTuple):
    """Tables of f(c) = c log c, and of g, which stands for f where a cell is taken as a whole."""

    f: Floats  # of counts of one class, as far as a table is worth its memory
    g: Floats  # of totals of cells: f again, or its null expectation
    by_class: Floats  # rows of each class, for totals beyond g; empty where g is f
    small: Floats  # (2**16,): sums over words of small 16-bit counts (`small_cells`), or empty
    unit: float  # what a row of equal weight weighs, where cells hold weights; else 1
    shift: float  # how many more of such rows a cell is worth; else 0
    entropies: Floats  # h of cells of 0, 1, 2, … rows of equal weight, or empty


@compiled_fast
def c_log_c(count, f):
    """C log c, from the table as far as it reaches."""
    if count < len(f):
        return f[count]
    return count * np.log(np.float64(count))


def logs_of(rows: "CompactRows", lanes: int) -> Logs:
    """The tables for one cohort, whose cells have so many 16-bit lanes; 0: they have others."""
    f, none = log_table(rows.total), np.empty(0)
    if not rows.above_chance:
        return Logs(f, f, none, small_cells(lanes) if lanes else none, 1.0, 0.0, none)
    by_class = rows.by_class
    if rows.counts_rows:
        g, small = _null_tables(tuple(by_class.tolist()), lanes, rows.lacks_values)
        return Logs(f, g, by_class, small, 1.0, 0.0, none)
    # Rows of equal weight, to the nearest whole number.
    by_class = np.diff(np.rint(np.cumsum(by_class) / rows.unit), prepend=0.0)
    entropies = none if rows.lacks_values else _null_entropies(tuple(by_class.tolist()))
    return Logs(f, np.zeros(1), by_class, none, rows.unit, rows.shift, entropies)


def log_table(total: int) -> Floats:
    """f(c) = c log c for counts up to `total`, as far as a table is worth its memory."""
    return _log_table(min(max(1 << int(total).bit_length(), SHORTEST_TABLE), LONGEST_TABLE))


@lru_cache(maxsize=8)
def _log_table(length: int) -> Floats:
    return _kept(n_log_n(np.arange(length)))


@lru_cache(maxsize=4)
def small_cells(lanes: int) -> Floats:
    """Sums of f(c) = c log c over the lanes of a word whose counts are small, looked up as a whole.

    Two lanes of a cell below 256, or four below 16, are packed into 16 bits; the table holds the
    sum of f less f of the sum. Where a cell has more words than one, it holds the sum of f alone.
    """
    return _small_words(lanes, log_table(2**9))


def _small_words(lanes: int, g: Floats) -> Floats:
    """For every word of small counts the sum of f over its lanes, less g of their sum."""
    index = np.arange(2**16)
    bits, shifts = (8, (0, 8)) if lanes == 2 else (4, (0, 4, 8, 12))
    counts = [index >> shift & (2**bits - 1) for shift in shifts]
    joint = np.sum(log_table(2**9)[counts], axis=0)
    # No total exceeds the rows of the cohort, whatever g ends at.
    return _kept(joint if lanes > 4 else joint - g.take(np.sum(counts, axis=0), mode="clip"))


@lru_cache(maxsize=32)
def _null_tables(by_class: tuple[int, ...], lanes: int, differ: bool) -> tuple[Floats, Floats]:
    """Null expectations of totals, unless they `differ`, and words as in `small_cells`."""
    n_rows = int(sum(by_class))
    g = np.empty(1 + min(n_rows, 1 if differ else LONGEST_EXPECTATIONS - 1))
    fill_expectations(np.arange(len(g)), np.array(by_class, dtype=np.float64), g)
    return _kept(g), _small_words(lanes, g) if lanes else np.empty(0)


@lru_cache(maxsize=32)
def _null_entropies(by_class: tuple[float, ...]) -> Floats:
    """H of cells of 0, 1, 2, … rows."""
    found = np.empty(1 + min(int(sum(by_class)), LONGEST_EXPECTATIONS - 1))
    fill_null_entropies(np.arange(len(found)), np.array(by_class), found)
    return _kept(found)


def _kept(table: Floats) -> Floats:
    """The same table, which many share and none may change."""
    table.flags.writeable = False
    return table
