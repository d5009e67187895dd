"""Columns in memory: values as an array, text and flags by their positions among distinct ones.

Columns of Python objects are sorted out once: numbers, dates, flags, text, or nothing usable.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coders import Kind, Reading
from misfeat.cohorts.values import EXACT_INTEGERS, Value, canonical, check_values, label
from misfeat.cohorts.written_numbers import replaced
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_CONTAINERS = (list, dict, set, np.ndarray)


@dataclass(frozen=True)
class Held:
    """One column in a form that is quick to code."""

    kind: Kind
    values: NDArray[Any]
    """Numbers or ``datetime64[us]``; for text and flags the position in `distinct`."""
    missing: Mask
    """Which rows are missing; what `values` holds there means nothing."""
    distinct: NDArray[np.object_] | None = None
    """The distinct canonical values of text and flags."""

    @classmethod
    def of(cls, values: NDArray[Any], name: str) -> Held:
        """The column of a table that an array is."""
        if values.ndim != 1:
            raise MisfeatError(
                "Column {column!r} has {n} dimensions; pass one value per row.",
                column=name,
                n=values.ndim,
            )
        match values.dtype.kind:
            case "i":
                return cls(Kind.INTEGER, values, np.zeros(len(values), dtype=bool))
            case "u" if values.dtype.itemsize < 8:
                return cls.of(values.astype(np.int64), name)
            case "u" | "f":
                numbers = values.astype(np.float64)
                return cls(Kind.NUMBER, numbers, np.isnan(numbers))
            case "M":
                times = values.astype("datetime64[us]")
                return cls(Kind.TIME, times, np.isnat(times))
            case "b":
                return cls.of_positions(Kind.FLAG, values.astype(np.int64), [False, True])
            case "U" | "T" | "O" | "S":
                return cls._of_objects(values.tolist(), name)
        return cls.unsupported(len(values))

    @classmethod
    def _of_objects(cls, values: list[Any], name: str) -> Held:
        if {*map(type, values)} in ({str}, {str, type(None)}):
            check_values(dict.fromkeys(values), name)
            return cls._of_distinct(Kind.TEXT, values)
        kind, settled = settle_objects(values, name)
        if kind is Kind.UNSUPPORTED:
            return cls.unsupported(len(values))
        if kind is Kind.INTEGER:
            missing = np.array([value is None for value in settled], dtype=bool)
            return cls(kind, np.where(missing, 0, settled).astype(np.int64), missing)
        if kind is Kind.NUMBER:
            return cls(kind, settled, np.isnan(settled))
        if kind is Kind.TIME:
            return cls(kind, settled, np.isnat(settled))
        return cls._of_distinct(kind, settled)

    @classmethod
    def _of_distinct(cls, kind: Kind, values: Iterable[Value]) -> Held:
        """Texts or flags, None where there is none, by their positions among the distinct ones."""
        listed = list(values)
        seen = dict.fromkeys(listed)
        seen.pop(None, None)
        position = {value: number for number, value in enumerate(seen)} | {None: -1}
        positions = np.fromiter(map(position.__getitem__, listed), np.int64, len(listed))
        return cls.of_positions(kind, positions, list(seen))

    @classmethod
    def of_positions(
        cls, kind: Kind, positions: NDArray[np.int64], distinct: Sequence[Value]
    ) -> Held:
        """Texts or flags by their positions among distinct ones, -1 where there is none."""
        known = np.empty(len(distinct), dtype=object)
        known[:] = distinct
        return cls(kind, positions, positions < 0, known)

    @classmethod
    def unsupported(cls, n_rows: int) -> Held:
        """A column of which nothing can be made."""
        return cls(Kind.UNSUPPORTED, np.zeros(n_rows), np.ones(n_rows, dtype=bool))

    def read(self, reading: Reading) -> Held:
        """Leave out what means missing, and read text as numbers where asked to."""
        if self.distinct is None and not reading.missing:
            return self
        if self.distinct is None:
            codes = np.array(reading.missing, dtype=self.values.dtype)
            return Held(self.kind, self.values, self.missing | np.isin(self.values, codes))
        mean_missing = set(reading.missing)
        is_code = np.array([*(value in mean_missing for value in self.distinct), True])
        missing = is_code[self.values]
        if reading.texts:
            return self._looked_up(reading, missing)
        if not reading.as_number:
            return Held(self.kind, self.values, missing, self.distinct)
        numbers = np.array(
            [
                np.nan if is_missing else float(replaced(text, reading.pieces))
                for text, is_missing in zip(self.distinct, is_code, strict=False)
            ]
        )
        return Held(Kind.NUMBER, np.append(numbers, np.nan)[self.values], missing)

    def present(self) -> NDArray[Any]:
        """What `values` holds where nothing is missing."""
        return self.values[~self.missing] if self.missing.any() else self.values

    def _looked_up(self, reading: Reading, missing: Mask) -> Held:
        assert self.distinct is not None  # noqa: S101  (only text is looked up)
        stands_for = dict(zip(reading.texts, reading.values, strict=True))
        found = [stands_for.get(text) for text in self.distinct] + [None]
        if isinstance(reading.values[0], dt.datetime):
            return Held(Kind.TIME, np.array(found, dtype="datetime64[us]")[self.values], missing)
        return Held(Kind.NUMBER, np.array(found, dtype=np.float64)[self.values], missing)

    def of_rows(self, rows: Mask) -> Held:
        """Some rows of the column."""
        return Held(self.kind, self.values[rows], self.missing[rows], self.distinct)

    def spelled(self, rows: Mask) -> NDArray[Any]:
        """The values themselves, for some rows."""
        return self.values[rows] if self.distinct is None else self.distinct[self.values[rows]]


def settle_objects(values: Iterable[Any], column: str) -> tuple[Kind, NDArray[Any]]:
    """Find what a column of objects holds, and bring its values to one type.

    Numbers become float64 with NaN, dates ``datetime64[us]`` with NaT, all else objects with None:
    bool for flags, str for text, int for integers of 64 bits that floats would round. Values of
    several types become their labels. A list or another container is `UNSUPPORTED`.

    Examples
    --------
    >>> settle_objects([1, None, 2.5], "x")
    (<Kind.NUMBER: 'number'>, array([1. , nan, 2.5]))
    >>> settle_objects([1, "a", None], "x")
    (<Kind.TEXT: 'text'>, array(['1', 'a', None], dtype=object))
    """
    listed = list(values)
    if any(isinstance(value, _CONTAINERS) for value in listed):
        return Kind.UNSUPPORTED, np.empty(len(listed), dtype=object)
    plain = [canonical(value) for value in listed]
    types = {type(value) for value in plain} - {type(None)}
    if types == {int} and _need_integers(plain):
        return Kind.INTEGER, _objects(plain)
    if types and types <= {int, float}:
        return Kind.NUMBER, np.array([np.nan if v is None else v for v in plain], dtype=np.float64)
    if types and all(not issubclass(t, bool | int | float | str) for t in types):
        return Kind.TIME, np.array(plain, dtype="datetime64[us]")
    if types == {bool}:
        return Kind.FLAG, _objects(plain)
    texts = [None if value is None else label(value) for value in plain]
    check_values(texts, column)
    return Kind.TEXT, _objects(texts)


def _need_integers(values: list[Value]) -> bool:
    """Whether integers differ where floats would not, and 64 bits hold them all."""
    known = [value for value in values if value is not None]
    return max(map(abs, known)) >= EXACT_INTEGERS and all(-(2**63) <= v < 2**63 for v in known)


def _objects(values: list[Value]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
