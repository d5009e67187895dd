"""How any input becomes a table."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np

from misfeat.exceptions import MisfeatError, no_such_column
from misfeat.messages import Setting, listed, shortened
from misfeat.reading import addresses, files, remote_tables
from misfeat.reading import dataframe_libraries as libraries
from misfeat.reading.engine_table import EngineTable
from misfeat.reading.files import Names
from misfeat.reading.foreign_files import book_and_sheet, open_foreign
from misfeat.reading.memory_table import ArrayTable, as_array, as_columns
from misfeat.reading.table_statistics import EAGER_LIBRARIES, NO_COLUMNS
from misfeat.reading.values import COLUMN_NAME, MissingCodes, Value, check_text

Table: TypeAlias = ArrayTable | EngineTable
"""A table of named columns that counts values and coded rows, in memory or in an engine; both have
the same methods."""


def open_table(X: object, y: object, codes: MissingCodes, texts: Names = ()) -> tuple[Table, str]:
    """Open whatever the user gave as one table with the target as a column; it and the name."""
    if y is None:
        raise MisfeatError("No target was given; pass y as a column name or an array of values.")
    if isinstance(X, str | os.PathLike) and not isinstance(y, str):
        raise MisfeatError("The target of a file is one of its columns; pass its name as y.")
    table = open_columns(X, codes, texts)
    if isinstance(y, str):
        if y not in table.names:
            table.close()
            raise no_such_column(y, table.names, "the target")
        return table, y
    y = one_value_a_row(y, "y")
    target = _free_name(y, table.names, "target")
    return table.with_column(target, y, "y"), target


class Event(NamedTuple):
    """What ends the time that is the target: a column, and the value of it that is the event."""

    column: str
    value: Value = None  # None: 1, or True


def open_outcome(
    X: object, y: Any, codes: MissingCodes, texts: Names = ()
) -> tuple[Table, str, Event | None]:
    """The same, where the target may be a time and an event: two columns, or fields of an array."""
    if isinstance(y, tuple) and len(y) in (2, 3) and all(isinstance(name, str) for name in y[:2]):
        table, time = open_table(X, y[0], codes, texts)
        if y[1] not in table.names:
            table.close()
            raise no_such_column(y[1], table.names, "the event")
        return table, time, Event(*y[1:])
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is None:
        return *open_table(X, y, codes, texts), None
    flags = [name for name in fields if y.dtype[name].kind == "b"]
    if len(fields) != 2 or len(flags) != 1:
        raise MisfeatError(
            f"{Setting('y')} is a structured array with the fields {listed(fields)}; a time to an "
            "event has two, whether the event happened (True or False) and when."
        )
    table, names = open_columns(X, codes, texts), []
    for name in sorted(fields, key=flags.count):
        names.append(free_name(name, table.names))
        table = table.with_column(names[-1], np.asarray(y[name]), "y")
    return table, names[0], Event(names[1])


def free_name(name: str, taken: Iterable[str]) -> str:
    """A name that no column has, with as many underscores behind it as that takes."""
    held = set(taken)
    while name in held:
        name += "_"
    return name


def open_columns(X: Any, codes: MissingCodes, texts: Names = ()) -> Table:
    """Open whatever the user gave as a table without a target; of files, some columns as texts."""
    X = libraries.as_native(X)
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        if files.ending(book_and_sheet(path)[0]) in files.FOREIGN:
            return open_foreign(path)
        given = addresses.is_address(path)
        X = remote_tables.open_address(path) if given else files.open_path(path, codes, texts)
    if isinstance(X, files.Relation):
        try:
            return EngineTable(X.native, X)
        except BaseException:
            X.close()
            raise
    if isinstance(X, Mapping | np.ndarray | list | tuple):
        return ArrayTable(as_columns(X))
    X = libraries.with_text_names(X)
    libraries.check_column_names(X)
    try:
        frame = nw.from_native(X)
    except TypeError as error:
        raise MisfeatError(
            f"A table cannot be made of a {type(X).__name__}; pass a dataframe (pandas, polars, "
            "PyArrow, DuckDB, PySpark, Dask, Ibis), a NumPy array, or a path."
        ) from error
    if isinstance(frame, nw.LazyFrame):
        return EngineTable(X)
    if not frame.columns:
        raise MisfeatError(NO_COLUMNS)
    check_text(frame.columns, COLUMN_NAME)
    backend = str(frame.implementation)
    if backend not in EAGER_LIBRARIES:
        return open_columns(frame.to_arrow(), codes)
    return ArrayTable({name: frame.get_column(name) for name in frame.columns}, backend)


def with_groups(table: Table, values: object) -> tuple[Table, str]:
    """Add the subgroup of every row as a column; returns the table and the column's name."""
    if isinstance(values, str):
        raise MisfeatError(
            f"{Setting('groups', values)} was passed to fit, which takes the subgroup of every "
            f"row; name columns in the estimator: SubgroupSelector({Setting('groups', values)})."
        )
    values = one_value_a_row(values, "groups")
    name = _free_name(values, table.names, "group")
    return table.with_column(name, values, "groups"), name


def with_weights(table: Table, weights: object) -> tuple[Table, str | None]:
    """Add the weight of every row as a column, unless one is named; the table and its name."""
    if weights is None or isinstance(weights, str):
        return table, weights
    values = one_value_a_row(weights, "sample_weight")
    name = _free_name(None, table.names, "sample_weight")
    return table.with_column(name, values, "sample_weight"), name


def one_value_a_row(values: Any, what: str) -> Any:
    """A series or an array of one dimension, also of a table or an array with a single column."""
    values = libraries.as_native(values)
    if libraries.has_numbered_columns(values) and values.shape[1] == 1:
        return values.iloc[:, 0]
    if libraries.is_dataframe(values):
        libraries.check_column_names(values)
        frame = nw.from_native(values)
        names = frame.collect_schema().names()
        if len(names) != 1:
            raise MisfeatError(
                f"{Setting(what)} has {len(names)} columns ({listed(names)}); pass one value per "
                "row."
            )
        if isinstance(frame, nw.LazyFrame):
            raise MisfeatError(
                f"{Setting(what)} is lazy, so that its rows have no order; collect it first."
            )
        return frame[names[0]].to_native()
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(getattr(values, "dtype", None), pandas.CategoricalDtype):
        return pandas.Series(values)  # also of an array, which is no series, but has an order
    many = hasattr(values, "__len__") or hasattr(values, "__array__")
    if isinstance(values, str | bytes | Mapping) or not many:
        raise MisfeatError(f"{Setting(what)} is {shortened(values)}; pass one value per row.")
    if isinstance(values, np.ndarray | list | tuple):
        array = as_array(values, what)
        if array.ndim == 2 and array.shape[1] == 1:
            return array[:, 0]
    return values


def _free_name(values: object, names: Iterable[str], usual: str) -> str:
    """Name an added column: the series' own name, or one that no column has."""
    given = getattr(values, "name", None)
    taken = set(names)
    if isinstance(given, str) and given and not (usual == "group" and given in taken):
        if given in taken:
            raise MisfeatError(
                f"The target {given!r} is also a column of X and would be found to predict "
                f"itself; drop it from X, or pass {Setting('y', given)}.",
                column=given,
            )
        return given
    return free_name(usual, taken)
