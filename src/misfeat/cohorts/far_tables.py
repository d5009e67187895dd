"""Tables behind an address, opened where they are: PostgreSQL by Ibis, object stores by DuckDB."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

from misfeat.cohorts.addresses import (
    STORES,
    parsed_database,
    without_secrets,
)
from misfeat.cohorts.files import PARQUET, OpenedFiles, connect, reason_of, refuse_repeats
from misfeat.exceptions import MisfeatError, as_message

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
