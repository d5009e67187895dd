"""Dataframes of any library: names, types, result frames, and those in memory read into arrays.

What pandas, polars or PyArrow hold in memory is read column by column, each once, into an array: a
query for every column would cost far more than the work itself where tables are small. Kinds of
columns, and what their values are compared as, are those of `ColumnExpressions`, so that every
code comes out the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.reading.arrays import ArrayTable, Held, order_of, settle_objects
from misfeat.reading.coders import Kind
from misfeat.reading.expressions import ColumnExpressions
from misfeat.reading.table import NO_COLUMNS
from misfeat.reading.values import canonical, check_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.reading.table import Weighing


EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")
"""Libraries that results can come back in, in the order of preference."""
AS_COLUMNS = "columns"
"""Results as plain columns, for those who need no library."""
_OBJECTS = (nw.Object, nw.Unknown)


def open_frame(
    native: Any, names: Sequence[str] | None = None
) -> tuple[nw.DataFrame[Any] | nw.LazyFrame[Any], ColumnExpressions]:
    """A dataframe whose columns go by inner names and have types that can be worked with.

    `names` are those of its columns, where it does not know them itself. The second value says how
    its columns are read.
    """
    check_column_names(native)
    native = with_plain_types(native)
    try:
        frame = nw.from_native(native)
    except TypeError as error:
        raise MisfeatError(
            "A table cannot be made of a {kind}; pass a dataframe (pandas, polars, PyArrow, "
            "DuckDB, PySpark, Dask, Ibis), a NumPy array, or a path.",
            kind=type(native).__name__,
        ) from error
    names = _names_of(frame) if names is None else names
    if not names:
        raise MisfeatError(NO_COLUMNS)
    check_text(names)
    # Some engines read a dot, a star or a pattern in a name, so none of the user's is used.
    inner = dict(zip(names, inner_names(names), strict=True))
    frame, schema = with_types_settled(
        with_inner_names(native), {column: name for name, column in inner.items()}
    )
    return frame, ColumnExpressions(inner, schema, frame.implementation)


def _names_of(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> list[str]:
    """The names of columns; their types are not asked for where that takes looking at values."""
    return frame.columns if isinstance(frame, nw.DataFrame) else frame.collect_schema().names()


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
    """A dataframe with some of its columns, in the same library, their types as they were.

    Columns are chosen by their positions: to some engines a star, a dot or a pattern in a name says
    something.
    """
    frame = nw.from_native(X)
    held = frame.collect_schema().names()
    positions = [held.index(name) for name in names]
    if frame.implementation.is_duckdb():
        return X.project(", ".join(f"#{position + 1}" for position in positions))
    if frame.implementation.is_spark_like():
        inner = inner_names(held)
        chosen = X.toDF(*inner).select(*(inner[position] for position in positions))
        return chosen.toDF(*names)
    return frame.select(nw.nth(positions)).to_native()


def inner_names(names: Sequence[str]) -> list[str]:
    """Names by position that mean nothing to any engine, for columns of any names."""
    return [f"column_{position}" for position in range(len(names))]


def with_inner_names(native: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """A dataframe whose columns go by their `inner_names`, renamed by position."""
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(native)
    names = _names_of(frame)
    inner = inner_names(names)
    if frame.implementation.is_duckdb():
        renamed = (f"#{position} AS {name}" for position, name in enumerate(inner, 1))
        frame = nw.from_native(native.project(", ".join(renamed)))
    elif frame.implementation.is_spark_like():
        frame = nw.from_native(native.toDF(*inner))
    else:
        frame = frame.rename(dict(zip(names, inner, strict=True)))
    return frame


def in_library(X: Any, library: str | None) -> Any:
    """A dataframe in a library: "pandas" or "polars", or as it is where None."""
    if library is None:
        return X
    frame = nw.from_native(X)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_pandas() if library == "pandas" else eager.to_polars()


def as_native(X: Any) -> Any:
    """What a table is in a library that is known: what a source gives, and batches as a table.

    A source is an object with a method ``__misfeat_table__``. Record batches, streams of Arrow and
    whatever hands out such a stream become a table of PyArrow; all else is what was given.

    Examples
    --------
    >>> class Ward:
    ...     def __misfeat_table__(self):
    ...         return {"a": [0, 1], "y": [0, 1]}
    >>> as_native(Ward())
    {'a': [0, 1], 'y': [0, 1]}
    """
    if hasattr(type(X), "__misfeat_table__"):
        given = X.__misfeat_table__()
        if hasattr(type(given), "__misfeat_table__"):
            raise MisfeatError(
                "{kind}.__misfeat_table__ gave {given}, another source; it must return a table.",
                kind=type(X).__name__,
                given=type(given).__name__,
            )
        return as_native(given)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    if hasattr(type(X), "__arrow_c_stream__") and not is_dataframe(X) and not _is_series(X):
        return _read_stream(X)
    return X


def _is_series(X: Any) -> bool:
    return isinstance(nw.from_native(X, allow_series=True, pass_through=True), nw.Series)


def _read_stream(X: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MisfeatError(
            "Reading a {kind} needs PyArrow; install it with: pip install pyarrow",
            kind=type(X).__name__,
        ) from error
    return pa.RecordBatchReader.from_stream(X).read_all()


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


def with_types_settled(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Mapping[str, str]
) -> tuple[nw.DataFrame[Any] | nw.LazyFrame[Any], nw.Schema]:
    """Bring columns of Python objects to numbers, dates, flags or text, and those of nothing, too.

    A column without a single value has a type of its own in some libraries, which no engine
    compares with anything; it is text that is missing everywhere. Messages call columns by their
    `names`, from those in the frame to the user's. The second value has the types of all columns.
    """
    if isinstance(frame, nw.LazyFrame):
        for name, dtype in frame.collect_schema().items():
            if dtype in _OBJECTS and _is_empty(frame, name):
                frame = frame.with_columns(nw.lit(None).cast(nw.String).alias(name))
        return frame, frame.collect_schema()
    columns = _columns_of_objects(frame)
    settled = {
        name: new_series(name, frame[name].to_list(), frame, names[name]) for name in columns
    }
    frame = frame.with_columns(*(series for series in settled.values() if series is not None))
    unscored = {name: nw.Object() for name, series in settled.items() if series is None}
    return frame, nw.Schema({**frame.collect_schema(), **unscored})


def _is_empty(frame: nw.LazyFrame[Any], name: str) -> bool:
    return int(frame.select(nw.col(name).count()).collect()[name][0]) == 0


def _columns_of_objects(frame: nw.DataFrame[Any]) -> list[str]:
    """The columns whose values say what they are, rather than their type.

    Of objects of pandas narwhals looks at the first hundred; here all are looked at.
    """
    columns = [name for name, dtype in frame.collect_schema().items() if dtype in _OBJECTS]
    if frame.implementation.is_pandas():
        from pandas.api.types import infer_dtype, is_object_dtype

        native = frame.to_native()
        objects = (name for name, dtype in native.dtypes.items() if is_object_dtype(dtype))
        texts = ("string", "empty")
        columns += [name for name in objects if infer_dtype(native[name]) not in texts]
    return [*dict.fromkeys(columns)]


def new_series(
    name: str, values: Any, frame: nw.DataFrame[Any], column: str | None = None
) -> nw.Series[Any] | None:
    """A series for a frame; None where its values are nothing that can be scored.

    Messages call it `column`, where it has another name there.
    """
    kind = None
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufbM":
        kind, values = settle_objects(values, name if column is None else column)
        if kind is Kind.UNSUPPORTED:
            return None
    in_pandas = frame.implementation.is_pandas_like()
    if values.dtype == object and not in_pandas:
        values = values.tolist()
    dtype = nw.String() if kind is Kind.TEXT else None
    series = nw.new_series(name, values, dtype, backend=frame.implementation)
    if not in_pandas:
        return series
    # pandas pairs rows by index, and keeps text, flags and integers with nulls as objects.
    native = series.to_native().set_axis(frame.to_native().index)
    if native.dtype == object:
        native = native.astype("Int64") if kind is Kind.INTEGER else native.convert_dtypes()
    settled: nw.Series[Any] = nw.from_native(native, series_only=True)
    return settled


def result_frame(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """Make a dataframe of results in the user's library; tuples become lists where it has none.

    Without a library the first that is installed is taken; ``"columns"`` gives the columns as they
    are.
    """
    if backend == AS_COLUMNS:
        return dict(columns)
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


def with_plain_types(native: Any) -> Any:
    """A table of PyArrow, or of pandas with columns of PyArrow, in types that can be computed with.

    What is of another library is returned as it is.
    """
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return native
    if isinstance(native, pa.Table):
        for position, field in enumerate(native.schema):
            plain = _plain(native.column(position))
            if plain is not None:
                native = native.set_column(position, field.name, plain)
        return native
    pd = sys.modules.get("pandas")
    if pd is None or not isinstance(native, pd.DataFrame):
        return native
    held = {
        position: _plain(native.iloc[:, position].array.__arrow_array__())
        for position, dtype in enumerate(native.dtypes)
        if isinstance(dtype, pd.ArrowDtype)
    }
    changed = {position: plain for position, plain in held.items() if plain is not None}
    if changed:
        native = native.copy(deep=False)
    for position, plain in changed.items():
        native.isetitem(position, pd.arrays.ArrowExtensionArray(plain))
    return native


def dictionary_order(table: Any, column: str) -> tuple[str, ...] | None:
    """The categories of a column of a table of PyArrow in their order, where they have one."""
    import pyarrow as pa

    held = table.column(column)
    if not pa.types.is_dictionary(held.type) or not held.type.ordered or not held.num_chunks:
        return None
    categories = held.unify_dictionaries().chunk(0).dictionary.to_pylist()
    return tuple(categories) if all(isinstance(one, str) for one in categories) else None


def _plain(column: Any) -> Any | None:
    """A column in a plain type; None where it has one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if str(kind) == "string_view":  # older versions have no such type
        try:
            return column.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # some of those that have it cannot cast it
            return pa.chunked_array([pa.array(column.to_pylist(), pa.large_string())])
    if pa.types.is_uint64(kind):
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        # Rounded down before 1970, too, as in other libraries; a cast rounds to zero. As plain
        # moments, for some versions do not know zones without a name.
        moments = column.cast(pa.int64()).cast(pa.timestamp("ns"))
        floored = pc.floor_temporal(moments, unit="microsecond").cast(pa.timestamp("us"))
        return floored.cast(pa.int64()).cast(pa.timestamp("us", kind.tz))
    return None


_NO_TEXT = -1


def is_in_memory(X: Any) -> bool:
    """Whether something is a dataframe that is read into arrays."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        return False  # two columns share a name, which is refused where it is opened
    return isinstance(frame, nw.DataFrame) and str(frame.implementation) in EAGER_LIBRARIES


class InMemoryTable(ArrayTable):
    """A table that pandas, polars or PyArrow holds in memory."""

    def __init__(self, native: Any) -> None:
        opened, expressions = open_frame(native)
        frame = cast("nw.DataFrame[Any]", opened)
        self._frame, self._expressions = frame, expressions
        self._columns = _ReadOnce(frame, expressions)
        self._n_rows = len(frame)
        self.frame_backend = str(frame.implementation)

    def _n_lines(self) -> int:
        return self._n_rows

    def order(self, column: str) -> tuple[str, ...] | None:
        """The categories of a column in their order, where its type gives them one."""
        if column not in self._expressions.inner:
            return super().order(column)  # it was added
        if self._frame.implementation.is_pyarrow():
            return dictionary_order(self._frame.to_native(), self._expressions.inner[column])
        order, held = self._expressions.order(column), self._columns[column]
        if order is None or held.distinct is None or not self._frame.implementation.is_pandas():
            return order
        return tuple(held.distinct.tolist())  # intervals and numbers as text, too

    def weighed(self, weighing: Weighing) -> ArrayTable:
        """The same table, whose rows count as a column says."""
        table = cast("InMemoryTable", super().weighed(weighing))
        table._n_rows = len(table._columns[weighing.column].values)
        return table

    def with_column(self, name: str, values: Any, what: str) -> ArrayTable:
        """Add a column of given values, row by row; messages say what they are."""
        order = order_of(values)
        if nw.dependencies.is_into_series(values):
            values = nw.from_native(values, series_only=True).to_numpy()
        return super().with_column(name, values, what).with_order(name, order)


class _ReadOnce(Mapping[str, Held]):
    """The columns of a frame, each read when it is first asked for."""

    def __init__(self, frame: nw.DataFrame[Any], expressions: ColumnExpressions) -> None:
        self._frame, self._expressions = frame, expressions
        self._read: dict[str, Held] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._expressions.inner)

    def __len__(self) -> int:
        return len(self._expressions.inner)

    def __getitem__(self, column: str) -> Held:
        if column not in self._read:
            self._read[column] = self._held(column)
        return self._read[column]

    def _held(self, column: str) -> Held:
        match kind := self._expressions.kind(column):
            case Kind.UNSUPPORTED:
                return Held.unsupported(len(self._frame))
            case Kind.TEXT:
                return Held.of_positions(kind, *_text(self._series(column)))
            case Kind.FLAG:
                flags, missing = _without_nulls(self._compared(column), False)
                positions = np.where(missing, _NO_TEXT, flags.to_numpy().astype(np.int64))
                return Held.of_positions(kind, positions, [False, True])
            case Kind.INTEGER:
                whole, missing = _without_nulls(self._compared(column, nw.Int64()), 0)
                return Held(kind, whole.to_numpy().astype(np.int64, copy=False), missing)
            case Kind.NUMBER:
                numbers = self._compared(column, nw.Float64()).to_numpy()
                numbers = numbers.astype(np.float64, copy=False)
                return Held(kind, numbers, np.isnan(numbers))
            case Kind.TIME:
                moments = _moments(self._compared(column, nw.Datetime("us")))
                return Held(kind, moments, np.isnat(moments))

    def _compared(self, column: str, dtype: nw.dtypes.DType | None = None) -> nw.Series[Any]:
        """A column in the type that it is compared in; nothing is done where it is of that type."""
        inner = self._expressions.inner[column]
        if dtype is None or self._expressions.schema[inner] == dtype:
            return self._series(column)
        return self._frame.select(self._expressions.value(column).alias(inner)).get_column(inner)

    def _series(self, column: str) -> nw.Series[Any]:
        return self._frame.get_column(self._expressions.inner[column])


def _without_nulls(series: nw.Series[Any], instead: int) -> tuple[nw.Series[Any], NDArray[Any]]:
    if not series.null_count():
        return series, np.zeros(len(series), dtype=bool)
    return series.fill_null(instead), series.is_null().to_numpy().astype(bool)


def _moments(series: nw.Series[Any]) -> NDArray[np.datetime64]:
    """Dates and times in UTC, to the microsecond."""
    dtype = series.dtype
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    moments = series.to_numpy()
    if moments.dtype == object:
        moments = np.array([canonical(value) for value in series.to_list()], dtype="datetime64[us]")
    return moments.astype("datetime64[us]", copy=False)


def _text(series: nw.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    """The position of every text among the distinct ones, -1 where there is none, and these."""
    native = series.to_native()
    if series.implementation.is_polars():
        return _text_of_polars(native)
    if series.implementation.is_pyarrow():
        return _text_of_pyarrow(native)
    if hasattr(native.dtype, "pyarrow_dtype"):
        return _text_of_pyarrow(native.array.__arrow_array__())
    if hasattr(native.dtype, "categories"):
        texts = nw.from_native(native.cat.categories.to_series(), series_only=True)
        return native.cat.codes.to_numpy().astype(np.int64), texts.cast(nw.String).to_list()
    positions, distinct = native.factorize()
    return positions.astype(np.int64, copy=False), distinct.tolist()


def _text_of_polars(native: Any) -> tuple[NDArray[np.int64], list[str]]:
    import polars as pl

    texts = native.cast(pl.String)
    distinct = (texts.drop_nulls() if texts.has_nulls() else texts).unique()
    positions = texts.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64)
    if texts.has_nulls():
        positions = positions.fill_null(_NO_TEXT)
    return positions.to_numpy(), distinct.to_list()


def _text_of_pyarrow(native: Any) -> tuple[NDArray[np.int64], list[str]]:
    import pyarrow as pa

    if pa.types.is_dictionary(native.type):
        native = native.cast(native.type.value_type)
    encoded = native.dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # of no chunks at all
        return np.empty(0, dtype=np.int64), []
    positions = encoded.indices.cast(pa.int64()).fill_null(_NO_TEXT)
    return positions.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()
