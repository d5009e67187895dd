"""The columns of a table in an engine as expressions: read, compared, coded, and multiplied.

An expression is a plan that narwhals hands to whichever engine holds the table. What engines cannot
do, or do differently, is settled here.

Quantiles are exact. The range of a column is cut into many equal parts, and the engine counts the
values in each. Parts that hold a wanted rank are cut again until they hold few values, which are
then counted one by one. Ranks are integers and values are only compared.
"""

import datetime as dt
import operator
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from misfeat.exceptions import MisfeatError
from misfeat.reading.coders import CategoryCoder, Coder, EdgeCoder, Kind, Reading, joined
from misfeat.reading.table_statistics import Variable, kind_of_type, numpy_of, ranks_of
from misfeat.reading.values import canonical
from misfeat.runtime.array_types import Integers

Collect = Callable[[nw.LazyFrame[Any]], nw.DataFrame[Any]]
FEW_CASES = 32  # Values that are told apart one after the other
N_PARTS = 2**14  # Parts that a range is cut into at once: few counts for an engine to hold
FEW_VALUES = 200_000  # Parts with at most so many rows are counted value by value
WIDEST = 8e307  # Ranges beyond this would overflow; what lies outside is a part of its own
MOST_LOOKED_UP = 1000  # Texts whose numbers an engine looks up, for correlations

VALUE, TIMES, COUNT = "value", "times", "n_rows"
_BUCKET, _LOW, _HIGH = "bucket", "low", "high"


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


def as_counts(series: nw.Series[Any]) -> Integers:
    """Whole numbers that an engine counted."""
    return numpy_of(series).astype(np.int64, copy=False)


class RankedColumn:
    """A numeric column without missing values, by parts of its range.

    Of every part the smallest and the largest value and the number of rows are known. Parts that
    hold a wanted rank are cut further, and what was counted is kept for further ranks.
    """

    def __init__(self, rows: nw.LazyFrame[Any], collect: Collect) -> None:
        self._rows, self._collect = rows, collect
        repeats = TIMES in rows.collect_schema().names()
        value, count = nw.col(VALUE), nw.col(TIMES).sum() if repeats else nw.len()
        self._sums = [value.min().alias(_LOW), value.max().alias(_HIGH), count.alias(COUNT)]
        self._low: NDArray[Any] = np.empty(0)
        self._high: NDArray[Any] = np.empty(0)
        self._count = np.empty(0, dtype=np.int64)

    def quantiles(self, shares: Sequence[float | Fraction]) -> list[Any]:
        """The smallest values with at least given shares, 0 to 1, of the rows at or below them."""
        if not len(self._count):
            whole = self._collect(self._rows.select(*self._sums))
            if not whole[COUNT][0]:
                return []
            self._low, self._high, self._count = _parts(whole)
        while True:
            ends = np.cumsum(self._count)
            at = np.searchsorted(ends, ranks_of(shares, int(ends[-1])), side="left")
            wide = np.unique(at[self._low[at] != self._high[at]]).tolist()
            if not wide:
                quantiles: list[Any] = self._low[at].tolist()
                return quantiles
            self._cut(wide)

    def _cut(self, parts: list[int]) -> None:
        """Cut the first part of many rows into `N_PARTS`, or all parts into their values."""
        value, bucket = nw.col(VALUE), nw.col(VALUE)
        for part in parts:
            low = max(float(self._low[part]), -WIDEST)
            high = min(float(self._high[part]), WIDEST)
            scale = N_PARTS / (high - low) if high > low else inf
            if self._count[part] > FEW_VALUES and isfinite(scale):  # else values lie too close
                number = value.cast(nw.Float64)
                inside = ((number - low) * scale).floor()
                bucket = (
                    nw.when(number > high)
                    .then(nw.lit(float(N_PARTS + 1)))
                    .otherwise(nw.when(number < low).then(nw.lit(-1.0)).otherwise(inside))
                    .cast(nw.Int64)  # PostgreSQL makes decimals of what is rounded down
                )
                parts = [part]
                break
        within = [
            (value >= low) & (value <= high)
            for low, high in zip(self._low[parts].tolist(), self._high[parts].tolist(), strict=True)
        ]
        rows = self._rows.filter(joined(operator.or_, within)).with_columns(bucket.alias(_BUCKET))
        lows, highs, counts = _parts(self._collect(rows.group_by(_BUCKET).agg(*self._sums)))
        lows = np.concatenate([np.delete(self._low, parts), lows])
        order = np.argsort(lows, kind="stable")
        self._low = lows[order]
        self._high = np.concatenate([np.delete(self._high, parts), highs])[order]
        self._count = np.concatenate([np.delete(self._count, parts), counts])[order]


def _parts(counted: nw.DataFrame[Any]) -> tuple[NDArray[Any], NDArray[Any], Integers]:
    """The smallest and the largest value of every part, and its rows."""
    return numpy_of(counted[_LOW]), numpy_of(counted[_HIGH]), as_counts(counted[COUNT])
