"""How raw values become small integer codes, as plain data that every kind of table can apply.

A coder maps each row of its column to ``0 .. len(labels) - 1``, or to ``len(labels)`` where the
value is missing. The codes of one row, written as the digits of a mixed-radix number, make one
integer key per row: a table then needs a single group-by over that key to collapse equal rows.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.predicates import Predicate
    from misfeat.cohorts.values import Value

LARGEST_KEY = 2**62
"""Keys stay below this, so that no engine overflows a signed 64-bit integer."""


class Kind(Enum):
    """What a column holds, as far as coding it is concerned."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    FLAG = "flag"
    TIME = "time"
    UNSUPPORTED = "unsupported"

    @property
    def ordered(self) -> bool:
        """Whether values can be cut into bins."""
        return self in (Kind.INTEGER, Kind.NUMBER, Kind.TIME)


@dataclass(frozen=True)
class Reading:
    """How to read one raw column: which values are missing, and what text stands for."""

    column: str
    missing: tuple[Value, ...] = ()
    """Values that mean missing, as the column holds them."""
    as_number: bool = False
    """The column is text in which every value that is not missing reads as a number."""
    pieces: tuple[tuple[str, str], ...] = ()
    """What to replace in that text, one after the other, so that a plain number is left."""
    texts: tuple[str, ...] = ()
    """The texts of a column whose values have to be looked up, such as dates; else empty."""
    values: tuple[Value, ...] = ()
    """What each of them stands for."""


@dataclass(frozen=True)
class EdgeCoder:
    """Code = how many edges lie below the value: bins, or each value of an ordered column."""

    reading: Reading
    edges: tuple[Value, ...]
    """Ascending; a value equal to an edge belongs to the bin below it."""
    labels: tuple[str, ...]
    """One more than there are edges."""

    def codes_of_texts(self) -> dict[str, int]:
        """The code of every text, where values have to be looked up."""
        values = self.reading.values
        return {
            text: bisect_left(self.edges, value)
            for text, value in zip(self.reading.texts, values, strict=True)
        }


@dataclass(frozen=True)
class CategoryCoder:
    """Code = the position of the value in a list; every other value shares one last code."""

    reading: Reading
    values: tuple[Value, ...]
    """The values that have a code of their own, in code order."""
    labels: tuple[str, ...]
    """As many as there are values, plus one where other values exist."""


@dataclass(frozen=True)
class PredicateCoder:
    """Code = 1 where a predicate holds, 0 where it does not."""

    readings: tuple[Reading, ...]
    """The columns that the predicate reads; a row where one is missing is coded missing."""
    predicate: Predicate
    labels: tuple[str, ...]
    """The label where it does not hold, and where it does."""


Coder = EdgeCoder | CategoryCoder | PredicateCoder


@dataclass(frozen=True)
class CodedRows:
    """Distinct coded rows with their counts, in ascending lexicographic order."""

    codes: NDArray[np.integer]
    """Of shape (n_coders, n_rows): one line per coder; ``len(labels)`` stands for missing."""
    weights: NDArray[np.int64]
    """Of shape (n_rows,): how many rows of the table each one stands for."""
    masses: NDArray[np.int64] | None = None
    squares: NDArray[np.int64] | None = None
    """Of shape (n_rows,): sums of the sampling weights of these rows and of their squares, each in
    units of its own; None without weights."""

    @property
    def more(self) -> list[NDArray[np.int64]]:
        """What else is counted of the rows: masses and squares, where there are any."""
        return [one for one in (self.masses, self.squares) if one is not None]

    def where(self, kept: NDArray[np.bool_]) -> CodedRows:
        """Some of the rows."""
        return CodedRows(
            self.codes[:, kept],
            self.weights[kept],
            None if self.masses is None else self.masses[kept],
            None if self.squares is None else self.squares[kept],
        )


def radices(coders: Sequence[Coder]) -> list[int]:
    """The number of codes of each coder, the one for missing included."""
    return [len(coder.labels) + 1 for coder in coders]


def split_into_keys(bases: Sequence[int]) -> list[slice]:
    """Cut a list of radices into runs whose mixed-radix numbers fit a 64-bit key."""
    runs: list[slice] = []
    start, product = 0, 1
    for position, base in enumerate(bases):
        if product * base > LARGEST_KEY:
            runs.append(slice(start, position))
            start, product = position, 1
        product *= base
    runs.append(slice(start, len(bases)))
    return runs


def code_dtype(bases: Sequence[int]) -> type[np.signedinteger]:
    """The smallest signed integer type that holds every code."""
    largest = max(bases, default=1)
    return next(t for t in (np.int8, np.int16, np.int32) if largest <= np.iinfo(t).max)


def unpack_keys(
    keys: Sequence[NDArray[np.int64]],
    weights: NDArray[np.int64],
    bases: Sequence[int],
    more: Sequence[NDArray[np.int64]] = (),
) -> CodedRows:
    """Turn the collapsed keys of a table, as by `pack_keys` and in whatever order, into coded rows.

    Rows come sorted. With sampling weights, `more` has the sums of these and of their squares.
    """
    order = sorting_order(keys)
    codes = np.empty((len(bases), len(weights)), dtype=code_dtype(bases))
    for key, run in zip(keys, split_into_keys(bases), strict=True):
        rest = key[order]
        for position in range(run.stop - 1, run.start - 1, -1):
            np.remainder(rest, bases[position], out=codes[position], casting="unsafe")
            rest //= bases[position]
    return CodedRows(codes, *(one[order] for one in (weights, *more)))


def sorting_order(keys: Sequence[NDArray[np.int64]]) -> NDArray[np.intp]:
    """The order that sorts rows by their first key, then the second, and so on."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def pack_keys(
    codes: Sequence[NDArray[np.integer]], bases: Sequence[int]
) -> list[NDArray[np.int64]]:
    """Write the codes of every row as mixed-radix keys, the first code most significant."""
    keys = []
    for run in split_into_keys(bases):
        key = np.zeros(len(codes[0]), dtype=np.int64)
        for digit, base in zip(codes[run], bases[run], strict=True):
            key *= base
            key += digit
        keys.append(key)
    return keys


def collapse(
    codes: Sequence[NDArray[np.integer]],
    weights: NDArray[np.int64],
    bases: Sequence[int],
    more: Sequence[NDArray[np.int64]] = (),
) -> CodedRows:
    """Merge equal coded rows, and add up their weights and what else is counted of them."""
    keys = pack_keys(codes, bases)
    if _ascend(keys):
        return CodedRows(np.array(codes, dtype=code_dtype(bases)), weights, *more)
    order = sorting_order(keys)
    first = np.zeros(len(order), dtype=bool)
    first[:1] = True
    for key in keys:
        ordered = key[order]
        first[1:] |= ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    totals, *others = (
        np.add.reduceat(one[order], starts) if len(starts) else one[:0] for one in (weights, *more)
    )
    chosen = order[starts]
    found = np.empty((len(bases), len(starts)), dtype=code_dtype(bases))
    for line, digit in zip(found, codes, strict=True):
        line[:] = digit[chosen]
    return CodedRows(found, totals, *others)


def _ascend(keys: Sequence[NDArray[np.int64]]) -> bool:
    """Whether rows are sorted by their keys, and no two have the same."""
    rises = np.zeros(max(len(keys[0]) - 1, 0), dtype=bool)
    ties = ~rises
    for key in keys:
        rises |= ties & (key[1:] > key[:-1])
        ties &= key[1:] == key[:-1]
    return bool(rises.all())
