"""Every call into a dataframe library or engine, through narwhals: the one place that knows them.

pandas, polars (eager and lazy), PyArrow, DuckDB, PySpark, Dask and Ibis tables answer the same few
questions. Work stays inside the engine; only counts come out.
"""

from __future__ import annotations

import datetime as dt
from functools import reduce
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np

from misfeat.cohorts.coding import (
    CategoryCoder,
    CodedRows,
    Coder,
    EdgeCoder,
    Kind,
    PredicateCoder,
    Reading,
    radices,
    split_into_keys,
    unpack_keys,
)
from misfeat.cohorts.table import ValueCounts, tally
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_COUNT = "n_rows"
_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_CATEGORICALS = (nw.Categorical, nw.Enum)
_TEXTS = (nw.String, nw.Object, nw.Unknown, *_CATEGORICALS)
_EAGER_BACKENDS = ("pandas", "polars", "pyarrow")


class DataFrameTable:
    """A table held by a dataframe library or an engine.

    Parameters
    ----------
    native : dataframe, lazy frame or relation
        Anything that narwhals wraps.
    on_close : callable, default=None
        Called when the table is not read any more.
    """

    def __init__(self, native: Any, on_close: Callable[[], None] | None = None) -> None:
        self._on_close = on_close
        _check_names(native)
        try:
            frame = nw.from_native(native)
        except TypeError as error:
            raise MisfeatError(
                f"A table cannot be made of a {type(native).__name__}; pass a dataframe (pandas, "
                "polars, PyArrow, DuckDB, PySpark, Dask, Ibis), a NumPy array, or a path."
            ) from error
        self._eager = frame if isinstance(frame, nw.DataFrame) else None
        self._lazy: nw.LazyFrame[Any] = frame.lazy()
        self._schema = self._lazy.collect_schema()
        self._implementation = frame.implementation

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._schema.names())

    @property
    def frame_backend(self) -> str | None:
        """The library that results should come back in; None where the engine has no frames."""
        name = "pandas" if self._implementation.is_dask() else str(self._implementation)
        return name if name in _EAGER_BACKENDS else None

    def with_column(self, name: str, values: Any) -> DataFrameTable:
        """Add a column of given values, row by row."""
        if self._eager is None:
            raise MisfeatError(
                "The target must be the name of a column when the table is lazy or lives in an "
                "engine, because rows have no order there; add it to the table and pass its name."
            )
        if nw.dependencies.is_into_series(values):
            values = nw.from_native(values, series_only=True).to_numpy()
        column = np.asarray(values)
        if column.shape != (len(self._eager),):
            raise MisfeatError(
                f"y has shape {column.shape}, but X has {len(self._eager)} rows; pass one value "
                "a row."
            )
        if column.dtype.kind in "OU":
            column = column.tolist()
        series = nw.new_series(name, column, backend=self._implementation)
        return DataFrameTable(self._eager.with_columns(_aligned(series, self._eager)).to_native())

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        dtype = self._schema[column]
        if dtype in _INTEGERS:
            return Kind.INTEGER
        if dtype.is_numeric():
            return Kind.NUMBER
        if dtype == nw.Boolean:
            return Kind.FLAG
        if dtype in _TEXTS:
            return Kind.TEXT
        return Kind.TIME if dtype in (nw.Date, nw.Datetime) else Kind.UNSUPPORTED

    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._one(nw.len()))

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        kind = self.kind(column)
        counted = (
            self._lazy.select(self._value(column).alias(column))
            .group_by(column)
            .agg(nw.len().alias(_COUNT if column != _COUNT else f"{_COUNT}_"))
            .head(limit + 1)
            .collect()
        )
        if len(counted) > limit:
            return None
        values, counts = counted[column], _as_counts(counted.get_column(counted.columns[1]))
        null = values.is_null().to_numpy().astype(bool)
        present = values.filter(~values.is_null())
        listed = present.to_numpy() if kind in (Kind.INTEGER, Kind.NUMBER) else present.to_list()
        found = tally(listed, counts[~null], kind)
        return ValueCounts(found.values, found.counts, found.missing + int(counts[null].sum()))

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        flag = nw.when(self._is_missing(reading)).then(nw.lit(1)).otherwise(nw.lit(0))
        return int(self._one(flag.sum()))

    def quantiles(self, reading: Reading, probabilities: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, as the engine computes them, missing rows left out."""
        present = self._lazy.filter(~self._is_missing(reading)).select(
            self._read(reading).alias("value")
        )
        if self._implementation.is_dask():  # narwhals does not forward quantiles to Dask
            native = nw.to_native(present)["value"].quantile(list(probabilities))
            return [float(value) for value in native.compute()]
        quantiles = present.select(
            nw.col("value").quantile(p, interpolation="linear").alias(f"q{i}")
            for i, p in enumerate(probabilities)
        ).collect()
        return [float(quantiles[name][0]) for name in quantiles.columns]

    def count_codes(self, coders: Sequence[Coder]) -> CodedRows:
        """Code every row and collapse equal ones, in one group-by inside the engine."""
        bases = radices(coders)
        names: list[str] = []
        keys: list[nw.Expr] = []
        for run in split_into_keys(bases):
            names.append(f"key_{len(names)}")
            digits = zip(map(self._code, coders[run]), bases[run], strict=True)
            keys.append(reduce(_append_digit, digits, nw.lit(0, dtype=nw.Int64)).alias(names[-1]))
        counted = self._lazy.select(*keys).group_by(names).agg(nw.len().alias(_COUNT)).collect()
        packed = [counted[name].to_numpy().astype(np.int64, copy=False) for name in names]
        weights = _as_counts(counted[_COUNT])
        del counted  # with millions of rows, one copy of them is enough
        return unpack_keys(packed, weights, bases)

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        if self._on_close is not None:
            self._on_close()

    def _code(self, coder: Coder) -> nw.Expr:
        match coder:
            case EdgeCoder(reading=reading, edges=edges):
                value = self._read(reading)
                above = [value > self._constant(reading, edge) for edge in edges]
                code = reduce(_add, (flag.cast(nw.Int64) for flag in above), nw.lit(0))
                missing = self._is_missing(reading)
            case CategoryCoder(reading=reading, values=values):
                code = self._read(reading).replace_strict(
                    list(values),
                    list(range(len(values))),
                    default=len(coder.labels) - 1,
                    return_dtype=nw.Int64,
                )
                missing = self._is_missing(reading)
            case PredicateCoder(readings=readings, predicate=predicate):
                by_name = {reading.column: reading for reading in readings}
                code = predicate.evaluate(lambda name: self._read(by_name[name])).cast(nw.Int64)
                missing = reduce(_either, map(self._is_missing, readings))
        return nw.when(missing).then(nw.lit(len(coder.labels))).otherwise(code).cast(nw.Int64)

    def _value(self, column: str) -> nw.Expr:
        """A column in the type that it is compared in."""
        value, dtype = nw.col(column), self._schema[column]
        if self.kind(column) is Kind.NUMBER:
            return value.cast(nw.Float64)
        return value.cast(nw.String) if dtype in _CATEGORICALS else value

    def _read(self, reading: Reading) -> nw.Expr:
        value = self._value(reading.column)
        if reading.as_number:
            # A null must stand where a code was before text is cast to numbers.
            value = nw.when(~self._is_missing(reading)).then(value).cast(nw.Float64)
        return value

    def _is_missing(self, reading: Reading) -> nw.Expr:
        value, kind = self._value(reading.column), self.kind(reading.column)
        missing = value.is_null()
        if kind is Kind.NUMBER:
            missing = missing | value.is_nan()
        if kind in (Kind.INTEGER, Kind.NUMBER):
            codes: tuple[Any, ...] = reading.missing_numbers
            if kind is Kind.INTEGER:
                codes = tuple(int(code) for code in codes if code.is_integer())
        else:
            codes = reading.missing_texts if kind is Kind.TEXT else ()
        return reduce(_either, (value == code for code in codes), missing)

    def _constant(self, reading: Reading, value: Any) -> Any:
        """An edge in the type of its column: dates stay dates, zones stay zones."""
        dtype = self._schema[reading.column]
        if not isinstance(value, dt.datetime):
            return value
        if dtype == nw.Date:
            return nw.lit(value.date())
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
            value = value.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(dtype.time_zone))
        return nw.lit(value)

    def _one(self, expression: nw.Expr) -> Any:
        collected = self._lazy.select(expression.alias("one")).collect()
        value = collected["one"][0]
        return 0 if value is None else value


def result_frame(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """Make a dataframe of results in the user's library.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns; sequences of tuples become lists where the library has no tuples.
    backend : {"pandas", "polars", "pyarrow"} or None
        None takes the first of these that is installed.
    """
    if backend is None:
        backend = next((name for name in _EAGER_BACKENDS if find_spec(name)), None)
    if backend is None:
        raise MisfeatError(
            "Results come as dataframes, but no library for them is installed; install one of "
            "pandas, polars or pyarrow."
        )
    if backend != "pandas":
        columns = {
            name: [list(v) if isinstance(v, tuple) else v for v in values]
            for name, values in columns.items()
        }
    return nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]


def _check_names(native: Any) -> None:
    """Refuse names that narwhals would reject with a message about its own workings."""
    if nw.dependencies.is_polars_lazyframe(native):
        return  # polars lets no such names in, and asking a lazy frame for them is dear
    seen: set[object] = set()
    for name in getattr(native, "column_names", getattr(native, "columns", ())):
        if not isinstance(name, str):
            raise MisfeatError(
                f"Column names must be text, but one is {name!r} ({type(name).__name__}); "
                "rename it, in pandas for example with X.columns = X.columns.astype(str)."
            )
        if name in seen:
            raise MisfeatError(f"The table has two columns named {name!r}; rename or drop one.")
        seen.add(name)


def _aligned(series: nw.Series[Any], frame: nw.DataFrame[Any]) -> nw.Series[Any]:
    """Give a pandas series the index of its frame, so that rows pair by position."""
    index = nw.maybe_get_index(frame)
    return series if index is None else nw.maybe_set_index(series, index=index)


def _as_counts(series: nw.Series[Any]) -> NDArray[np.int64]:
    return np.asarray(series.to_numpy(), dtype=np.int64)


def _append_digit(key: nw.Expr, digit: tuple[nw.Expr, int]) -> nw.Expr:
    code, base = digit
    return key * nw.lit(base) + code


def _add(left: nw.Expr, right: nw.Expr) -> nw.Expr:
    return left + right


def _either(left: nw.Expr, right: nw.Expr) -> nw.Expr:
    return left | right
