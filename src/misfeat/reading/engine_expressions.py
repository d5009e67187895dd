"""The columns of a table in an engine as expressions: read, compared, coded, and multiplied.

An expression is a plan that narwhals hands to whichever engine holds the table. What engines cannot
do, or do differently, is settled here.
"""

import datetime as dt
import operator
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import narwhals as nw

from misfeat.exceptions import MisfeatError
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, Reading, joined
from misfeat.reading.memory_table import kind_of_type
from misfeat.reading.table_statistics import Variable
from misfeat.reading.values import canonical

FEW_CASES = 32  # Values that are told apart one after the other
MOST_LOOKED_UP = 1000  # Texts whose numbers an engine looks up, for correlations


@dataclass(frozen=True)
class ColumnExpressions:
    """Expressions for the columns of one table."""

    inner: Mapping[str, str]  # The name that each column goes by inside the engine
    schema: nw.Schema  # The type of each column, by its inner name
    implementation: nw.Implementation

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        return kind_of_type(self.schema[self.inner[column]])

    def value(self, column: str) -> nw.Expr:
        """A column in the type that it is compared in."""
        value, dtype = nw.col(self.inner[column]), self.schema[self.inner[column]]
        if self.kind(column) is Kind.NUMBER:
            return value.cast(nw.Float64)
        if self.kind(column) is Kind.INTEGER and dtype != nw.Int64:
            # Constants may be integers that the type cannot hold; Dask casts no nulls.
            return value if self.implementation.is_dask() else value.cast(nw.Int64)
        if dtype in (nw.Categorical, nw.Enum):
            # pandas 2 casts a missing category to the text "nan".
            return nw.when(~value.is_null()).then(value.cast(nw.String))
        if isinstance(dtype, nw.Datetime):
            zone = dtype.time_zone
            if zone is not None and _zone(zone) is None:
                value, zone = value.dt.convert_time_zone("UTC"), "UTC"
            # Edges are exact to the microsecond, and so must values be.
            return value.cast(nw.Datetime("us", zone)) if dtype.time_unit == "ns" else value
        return value

    def read(self, reading: Reading) -> nw.Expr:
        """A column as it is read, text as numbers where asked to."""
        value = self.value(reading.column)
        if reading.texts:
            if len(reading.texts) > MOST_LOOKED_UP:
                raise MisfeatError(
                    f"Column {reading.column!r} holds numbers as text in {len(reading.texts):,} "
                    "ways, too many to look up in every row; convert it to numbers first.",
                    column=reading.column,
                )
            numbers = (
                nw.when(value == text).then(nw.lit(float(number))).otherwise(nw.lit(0.0))
                for text, number in zip(reading.texts, reading.values, strict=True)
            )
            return joined(operator.add, [nw.lit(0.0), *numbers])
        if reading.as_number:
            for piece, by in reading.pieces:
                value = value.str.replace_all(piece, by, literal=True)
            # A null must stand where a code was before text is cast to numbers.
            value = nw.when(~self.is_missing(reading)).then(value).cast(nw.Float64)
        return value

    def is_missing(self, reading: Reading) -> nw.Expr:
        """Whether a value is null, not a number, or one that means missing."""
        value = self.value(reading.column)
        missing = value.is_null()
        if self.kind(reading.column) is Kind.NUMBER:
            is_nan = value.is_nan()
            if self.implementation.is_duckdb():  # it trusts statistics of Parquet, without NaN
                is_nan = ~value.is_finite() & (value != inf) & (value != -inf)
            missing = missing | is_nan
        if not reading.missing:
            return missing
        codes: list[nw.Expr]
        if self.kind(reading.column) is Kind.TIME:
            codes = [value == self._constant(reading.column, code) for code in reading.missing]
        else:
            chosen = list(map(canonical, reading.missing))  # then in the type of the column
            if self.kind(reading.column) is Kind.INTEGER:
                chosen = [code for code in chosen if not isinstance(code, float)]
            else:
                chosen = [float(code) if type(code) is int else code for code in chosen]
            codes = [value.is_in(chosen) if chosen else nw.lit(False)]
        # Settled: pandas cannot join nulls of different types of flags.
        return missing | joined(operator.or_, [code.fill_null(False) for code in codes])

    def key(self, coders: Sequence[Coder], bases: Sequence[int]) -> nw.Expr:
        """The codes of a row as the digits of one mixed-radix number."""
        key = nw.lit(0, dtype=nw.Int64)
        for code, base in zip(map(self._code, coders), bases, strict=True):
            key = key * nw.lit(base) + code
        return key

    def number(self, variable: Variable) -> nw.Expr:
        """The values of a variable less its centre, 0 where missing."""
        if variable.coder is not None:
            value = self._code(variable.coder).cast(nw.Float64)
        else:
            value = self.read(variable.reading).cast(nw.Float64)
        missing = self.is_missing(variable.reading)
        return nw.when(missing).then(nw.lit(0.0)).otherwise(value - variable.centre)

    def _code(self, coder: Coder) -> nw.Expr:
        match coder:
            case EdgeCoder(reading=reading, edges=edges) if reading.texts:
                # Looked up in a list for each code but the one with the longest list.
                texts: dict[int, list[str]] = {}
                for text, stands_for in zip(reading.texts, reading.values, strict=True):
                    texts.setdefault(bisect_left(edges, stands_for), []).append(text)
                rest = max(texts, key=lambda code: len(texts[code]))
                value = self.value(reading.column)
                found = (
                    one_where(value.is_in(among)) * (code - rest)
                    for code, among in texts.items()
                    if code != rest
                )
                code = joined(operator.add, [nw.lit(rest), *found])
                missing = self.is_missing(reading)
            case EdgeCoder(reading=reading, edges=edges):
                constants = [self._constant(reading.column, edge) for edge in edges]
                code = _edges_below(self.read(reading), constants)
                missing = self.is_missing(reading)
            case CategoryCoder(reading=reading, values=values):
                code = self._position(self.read(reading), values, other=len(coder.labels) - 1)
                missing = self.is_missing(reading)
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
    """1 where a flag holds, else 0: PostgreSQL casts no flags, Dask no nulls; Ibis needs a cast."""
    return nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)


def _zone(name: str) -> ZoneInfo | None:
    """A time zone by its name; offsets such as "+05:30" have none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


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
