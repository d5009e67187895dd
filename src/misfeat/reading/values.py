"""Single values: what counts as missing, one spelling for equal values, and their labels.

A table read by two libraries may hold the same value as ``1``, ``1.0``, ``numpy.int8(1)`` or
``Decimal(1)``. Everything after this module sees one spelling, so that cohorts come out identical
whichever library or engine the table came from.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting

Value = Any  # A canonical value: bool, int, float, str, or a naive datetime (UTC if it had a zone)
PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
MISSING_LABEL = "missing"
COLUMN_NAME = "The name of the column"
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
LARGEST_INTEGER = 2**63 - 1  # The largest integer that every engine can compare with
INT64 = range(-(2**63), 2**63)  # Those that 64 bits hold
EXACT_INTEGERS = 2**53  # Floats below this magnitude hold every integer exactly


def canonical(value: Any) -> Value:
    """Return the one spelling of a value, or None when it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, Decimal):
        value = float(value) if value.is_finite() or value.is_infinite() else math.nan
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() and abs(value) < EXACT_INTEGERS else value
    if isinstance(value, dt.datetime):
        if value != value:  # pandas.NaT
            return None
        if hasattr(value, "to_pydatetime"):
            value = value.to_pydatetime(warn=False)
        return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    # pandas.NA, the one missing value that is none of the above, is unequal even to itself.
    return None if type(value).__name__ == "NAType" else str(value)


def check_text(texts: Iterable[str | None], what: str | Setting, column: str | None = None) -> None:
    """Refuse text with half a character (a lone surrogate): nothing could save or print it."""
    for text in texts:
        if text is not None and not text.isascii() and _HALF_CHARACTER.search(text):
            raise MisfeatError(
                f"{what} {text!r} holds half a character (a lone surrogate), which no file can "
                "hold; replace it.",
                column=column,
            )


def label(value: Value) -> str:
    """Spell a canonical value for people."""
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    return value if isinstance(value, str) else str(value)


def sort_key(value: Value) -> tuple[str, Value]:
    """Order canonical values of one column, also where their types are mixed."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number" if is_number else type(value).__name__, value)


def read_number(text: object) -> float | int | None:
    """Read a plainly written number, or None when it is not one."""
    if isinstance(text, str):
        return canonical(float(text)) if PLAIN_NUMBER.fullmatch(text) else None
    number = canonical(text)
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


@dataclass(frozen=True)
class MissingCodes:
    """The values that a user says stand for "missing", such as ``"?"``, ``-9`` or ``0``."""

    everywhere: tuple[Value, ...] = ()
    by_column: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, missing_values: object) -> "MissingCodes":
        """Read the ``missing_values`` parameter: None, a value, a list, or a dict by column."""
        if missing_values is None:
            return cls()
        if isinstance(missing_values, Mapping):
            columns = {name: _as_codes(codes, name) for name, codes in missing_values.items()}
            return cls(columns.pop("*", ()), columns)
        return cls(_as_codes(missing_values))

    def numbers(self, column: str) -> tuple[float | int, ...]:
        """The codes to look for in a column of numbers."""
        return tuple(n for n in map(read_number, self._of(column)) if n is not None)

    def labels(self, column: str) -> tuple[str, ...]:
        """The codes to look for in any other column, by their labels."""
        return tuple(map(label, self._of(column)))

    def holds(self, column: str, value: Value) -> bool:
        """Whether a value means missing, by what it is and not by how it is written."""
        number = read_number(value)
        if number is None:
            return label(value) in self.labels(column)
        return number in self.numbers(column)

    def _of(self, column: str) -> tuple[Value, ...]:
        return self.everywhere + tuple(self.by_column.get(column, ()))


def _as_codes(codes: object, column: str | None = None) -> tuple[Value, ...]:
    if isinstance(codes, str | bytes) or not hasattr(codes, "__iter__"):
        codes = [codes]
    given = [codes] if isinstance(codes, Mapping) else list(codes)
    for code in given:
        if callable(code) or (isinstance(code, Mapping | Sequence) and not isinstance(code, str)):
            raise MisfeatError(
                f"{Setting('missing_values', code, column)}; a value that means missing is a "
                "text, a number, a flag or a date."
            )
    parsed = tuple(canonical(code) for code in given)
    return tuple(code for code in parsed if code is not None)
