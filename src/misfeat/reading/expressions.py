"""The columns of a dataframe as expressions: read, compared, coded, and multiplied.

An expression is a plan that narwhals hands to whichever library or engine holds the table. What
engines cannot do, or do differently, is settled here.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import narwhals as nw

from misfeat.exceptions import MisfeatError
from misfeat.reading.coders import (
    CategoryCoder,
    Coder,
    EdgeCoder,
    Kind,
    PredicateCoder,
    Reading,
    joined,
    that_may_occur,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from misfeat.reading.table import Variable


_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_CATEGORICALS = (nw.Categorical, nw.Enum)
_HALF = 2**32
FEW_CASES = 32
"""Values that are told apart one after the other."""
MOST_LOOKED_UP = 1000
"""Texts whose numbers an engine looks up; only predicates and correlations need the numbers."""


@dataclass(frozen=True)
class ColumnExpressions:
    """Expressions for the columns of one table."""

    inner: Mapping[str, str]
    """The name that each column goes by inside the engine."""
    schema: nw.Schema
    """The type of each column, by its inner name."""
    implementation: nw.Implementation

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        dtype = self.schema[self.inner[column]]
        return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        dtype = self.schema[self.inner[column]]
        if dtype in _INTEGERS:
            return Kind.INTEGER
        if dtype.is_numeric():
            return Kind.NUMBER
        if dtype == nw.Boolean:
            return Kind.FLAG
        if dtype in (nw.String, *_CATEGORICALS):
            return Kind.TEXT
        return Kind.TIME if dtype in (nw.Date, nw.Datetime) else Kind.UNSUPPORTED

    def value(self, column: str) -> nw.Expr:
        """A column in the type that it is compared in."""
        value, dtype = nw.col(self.inner[column]), self.schema[self.inner[column]]
        if self.kind(column) is Kind.NUMBER:
            return value.cast(nw.Float64)
        if self.kind(column) is Kind.INTEGER and dtype != nw.Int64:
            # PyArrow compares with no integer that the type cannot hold; Dask casts no nulls.
            return value if self.implementation.is_dask() else value.cast(nw.Int64)
        if dtype in _CATEGORICALS:
            # pandas 2 casts a missing category to the text "nan".
            return nw.when(~value.is_null()).then(value.cast(nw.String))
        if isinstance(dtype, nw.Datetime):
            if dtype.time_zone is not None and _zone(dtype.time_zone) is None:
                value, dtype = (
                    value.dt.convert_time_zone("UTC"),
                    nw.Datetime(dtype.time_unit, "UTC"),
                )
            # Edges are exact to the microsecond, and so must values be.
            return (
                value.cast(nw.Datetime("us", dtype.time_zone)) if dtype.time_unit == "ns" else value
            )
        return value

    def read(self, reading: Reading) -> nw.Expr:
        """A column as it is read, text as numbers where asked to."""
        value = self.value(reading.column)
        if reading.texts:
            return self._looked_up(value, reading)
        if reading.as_number:
            for piece, by in reading.pieces:
                value = value.str.replace_all(piece, by, literal=True)
            # A null must stand where a code was before text is cast to numbers.
            value = nw.when(~self.is_missing(reading)).then(value).cast(nw.Float64)
        return value

    def _looked_up(self, value: nw.Expr, reading: Reading) -> nw.Expr:
        if len(reading.texts) > MOST_LOOKED_UP:
            raise MisfeatError(
                "Column {column!r} holds numbers as text in {n:,} ways, too many to look up in "
                "every row; convert it to numbers first.",
                column=reading.column,
                n=len(reading.texts),
            )
        found = (
            nw.when(value == text).then(nw.lit(float(number))).otherwise(nw.lit(0.0))
            for text, number in zip(reading.texts, reading.values, strict=True)
        )
        return joined(operator.add, [nw.lit(0.0), *found])

    def is_missing(self, reading: Reading) -> nw.Expr:
        """Whether a value is null, not a number, or one that means missing."""
        value = self.value(reading.column)
        missing = value.is_null()
        if self.kind(reading.column) is Kind.NUMBER:
            missing = missing | self._is_nan(value)
        if not reading.missing:
            return missing
        if self.kind(reading.column) is Kind.TIME:
            codes = [value == self._constant(reading.column, code) for code in reading.missing]
            return missing | joined(operator.or_, [*map(_false_where_null, codes)])
        return missing | _false_where_null(self._is_in(value, reading.missing, reading.column))

    def _is_nan(self, value: nw.Expr) -> nw.Expr:
        """Whether a number is none.

        The statistics of a Parquet file leave such values out, and DuckDB concludes from them that
        there are none; of what is finite it concludes nothing.
        """
        if not self.implementation.is_duckdb():
            return value.is_nan()
        return ~value.is_finite() & (value != math.inf) & (value != -math.inf)

    def _is_in(self, value: nw.Expr, constants: Sequence[Any], column: str) -> nw.Expr:
        chosen = that_may_occur(tuple(constants), self.kind(column) is Kind.INTEGER)
        return value.is_in(chosen) if chosen else nw.lit(False)

    def key(self, coders: Sequence[Coder], bases: Sequence[int]) -> nw.Expr:
        """The codes of a row as the digits of one mixed-radix number."""
        digits = zip(map(self._code, coders), bases, strict=True)
        return reduce(_append_digit, digits, nw.lit(0, dtype=nw.Int64))

    def number(self, variable: Variable) -> nw.Expr:
        """The values of a variable less its centre, 0 where missing."""
        if variable.coder is not None:
            value = self._code(variable.coder).cast(nw.Float64)
        else:
            value = self._as_float(variable.reading)
        missing = self.is_missing(variable.reading)
        return nw.when(missing).then(nw.lit(0.0)).otherwise(value - variable.centre)

    def _as_float(self, reading: Reading) -> nw.Expr:
        """A number as the nearest float."""
        value = self.read(reading)
        if self.implementation.is_pyarrow() and self.kind(reading.column) is Kind.INTEGER:
            # PyArrow casts no integer that a float would round: it is cast in two halves.
            high = value // _HALF
            low = value - high * _HALF
            return high.cast(nw.Float64) * float(_HALF) + low.cast(nw.Float64)
        return value.cast(nw.Float64)

    def _code(self, coder: Coder) -> nw.Expr:
        match coder:
            case EdgeCoder(reading=reading) if reading.texts:
                code = _code_in_lists(self.value(reading.column), coder.codes_of_texts())
                missing = self.is_missing(reading)
            case EdgeCoder(reading=reading, edges=edges):
                constants = [self._constant(reading.column, edge) for edge in edges]
                code = _edges_below(self.read(reading), constants)
                missing = self.is_missing(reading)
            case CategoryCoder(reading=reading, values=values):
                code = self._position(self.read(reading), values, other=len(coder.labels) - 1)
                missing = self.is_missing(reading)
            case PredicateCoder(readings=readings, predicate=predicate):
                by_name = {reading.column: reading for reading in readings}
                held = predicate.evaluate(
                    lambda name: self.read(by_name[name]),
                    _false_where_null,
                    lambda name, among: self._is_in(self.read(by_name[name]), among, name),
                )
                code = one_where(held)
                missing = joined(operator.or_, [*map(self.is_missing, readings)])
        return nw.when(missing).then(nw.lit(len(coder.labels))).otherwise(code).cast(nw.Int64)

    def _position(self, value: nw.Expr, values: Sequence[Any], other: int) -> nw.Expr:
        """The position of a value in a list, or `other`."""
        if not values:
            return nw.lit(other)
        if self.implementation.is_duckdb() and len(values) <= FEW_CASES:
            # Several times faster than DuckDB's maps, above all for flags.
            last = nw.lit(other)
            for code in range(len(values) - 1, -1, -1):
                last = nw.when(value == values[code]).then(nw.lit(code)).otherwise(last)
            return last
        if not (self.implementation.is_dask() or self.implementation.is_ibis()):
            return value.replace_strict(
                list(values), list(range(len(values))), default=other, return_dtype=nw.Int64
            )
        # Dask replaces within the type of the text, and Ibis by way of JSON in PostgreSQL.
        found = (one_where(value == v) * (code - other) for code, v in enumerate(values))
        return joined(operator.add, [nw.lit(other), *found])

    def _constant(self, column: str, value: Any) -> Any:
        """A value in the type of its column: dates stay dates, zones stay zones."""
        dtype = self.schema[self.inner[column]]
        if not isinstance(value, dt.datetime):
            return value
        if dtype == nw.Date:
            return nw.lit(value.date())
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
            zone = _zone(dtype.time_zone) or dt.UTC
            value = value.replace(tzinfo=dt.UTC).astimezone(zone)
        return nw.lit(value)


def one_where(flag: nw.Expr) -> nw.Expr:
    """1 where a flag holds, 0 where not or null: PostgreSQL casts no flags, Dask no nulls.

    The cast is there because Ibis believes that sums of small literals need no wider type.
    """
    return nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)


def _code_in_lists(value: nw.Expr, codes: Mapping[str, int]) -> nw.Expr:
    """The code of a text, looked up in a list for each code but the one with the longest list."""
    texts: dict[int, list[str]] = {}
    for text, code in codes.items():
        texts.setdefault(code, []).append(text)
    rest = max(texts, key=lambda code: len(texts[code]))
    found = (
        one_where(value.is_in(among)) * (code - rest)
        for code, among in texts.items()
        if code != rest
    )
    return joined(operator.add, [nw.lit(rest), *found])


def _zone(name: str) -> ZoneInfo | None:
    """A time zone by its name; offsets such as "+05:30" have none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _append_digit(key: nw.Expr, digit: tuple[nw.Expr, int]) -> nw.Expr:
    code, base = digit
    return key * nw.lit(base) + code


def _false_where_null(flag: nw.Expr) -> nw.Expr:
    """Settle a comparison: pandas cannot join nulls of different types of flags."""
    return flag.fill_null(False)


def _edges_below(value: nw.Expr, edges: Sequence[Any], before: int = 0) -> nw.Expr:
    """How many edges lie below a value, by halving: a chain of a thousand overruns stacks."""
    if not edges:
        return nw.lit(before)
    middle = len(edges) // 2
    return (
        nw.when(value > edges[middle])
        .then(_edges_below(value, edges[middle + 1 :], before + middle + 1))
        .otherwise(_edges_below(value, edges[:middle], before))
    )
