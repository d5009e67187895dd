"""How any input becomes a table, with target, groups and weights that are given beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.addresses import opener_of, scheme_of, secrets_of, without_secrets
from misfeat.cohorts.arrays import ArrayTable, as_array, as_columns
from misfeat.cohorts.dataframe_table import DataFrameTable
from misfeat.cohorts.dataframes import as_native, is_dataframe, only_column
from misfeat.cohorts.files import OpenedFiles, open_path
from misfeat.cohorts.in_memory import InMemoryTable, is_in_memory
from misfeat.exceptions import MisfeatError, Setting, as_message, no_such_column, shortened

if TYPE_CHECKING:
    from misfeat.cohorts.table import Table
    from misfeat.cohorts.values import MissingCodes


def open_table(X: object, y: object, codes: MissingCodes) -> tuple[Table, str]:
    """Open whatever the user gave as one table, the target a column of it; the table and its name.

    `X` may be a dataframe, lazy frame, relation, array or mapping of columns, or a source, which
    has a method ``__misfeat_table__`` that gives one. Paths may be CSV, TSV or Parquet files, a
    folder or a glob of Parquet files, or addresses:
    ``postgresql://user@host/database?table=schema.name``, ``s3://bucket/*.parquet``, and those of
    sources (`register_source`). CSV files are read with the codes for missing values as nulls.
    """
    if y is None:
        raise MisfeatError("No target was given; pass y as a column name or an array of values.")
    if isinstance(X, str | os.PathLike) and not isinstance(y, str):
        raise MisfeatError("The target of a file is one of its columns; pass its name as y.")
    table = open_columns(X, codes)
    if isinstance(y, str):
        return table, _existing(y, table.names)
    y = one_value_a_row(y, "y")
    target = _free_name(y, table.names, "target")
    return table.with_column(target, y, "y"), target


def open_columns(X: object, codes: MissingCodes) -> Table:
    """Open whatever the user gave as a table without a target."""
    X = as_native(X)
    if isinstance(X, str | os.PathLike):
        X = as_native(_behind(os.fspath(X), codes))
    if isinstance(X, str | os.PathLike):  # a source may have fetched a file
        X = open_path(os.fspath(X), codes)
    if isinstance(X, OpenedFiles):
        try:
            return DataFrameTable(X.relation, X)
        except BaseException:
            X.close()
            raise
    if isinstance(X, Mapping | np.ndarray | list | tuple):
        return ArrayTable(as_columns(X))
    return InMemoryTable(X) if is_in_memory(X) else DataFrameTable(X)


def _behind(path: str, codes: MissingCodes) -> Any:
    scheme = scheme_of(path)
    opener = None if scheme is None else opener_of(scheme)
    if opener is None:
        if scheme is not None and not os.path.exists(path):  # noqa: PTH110
            raise MisfeatError(
                "There is no file {path!r}, nor does a source open addresses that begin with "
                "{scheme}://; check the path, or install the package that brings the source.",
                path=without_secrets(path),
                scheme=scheme,
            )
        return open_path(path, codes)
    try:
        found = opener(path)
    except MisfeatError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()).replace(path, without_secrets(path))
        for secret in secrets_of(path):
            reason = reason.replace(secret, "…")
        raise MisfeatError(
            "{address!r} cannot be read; the source of {scheme}:// addresses failed ({reason}).",
            address=without_secrets(path),
            scheme=scheme,
            reason=as_message(f"{type(error).__name__}: {reason}"),
        ) from error
    if isinstance(found, str) and scheme_of(found) is not None:
        raise MisfeatError(
            "{address!r} cannot be read; the source of {scheme}:// addresses gave an address "
            "instead of a table or the path of a file.",
            address=without_secrets(path),
            scheme=scheme,
        )
    return found


def with_groups(table: Table, values: object) -> tuple[Table, str]:
    """Add the subgroup of every row as a column; returns the table and the column's name."""
    if isinstance(values, str):
        raise MisfeatError(
            "{setting} was passed to fit, which takes the subgroup of every row; name columns in "
            "the estimator: SubgroupSelector({setting}).",
            setting=Setting("groups", values),
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
    values = as_native(values)
    if is_dataframe(values):
        return only_column(values, what)
    many = hasattr(values, "__len__") or hasattr(values, "__array__")
    if isinstance(values, str | bytes | Mapping) or not many:
        raise MisfeatError(
            "{what} is {values}; pass one value per row.",
            what=Setting(what),
            values=shortened(values),
        )
    if isinstance(values, np.ndarray | list | tuple):
        array = as_array(values, what)
        if array.ndim == 2 and array.shape[1] == 1:
            return array[:, 0]
    return values


def _existing(target: str, names: Iterable[str]) -> str:
    if target not in names:
        raise no_such_column(target, names, "the target")
    return target


def _free_name(values: object, names: Iterable[str], usual: str) -> str:
    """Name an added column: the series' own name, or one that no column has."""
    given = getattr(values, "name", None)
    taken = set(names)
    if isinstance(given, str) and given and not (usual == "group" and given in taken):
        if given in taken:
            raise MisfeatError(
                "The target {column!r} is also a column of X and would be found to predict "
                "itself; drop it from X, or pass {y}.",
                column=given,
                y=Setting("y", given),
            )
        return given
    name = usual
    while name in taken:
        name += "_"
    return name
