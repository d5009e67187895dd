"""How any input becomes a table, with target, groups and weights that are given beside it.

Tables behind an address are opened where they are: PostgreSQL by Ibis, object stores by DuckDB.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, as_message, no_such_column, shortened
from misfeat.reading.addresses import (
    STORES,
    opener_of,
    parsed_database,
    scheme_of,
    secrets_of,
    without_secrets,
)
from misfeat.reading.arrays import ArrayTable, as_array, as_columns
from misfeat.reading.dataframes import (
    InMemoryTable,
    as_native,
    is_dataframe,
    is_in_memory,
    only_column,
)
from misfeat.reading.engine_table import DataFrameTable
from misfeat.reading.files import (
    PARQUET,
    OpenedFiles,
    connect,
    open_path,
    reason_of,
    refuse_repeats,
)

if TYPE_CHECKING:
    from misfeat.reading.table import Table
    from misfeat.reading.values import MissingCodes


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
        try:
            return table, _existing(y, table.names)
        except MisfeatError:
            table.close()
            raise
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


_FROM_ENVIRONMENT = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
    "REGION": "AWS_REGION",
    "ENDPOINT": "AWS_ENDPOINT_URL",
}
_AZURE = "AZURE_STORAGE_CONNECTION_STRING"


def open_database(address: str) -> OpenedFiles:
    """Open a table of PostgreSQL; its rows stay where they are until they are counted."""
    options, schema, name = parsed_database(address)
    shown = without_secrets(address)
    try:
        import ibis
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "Reading {address!r} needs Ibis and psycopg; install them with: pip install "
            "'misfeat[postgres]'",
            address=shown,
        ) from error
    failed = partial(_failed, address=shown, secret=str(options.get("password", "")))
    try:
        connection = ibis.postgres.connect(**options)
    except Exception as error:
        raise failed(error) from None  # what lies behind it may hold the password
    try:
        table = connection.table(name, database=schema)
    except Exception as error:
        connection.disconnect()
        if "not found" in str(error).lower() or type(error).__name__ == "TableNotFound":
            raise MisfeatError(
                "There is no table {table!r} in {address!r}; check table=schema.name.",
                table=name if schema is None else f"{schema}.{name}",
                address=shown,
            ) from None
        raise failed(error) from None
    return OpenedFiles(table, tuple(table.columns), connection.disconnect, failed)


def open_store(address: str) -> OpenedFiles:
    """Open Parquet files in an object store; rows stay there until they are counted."""
    shown = without_secrets(address)
    path = shown.rstrip("/").lower()
    if not path.endswith((*PARQUET, "*")):
        raise MisfeatError(
            "{address!r} is not a Parquet file; from an object store, files that end in {endings} "
            "can be read, or a pattern such as {example!r}.",
            address=shown,
            endings=" or ".join(PARQUET),
            example=f"{shown.rstrip('/')}/*.parquet",
        )
    scheme = address.partition("://")[0].lower()
    connection, close = connect(shown)
    failed = partial(_failed, address=shown, secret=address.removeprefix(shown))
    try:
        _load(connection, STORES[scheme], shown)
        _say_secrets(connection, scheme)
        relation = connection.read_parquet(address, union_by_name=True, hive_partitioning=True)
        names = tuple(relation.columns)
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise failed(error) from None
    refuse_repeats(shown, names)
    return OpenedFiles(relation, names, close, failed)


def _load(connection: Any, extension: str, shown: str) -> None:
    try:
        connection.load_extension(extension)
        return
    except Exception:  # noqa: S110  (it is not installed yet)
        pass
    try:
        connection.install_extension(extension)
        connection.load_extension(extension)
    except Exception as error:
        raise MisfeatError(
            "Reading {address!r} needs DuckDB's extension {extension!r}, which is not installed "
            "and could not be fetched; install it once where there is a network: python -c "
            "\"import duckdb; duckdb.sql('INSTALL {extension}')\". Or copy the files here.",
            address=shown,
            extension=extension,
        ) from error


def _say_secrets(connection: Any, scheme: str) -> None:
    """Hand the usual environment variables on; else DuckDB knows the secrets it has stored."""
    if scheme == "s3" and os.environ.get("AWS_ACCESS_KEY_ID"):
        held = {key: os.environ.get(name, "") for key, name in _FROM_ENVIRONMENT.items()}
        held["REGION"] = held["REGION"] or os.environ.get("AWS_DEFAULT_REGION", "")
        said = {key: value for key, value in held.items() if value}
        if "ENDPOINT" in said:
            protocol, _, said["ENDPOINT"] = said["ENDPOINT"].rpartition("://")
            said |= {"URL_STYLE": "path", "USE_SSL": str(protocol != "http").lower()}
        _create_secret(connection, "s3", said)
    elif STORES[scheme] == "azure" and os.environ.get(_AZURE):
        _create_secret(connection, "azure", {"CONNECTION_STRING": os.environ[_AZURE]})


def _create_secret(connection: Any, kind: str, said: dict[str, str]) -> None:
    texts = {key: value.replace("'", "''") for key, value in said.items()}
    quoted = ", ".join(f"{key} '{text}'" for key, text in texts.items())
    connection.execute(f"CREATE SECRET (TYPE {kind}, {quoted})").fetchall()


def _failed(error: Exception, address: str, secret: str) -> MisfeatError:
    """Whatever an engine says, without what nobody should see."""
    reason = reason_of(error)
    if secret:
        reason = reason.replace(secret, "...")
    return MisfeatError(
        "{address!r} cannot be read; check the address, the network and what you may read there. "
        "({reason})",
        address=address,
        reason=as_message(reason),
    )
