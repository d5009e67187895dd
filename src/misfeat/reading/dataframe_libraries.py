"""What misfeat asks of dataframes of any library, and results as those of the user's."""

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.reading.engine_table import inner_names
from misfeat.reading.table_statistics import EAGER_LIBRARIES

AS_COLUMNS = "columns"  # Results as plain columns, for those who need no library


def as_native(X: Any) -> Any:
    """What a table is in a library that is known; streams of Arrow become tables of PyArrow."""
    if hasattr(type(X), "__misfeat_table__"):
        given = X.__misfeat_table__()
        if hasattr(type(given), "__misfeat_table__"):
            raise MisfeatError(
                f"{type(X).__name__}.__misfeat_table__ must give a table, no source."
            )
        return as_native(given)
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    if hasattr(type(X), "__arrow_c_stream__") and not is_dataframe(X):
        if isinstance(nw.from_native(X, allow_series=True, pass_through=True), nw.Series):
            return X
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MisfeatError(
                f"Reading a {type(X).__name__} needs PyArrow; install it with: pip install pyarrow"
            ) from error
        return pa.RecordBatchReader.from_stream(X).read_all()
    return X


def has_numbered_columns(X: Any) -> bool:
    """Whether a frame of pandas has integers for the names of all of its columns."""
    if not nw.dependencies.is_pandas_dataframe(X):
        return False
    return X.shape[1] > 0 and all(isinstance(name, int | np.integer) for name in X.columns)


def with_text_names(X: Any) -> Any:
    """Columns that only have numbers are called x0, x1, …, as those of an array."""
    names = [f"x{i}" for i in range(X.shape[1])] if has_numbered_columns(X) else None
    return X if names is None else X.set_axis(names, axis=1)


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
        if not isinstance(name, str):
            why = f" ({type(name).__name__}); rename it, in pandas for example with X.columns = "
            why += "X.columns.astype(str)."
            if isinstance(name, tuple):
                why = ", of several levels; join them with X.columns = "
                why += "['_'.join(map(str, name)) for name in X.columns]."
            problem = f"Column names must be text, but one is {name!r}{why}"
            raise MisfeatError(problem, column=name)
        if name in seen:
            raise MisfeatError(
                f"The table has two columns named {name!r}; rename or drop one.", column=name
            )
        seen.add(name)


def column_names(X: Any) -> list[str]:
    """The names of the columns of a dataframe or of a mapping of columns."""
    if isinstance(X, Mapping):
        return list(X)
    if not is_dataframe(X):
        raise MisfeatError(
            f"A table of type {type(X).__name__} is not known; pass a dataframe, an array or a "
            "mapping of columns."
        )
    check_column_names(X)
    return list(nw.from_native(X).collect_schema().names())


def with_columns_only(X: Any, names: Sequence[str], library: str | None = None) -> Any:
    """A dataframe with some of its columns, chosen by position: engines read patterns in names."""
    frame = nw.from_native(X)
    given = frame.collect_schema().names()
    positions = [given.index(name) for name in names]
    if frame.implementation.is_duckdb():
        frame = nw.from_native(X.project(", ".join(f"#{place + 1}" for place in positions)))
    elif frame.implementation.is_spark_like():
        inner = inner_names(given)
        chosen = X.toDF(*inner).select(*(inner[position] for position in positions))
        frame = nw.from_native(chosen.toDF(*names))
    else:
        frame = frame.select(nw.nth(positions))
    if library is None:
        return frame.to_native()
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return eager.to_pandas() if library == "pandas" else eager.to_polars()


def names_held(values: Any) -> list[Any] | None:
    """What a sequence, an array of one dimension or an index holds; None for anything else."""
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        return list(values)
    if isinstance(values, np.ndarray) or nw.dependencies.is_pandas_index(values):
        return list(values.tolist()) if values.ndim == 1 else None
    return None


def result_frame(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """A dataframe of results in the user's library, or the first that is installed."""
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
