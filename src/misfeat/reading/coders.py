"""How raw values become small integer codes, as plain data that every kind of table can apply.

A coder maps each row of its column to ``0 .. len(labels) - 1``, or to ``len(labels)`` where the
value is missing. The codes of one row, as the digits of a mixed-radix number, make one integer key
per row: a table then needs a single group-by over that key to collapse equal rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import TypeVar

import numpy as np

from misfeat.reading.values import Value
from misfeat.runtime.array_types import Flags, Indices, Integers

Term = TypeVar("Term")
LARGEST_KEY = 2**62  # Keys stay below this, so that no engine overflows a signed 64-bit integer


def joined(join: Callable[[Term, Term], Term], terms: Sequence[Term]) -> Term:
    """Join terms pairwise, nested no deeper than need be: long chains overrun engines' stacks."""
    while len(terms) > 1:
        terms = [reduce(join, terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0]


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
    missing: tuple[Value, ...] = ()  # Values that mean missing, as the column holds them
    as_number: bool = False  # Every text that is not missing reads as a number
    pieces: tuple[tuple[str, str], ...] = ()  # What to replace so that a plain number is left
    texts: tuple[str, ...] = ()  # Where values are looked up, such as dates: the texts
    values: tuple[Value, ...] = ()  # What each of them stands for


@dataclass(frozen=True)
class EdgeCoder:
    """Code = how many edges lie below the value: bins, or each value of an ordered column."""

    reading: Reading
    edges: tuple[Value, ...]  # Ascending; a value equal to an edge belongs to the bin below it
    labels: tuple[str, ...]  # One more than there are edges


@dataclass(frozen=True)
class CategoryCoder:
    """Code = the position of the value in a list; every other value shares one last code."""

    reading: Reading
    values: tuple[Value, ...]  # The values that have a code of their own, in code order
    labels: tuple[str, ...]  # As many as there are values, plus one where other values exist


Coder = EdgeCoder | CategoryCoder


@dataclass(frozen=True)
class CodedRows:
    """Distinct coded rows with their counts, in ascending lexicographic order."""

    codes: Indices  # (n_coders, n_rows); len(labels) stands for missing
    weights: Integers  # Of shape (n_rows,): how many rows of the table each one stands for
    masses: Integers | None = None  # (n_rows,): sums of the sampling weights of these rows
    squares: Integers | None = None  # Those of their squares, in a unit of their own

    @property
    def counted(self) -> Integers:
        """What rows count where shares are taken: their weights in the sample, or how many."""
        return self.weights if self.masses is None else self.masses

    @property
    def more(self) -> list[Integers]:
        """What else is counted of the rows: masses and squares, where there are any."""
        return [one for one in (self.masses, self.squares) if one is not None]

    def where(self, kept: Flags) -> "CodedRows":
        """Some of the rows."""
        more = (one[kept] for one in self.more)
        return CodedRows(self.codes[:, kept], self.weights[kept], *more)


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
    keys: Sequence[Integers], weights: Integers, bases: Sequence[int], more: Sequence[Integers] = ()
) -> CodedRows:
    """Turn keys of `pack_keys` in any order into sorted rows; `more` has sums of weights."""
    order = sorting_order(keys)
    codes = np.empty((len(bases), len(weights)), dtype=code_dtype(bases))
    for key, run in zip(keys, split_into_keys(bases), strict=True):
        rest = key[order]
        for position in range(run.stop - 1, run.start - 1, -1):
            np.remainder(rest, bases[position], out=codes[position], casting="unsafe")
            rest //= bases[position]
    return CodedRows(codes, *(one[order] for one in (weights, *more)))


def sorting_order(keys: Sequence[Integers]) -> Indices:
    """The order that sorts rows by their first key, then the second, and so on."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def pack_keys(codes: Sequence[Indices], bases: Sequence[int]) -> list[Integers]:
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
    codes: Sequence[Indices], weights: Integers, bases: Sequence[int], more: Sequence[Integers] = ()
) -> CodedRows:
    """Merge equal coded rows, and add up their weights and what else is counted of them."""
    keys = pack_keys(codes, bases)
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


def replaced(text: str, pieces: Sequence[tuple[str, str]]) -> str:
    """A text with some of its pieces replaced, one after the other."""
    for piece, by in pieces:
        text = text.replace(piece, by)
    return text
