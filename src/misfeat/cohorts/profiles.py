"""Profile: what is known of a column before it is coded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind, Reading
from misfeat.cohorts.values import EXACT_INTEGERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from misfeat.cohorts.table import ValueCounts
    from misfeat.cohorts.values import Value

DISTINCT_LIMIT = 1_000_000
"""Up to so many distinct values are counted exactly; beyond, the engine's quantiles are used."""
IDENTIFIER_SHARE = 0.95
"""A column in which this share of the values is distinct tells rows apart, not kinds of rows."""
LEAST_ROWS = 10
"""In fewer rows, distinct values are no sign of an identifier."""
IDENTIFIER_ROWS = 50
"""Integers that are nearly all distinct, but not consecutive, need so many rows."""


@dataclass(frozen=True)
class Taken:
    """What a column of text was taken for, and what speaks against it."""

    words: str = ""
    """In words: ``"number ($)"``, ``"date, day first"``; empty where it was left as text."""
    example: str = ""
    """The most frequent text that reads."""
    measures: bool = False
    """Whether its numbers have a unit or marks in them, so that they number no rows."""
    spelled: Mapping[Value, str] = field(default_factory=dict)
    """The most frequent text for each value, where it says more than the value."""
    unread: tuple[str, ...] = ()
    """Texts that do not read and count as missing, the most frequent first."""
    unread_rows: int = 0
    """Rows that hold them."""
    only_words: bool = False
    """Whether those are all words for nothing, such as "n/a"."""
    doubtful: str = ""
    """A text that could be read in another way as well, where no other text decides."""
    otherwise: str = ""
    """That other way, in the words of the parameter ``read``."""
    almost: str = ""
    """Of a column that was left as text: what most of its rows read as."""
    bare: str = ""
    """Of a column with a unit: a number without it, where a part of the rows holds such."""
    bare_rows: int = 0
    """Rows that hold them."""
    centuries: tuple[str, ...] = ()
    """Years of two digits taken for this century and for the last one, where both occur."""
    alike: tuple[str, ...] = ()
    """Two texts that stand for one number."""


@dataclass(frozen=True)
class Profile:
    """What is known of a column before it is coded."""

    reading: Reading
    kind: Kind
    """What it holds once it is read."""
    counts: ValueCounts | None
    """Its values; None when there are more than `DISTINCT_LIMIT`."""
    missing: int
    """Rows in which it is missing, user-given codes included."""
    rows: int
    taken: Taken = Taken()
    in_order: bool = False
    """Whether categories have an order that their type gives them; `counts` are in it."""

    @property
    def column(self) -> str:
        """The column's name."""
        return self.reading.column

    @property
    def distinct(self) -> int:
        """How many distinct values there are, or the least number that there can be."""
        return DISTINCT_LIMIT + 1 if self.counts is None else len(self.counts.values)

    @property
    def recorded(self) -> int:
        """Rows in which the column is not missing."""
        return self.rows - self.missing

    @property
    def is_scattered(self) -> bool:
        """Whether a text hardly ever comes again, though not every row has its own."""
        enough = self.recorded >= LEAST_ROWS and not self.in_order
        return enough and self.kind is Kind.TEXT and 2 * self.distinct > self.recorded

    @property
    def is_identifier(self) -> bool:
        """Whether nearly every row has a value of its own, and the column measures nothing."""
        if self.recorded < LEAST_ROWS or self.distinct < IDENTIFIER_SHARE * self.recorded:
            return False
        if self.in_order:
            return False
        if self.kind is Kind.TEXT:
            return True
        if self.kind not in (Kind.INTEGER, Kind.NUMBER) or self.taken.measures:
            return False
        if self.counts is None:
            return self.kind is Kind.INTEGER
        values = self.counts.values
        whole = np.all(values == np.floor(values)) and np.abs(values).max() < EXACT_INTEGERS
        if not whole:
            return False
        consecutive = values[-1] - values[0] + 1 == len(values)
        return bool(consecutive or self.recorded >= IDENTIFIER_ROWS)
