"""What is asked of any dataframe, whichever library it is of: names, columns, and result frames."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.objects import settle_objects
from misfeat.exceptions import MisfeatError, Setting, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries that results can come back in, in the order of preference."""
_OBJECTS = (nw.Object, nw.Unknown)
<<<<<<< HEAD
=======
_EAGER_BACKENDS = ("pandas", "polars", "pyarrow")
PRODUCTS_A_QUERY = 64
"""Sums that are asked for at once: some libraries hold a column for each."""
_DASK_GRID = 1001
"""Dask merges the quantiles of its partitions, the better the more of them are asked for."""


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
        check_column_names(native)
        try:
            frame = nw.from_native(native)
        except TypeError as error:
            raise MisfeatError(
                f"A table cannot be made of a {type(native).__name__}; pass a dataframe (pandas, "
                "polars, PyArrow, DuckDB, PySpark, Dask, Ibis), a NumPy array, or a path."
            ) from error
        self._eager = frame if isinstance(frame, nw.DataFrame) else None
        self._implementation = frame.implementation
        names = frame.collect_schema().names()
        if not names:
            raise MisfeatError(NO_COLUMNS)
        # Some engines read a dot, a star or a pattern in a name, so none of the user's is used.
        self._inner = {name: f"column_{i}" for i, name in enumerate(names)}
        if self._implementation.is_spark_like():
            frame = nw.from_native(native.toDF(*self._inner.values()))
        else:
            frame = frame.rename(self._inner)
        if isinstance(frame, nw.DataFrame):
            frame = _with_objects_settled(frame)
        self._lazy: nw.LazyFrame[Any] = frame.lazy()
        self._schema = self._lazy.collect_schema()

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._inner)

    @property
    def frame_backend(self) -> str | None:
        """The library that results should come back in; None where the engine has no frames."""
        name = "pandas" if self._implementation.is_dask() else str(self._implementation)
        return name if name in _EAGER_BACKENDS else None

    def with_column(self, name: str, values: Any, what: str) -> DataFrameTable:
        """Add a column of given values, row by row; messages say what they are."""
        if self._eager is None:
            raise MisfeatError(
                f"{what} must be the name of a column when the table is lazy or lives in an "
                "engine, because rows have no order there; add it to the table, and pass its name "
                f"{'to SubgroupSelector' if what == 'groups' else 'as y'}."
            )
        if nw.dependencies.is_into_series(values):
            values = nw.from_native(values, series_only=True).to_numpy()
        column = np.asarray(values)
        if column.shape != (len(self._eager),):
            raise MisfeatError(
                f"{what} has shape {column.shape}, but X has {len(self._eager):,} rows; pass one "
                "value a row."
            )
        series = _new_series(name, column, self._eager)
        if series is None:
            raise MisfeatError(
                f"{what} holds values that cannot be scored; pass numbers, text or flags."
            )
        return DataFrameTable(self._eager.with_columns(series).to_native())

    def kind(self, column: str) -> Kind:
        """What the column holds."""
        dtype = self._schema[self._inner[column]]
        if dtype in _INTEGERS:
            return Kind.INTEGER
        if dtype.is_numeric():
            return Kind.NUMBER
        if dtype == nw.Boolean:
            return Kind.FLAG
        if dtype in (nw.String, *_CATEGORICALS):
            return Kind.TEXT
        return Kind.TIME if dtype in (nw.Date, nw.Datetime) else Kind.UNSUPPORTED

    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self._one(nw.len()))

    def value_counts(self, column: str, limit: int) -> ValueCounts | None:
        """The distinct values and their counts, or None where there are more than `limit`."""
        kind = self.kind(column)
        counted = (
            self._lazy.select(self._value(column).alias("value"))
            .group_by("value")
            .agg(nw.len().alias(_COUNT))
            .head(limit + 1)
            .collect()
        )
        if len(counted) > limit:
            return None
        values, counts = counted["value"], _as_counts(counted[_COUNT])
        null = values.is_null().to_numpy().astype(bool)
        present = values.filter(~values.is_null())
        listed = present.to_numpy() if kind in (Kind.INTEGER, Kind.NUMBER) else present.to_list()
        found = tally(listed, counts[~null], kind)
        return ValueCounts(found.values, found.counts, found.missing + int(counts[null].sum()))

    def count_missing(self, reading: Reading) -> int:
        """How many rows are missing."""
        return int(self._one(_one_where(self._is_missing(reading)).sum()))

    def quantiles(self, reading: Reading, probabilities: Sequence[float]) -> list[float]:
        """Quantiles of a numeric column, as the engine computes them, missing rows left out."""
        present = self._lazy.filter(~self._is_missing(reading)).select(
            self._read(reading).alias("value")
        )
        if self._implementation.is_dask():  # narwhals does not forward quantiles to Dask
            grid = np.union1d(np.linspace(0, 1, _DASK_GRID), probabilities)
            native = nw.to_native(present)["value"].astype("float64").quantile(list(grid)).compute()
            return [float(v) for v in native.to_numpy()[np.searchsorted(grid, probabilities)]]
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

    def sum_products(self, groups: Sequence[Coder], variables: Sequence[Variable]) -> GroupSums:
        """Sum products of variables over the rows of each combination of group codes."""
        bases = radices(groups)
        if len(split_into_keys(bases)) > 1:
            raise MisfeatError(
                f"The {len(groups)} groupings have too many combinations for measure='r2'; group "
                "by fewer columns."
            )
        digits = zip(map(self._code, groups), bases, strict=True)
        key = reduce(_append_digit, digits, nw.lit(0, dtype=nw.Int64)).alias("key")
        columns = [self._number(v).alias(f"x{i}") for i, v in enumerate(variables)]
        columns += [
            _one_where(~self._is_missing(v.reading)).cast(nw.Float64).alias(f"u{i}")
            for i, v in enumerate(variables)
            if v.has_gaps
        ]
        # A literal alone would make a column of one row in some libraries.
        rows = self._lazy.filter(~self._is_missing(variables[-1].reading)).with_columns(key)
        rows = rows.with_columns(*columns).select("key", *_made(variables))
        wanted = sums_wanted(variables)
        found: dict[tuple[str, int, int], NDArray[np.float64]] = {}
        for start in range(0, len(wanted), PRODUCTS_A_QUERY):
            batch = wanted[start : start + PRODUCTS_A_QUERY]
            products = [_product(kind, i, j).alias(f"s{n}") for n, (kind, i, j) in enumerate(batch)]
            summed = (
                rows.select("key", *products)
                .group_by("key")
                .agg(nw.len().alias(_COUNT), *(nw.col(f"s{n}").sum() for n in range(len(batch))))
                .collect()
            )
            keys = summed["key"].to_numpy().astype(np.int64)
            order = np.argsort(keys)
            counts = _as_counts(summed[_COUNT])[order]
            for n, which in enumerate(batch):
                found[which] = summed[f"s{n}"].to_numpy().astype(np.float64)[order]
        coded = unpack_keys([keys[order]], counts, bases) if groups else None
        codes = np.zeros((0, len(counts)), dtype=np.int64) if coded is None else coded.codes
        return group_sums(codes, counts, variables, found)

    def _number(self, variable: Variable) -> nw.Expr:
        """The values of a variable less its centre, 0 where missing."""
        if variable.coder is not None:
            value = self._code(variable.coder).cast(nw.Float64)
        else:
            value = self._read(variable.reading).cast(nw.Float64)
        missing = self._is_missing(variable.reading)
        return nw.when(missing).then(nw.lit(0.0)).otherwise(value - variable.centre)

    def close(self) -> None:
        """Give back what was opened to read the table; it is not read again."""
        if self._on_close is not None:
            self._on_close()

    def _code(self, coder: Coder) -> nw.Expr:
        match coder:
            case EdgeCoder(reading=reading, edges=edges):
                constants = [self._constant(reading.column, edge) for edge in edges]
                code = _edges_below(self._read(reading), constants)
                missing = self._is_missing(reading)
            case CategoryCoder(reading=reading, values=values):
                code = self._position(self._read(reading), values, other=len(coder.labels) - 1)
                missing = self._is_missing(reading)
            case PredicateCoder(readings=readings, predicate=predicate):
                by_name = {reading.column: reading for reading in readings}
                held = predicate.evaluate(lambda name: self._read(by_name[name]), _false_where_null)
                code = _one_where(held)
                missing = reduce(operator.or_, map(self._is_missing, readings))
        return nw.when(missing).then(nw.lit(len(coder.labels))).otherwise(code).cast(nw.Int64)

    def _position(self, value: nw.Expr, values: Sequence[Any], other: int) -> nw.Expr:
        """The position of a value in a list, or `other`."""
        if not (self._implementation.is_dask() or self._implementation.is_ibis()):
            return value.replace_strict(
                list(values), list(range(len(values))), default=other, return_dtype=nw.Int64
            )
        # Dask replaces within the type of the text, and Ibis by way of JSON in PostgreSQL.
        found = (_one_where(value == v) * (code - other) for code, v in enumerate(values))
        return _total([nw.lit(other), *found])

    def _value(self, column: str) -> nw.Expr:
        """A column in the type that it is compared in."""
        value, dtype = nw.col(self._inner[column]), self._schema[self._inner[column]]
        if self.kind(column) is Kind.NUMBER:
            return value.cast(nw.Float64)
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

    def _read(self, reading: Reading) -> nw.Expr:
        value = self._value(reading.column)
        if reading.as_number:
            # A null must stand where a code was before text is cast to numbers.
            value = nw.when(~self._is_missing(reading)).then(value).cast(nw.Float64)
        return value

    def _is_missing(self, reading: Reading) -> nw.Expr:
        value = self._value(reading.column)
        missing = value.is_null()
        if self.kind(reading.column) is Kind.NUMBER:
            missing = missing | value.is_nan()
        codes = (value == self._constant(reading.column, code) for code in reading.missing)
        return reduce(operator.or_, map(_false_where_null, codes), missing)

    def _constant(self, column: str, value: Any) -> Any:
        """A value in the type of its column: dates stay dates, zones stay zones."""
        dtype = self._schema[self._inner[column]]
        if not isinstance(value, dt.datetime):
            return value
        if dtype == nw.Date:
            return nw.lit(value.date())
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
            zone = _zone(dtype.time_zone) or dt.UTC
            value = value.replace(tzinfo=dt.UTC).astimezone(zone)
        return nw.lit(value)

    def _one(self, expression: nw.Expr) -> Any:
        collected = self._lazy.select(expression.alias("one")).collect()
        value = collected["one"][0]
        return 0 if value is None else value


def _made(variables: Sequence[Variable]) -> list[str]:
    gaps = [f"u{i}" for i, variable in enumerate(variables) if variable.has_gaps]
    return [*(f"x{i}" for i in range(len(variables))), *gaps]


def _product(kind: str, i: int, j: int) -> nw.Expr:
    """One of the products that `sums_wanted` names."""
    if kind == "first" and i == j:
        return nw.col(f"x{i}") * 1.0
    left, right = {"product": ("x", "x"), "first": ("x", "u"), "both": ("u", "u")}[kind]
    return nw.col(f"{left}{i}") * nw.col(f"{right}{j}")


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


def check_column_names(native: Any) -> None:
    """Refuse names that narwhals would reject with a message about its own workings."""
    if nw.dependencies.is_polars_lazyframe(native):
        return  # polars lets no such names in, and asking a lazy frame for them is dear
    seen: set[object] = set()
    for name in getattr(native, "column_names", getattr(native, "columns", ())):
        if isinstance(name, tuple):
            raise MisfeatError(
                f"Column names must be text, but one is {name!r}, of several levels; join them "
                "with X.columns = ['_'.join(map(str, name)) for name in X.columns]."
            )
        if not isinstance(name, str):
            raise MisfeatError(
                f"Column names must be text, but one is {name!r} ({type(name).__name__}); "
                "rename it, in pandas for example with X.columns = X.columns.astype(str)."
            )
        if name in seen:
            raise MisfeatError(f"The table has two columns named {name!r}; rename or drop one.")
        seen.add(name)


def _with_objects_settled(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Bring columns of Python objects to numbers, moments, flags or text."""
    columns = (name for name, dtype in frame.schema.items() if dtype in _OBJECTS)
    settled = [_new_series(name, frame[name].to_list(), frame) for name in columns]
    return frame.with_columns(*(series for series in settled if series is not None))


def _new_series(name: str, values: Any, frame: nw.DataFrame[Any]) -> nw.Series[Any] | None:
    """A series for a frame; None where its values are nothing that can be scored."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufbM":
        kind, settled = settle_objects(values)
        if kind is Kind.UNSUPPORTED:
            return None
        values = settled.tolist() if settled.dtype == object else settled
    series = nw.new_series(name, values, backend=frame.implementation)
    if nw.dependencies.is_pandas_series(series.to_native()):
        # pandas pairs rows by index, and keeps text and flags with nulls as objects.
        native = series.to_native().set_axis(frame.to_native().index)
        native = native.convert_dtypes() if native.dtype == object else native
        series = nw.from_native(native, series_only=True)
    return series


def _zone(name: str) -> ZoneInfo | None:
    """A time zone by its name; offsets such as "+05:30" have none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _as_counts(series: nw.Series[Any]) -> NDArray[np.int64]:
    return np.asarray(series.to_numpy(), dtype=np.int64)


def _append_digit(key: nw.Expr, digit: tuple[nw.Expr, int]) -> nw.Expr:
    code, base = digit
    return key * nw.lit(base) + code


def _false_where_null(flag: nw.Expr) -> nw.Expr:
    """Settle a comparison: pandas cannot join nulls of different types of flags."""
    return flag.fill_null(False)


def _one_where(flag: nw.Expr) -> nw.Expr:
    """1 where a flag holds, 0 where not or null: PostgreSQL casts no flags, Dask no nulls.

    The cast is there because Ibis believes that sums of small literals need no wider type.
    """
    return nw.when(flag).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64)


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


def _total(terms: Sequence[nw.Expr]) -> nw.Expr:
    """A sum, nested no deeper than need be: a thousand terms in a row overrun the stack."""
    while len(terms) > 1:
        terms = [reduce(operator.add, terms[i : i + 2]) for i in range(0, len(terms), 2)]
    return terms[0]
>>>>>>> wt-infra


def is_dataframe(X: object) -> bool:
    """Whether something is a dataframe, lazy frame or relation of a known library."""
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError:
        return True  # one in which two columns share a name, which is refused where it is read


def check_column_names(native: Any) -> None:
    """Refuse names that narwhals would reject with a message about its own workings."""
    if nw.dependencies.is_polars_lazyframe(native):
        return  # polars lets no such names in, and asking a lazy frame for them is slow
    seen: set[object] = set()
    for name in getattr(native, "column_names", getattr(native, "columns", ())):
        if isinstance(name, tuple):
            raise MisfeatError(
                "Column names must be text, but one is {column!r}, of several levels; join them "
                "with X.columns = ['_'.join(map(str, name)) for name in X.columns].",
                column=name,
            )
        if not isinstance(name, str):
            raise MisfeatError(
                "Column names must be text, but one is {column!r} ({kind}); rename it, in pandas "
                "for example with X.columns = X.columns.astype(str).",
                column=name,
                kind=type(name).__name__,
            )
        if name in seen:
            raise MisfeatError(
                "The table has two columns named {column!r}; rename or drop one.", column=name
            )
        seen.add(name)


def column_names(X: Any) -> list[str]:
    """The names of a dataframe's columns."""
    if not is_dataframe(X):
        raise MisfeatError(
            "A table of type {kind} is not known; pass a dataframe, an array or a mapping of "
            "columns.",
            kind=type(X).__name__,
        )
    check_column_names(X)
    return list(nw.from_native(X).collect_schema().names())


def with_columns_only(X: Any, names: Sequence[str]) -> Any:
    """A dataframe with some of its columns, in the same library, their types as they were."""
    return nw.from_native(X).select(*names).to_native()


def in_library(X: Any, library: str | None) -> Any:
    """A dataframe in a library: "pandas" or "polars", or as it is where None."""
    if library is None:
        return X
    frame = nw.from_native(X)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_pandas() if library == "pandas" else eager.to_polars()


def without_batch(X: Any) -> Any:
    """A table of PyArrow for a record batch, which has the same columns; else what was given."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    return X


def names_held(values: Any) -> list[Any] | None:
    """What a sequence, an array of one dimension or an index holds; None for anything else."""
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return list(values)
    if isinstance(values, np.ndarray) or nw.dependencies.is_pandas_index(values):
        return list(values.tolist()) if values.ndim == 1 else None
    return None


def only_column(values: Any, what: str) -> Any:
    """The column of a dataframe that has one, with its name; messages say what it is."""
    check_column_names(values)
    frame = nw.from_native(values)
    names = frame.collect_schema().names()
    if len(names) != 1:
        raise MisfeatError(
            "{what} has {n} columns ({names}); pass one value per row.",
            what=Setting(what),
            n=len(names),
            names=listed(names),
        )
    if isinstance(frame, nw.LazyFrame):
        raise MisfeatError(
            "{what} is lazy, so that its rows have no order; collect it first.", what=Setting(what)
        )
    return frame[names[0]].to_native()


def with_objects_settled(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Bring columns of Python objects to numbers, dates, flags or text."""
    columns = (name for name, dtype in frame.schema.items() if dtype in _OBJECTS)
    settled = [new_series(name, frame[name].to_list(), frame) for name in columns]
    return frame.with_columns(*(series for series in settled if series is not None))


def new_series(name: str, values: Any, frame: nw.DataFrame[Any]) -> nw.Series[Any] | None:
    """A series for a frame; None where its values are nothing that can be scored."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufbM":
        kind, settled = settle_objects(values)
        if kind is Kind.UNSUPPORTED:
            return None
        values = settled.tolist() if settled.dtype == object else settled
    series = nw.new_series(name, values, backend=frame.implementation)
    if nw.dependencies.is_pandas_series(series.to_native()):
        # pandas pairs rows by index, and keeps text and flags with nulls as objects.
        native = series.to_native().set_axis(frame.to_native().index)
        native = native.convert_dtypes() if native.dtype == object else native
        series = nw.from_native(native, series_only=True)
    return series


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
        backend = next((name for name in EAGER_LIBRARIES if find_spec(name)), None)
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
