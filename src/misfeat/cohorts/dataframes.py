"""What is asked of any dataframe, whichever library it is of: names, columns, and result frames."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from misfeat.cohorts.arrow_types import with_plain_types
from misfeat.cohorts.coders import Kind
from misfeat.cohorts.expressions import ColumnExpressions
from misfeat.cohorts.held import settle_objects
from misfeat.cohorts.table import NO_COLUMNS
from misfeat.cohorts.values import check_text
from misfeat.exceptions import MisfeatError, Setting, listed

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
