"""Tables that an address names: a table of PostgreSQL, or Parquet files in an object store.

Nothing that is shown or saved has a password in it, nor what follows the question mark of a signed
address. Importing this imports no engine: a shell that completes names waits for it.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from misfeat.reading.files import Relation


DATABASES = ("postgresql", "postgres")
AZURE = ("az", "azure", "abfss")
STORES = ("s3", "gs", "gcs", "r2", "http", "https", "hf", *AZURE)  # DuckDB reads Parquet from these
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")
_SHOWN = ("table", "host", "port", "user", "sslmode")
_AWS = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
    "REGION": "AWS_REGION",
    "ENDPOINT": "AWS_ENDPOINT_URL",
}


def scheme_of(text: str) -> str | None:
    """What stands before ``://``, in lower case; None of a text that is not an address."""
    scheme, apart, _ = text.partition("://")
    scheme = scheme.lower()
    return scheme if apart and _SCHEME.fullmatch(scheme) else None


def is_address(text: str) -> bool:
    """Whether a text is the address of a table rather than a path."""
    return scheme_of(text) in (*DATABASES, *STORES)


def without_secrets(text: str) -> str:
    """An address as it may be shown and saved; any other text as it is."""
    scheme = scheme_of(text)
    if scheme is None:
        return text
    start, apart, rest = text.partition("://")
    before, at, behind = rest.rpartition("@")
    if scheme in DATABASES and ":" in before:
        # Its password may look like any other part of an address.
        text = f"{start}{apart}{before.partition(':')[0]}{at}{behind}"
    elif not is_address(text):
        return f"{start}{apart}{behind.partition('?')[0].partition('#')[0]}"
    try:
        parts = urlsplit(text)
    except ValueError:
        return f"{start}://..."
    user, at, host = parts.netloc.rpartition("@")
    if scheme in STORES:
        return SplitResult(parts.scheme, host, parts.path, "", "").geturl()
    query = urlencode([(k, v) for k, v in parse_qsl(parts.query) if k in _SHOWN], safe="./")
    netloc = f"{user.partition(':')[0]}{at}{host}"
    return SplitResult(parts.scheme, netloc, parts.path, query, "").geturl()


def open_address(address: str) -> Relation:
    """Open the table of an address; its rows stay there until they are counted."""
    return (_open_database if scheme_of(address) in DATABASES else _open_store)(address)


def _open_database(address: str) -> Relation:
    """Open a table of PostgreSQL by Ibis."""
    from misfeat.reading.files import Relation

    shown = without_secrets(address)
    try:
        parts = urlsplit(address)
        query = dict(parse_qsl(parts.query))
        schema, point, name = query.pop("table").rpartition(".")
    except (ValueError, KeyError) as error:
        raise MisfeatError(
            f"{shown!r} does not name a table; write postgresql://user@host:port/database"
            "?table=schema.name, the password in PGPASSWORD or in ~/.pgpass."
        ) from error
    try:
        import ibis
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            f"Reading {shown!r} needs Ibis and psycopg; install them with: pip install "
            "'misfeat[postgres]'"
        ) from error
    password = query.get("password") or unquote(parts.password or "")
    failed = partial(_failed, address=shown, secret=password)
    try:
        connection = ibis.connect(parts._replace(query=urlencode(query)).geturl())
    except Exception as error:
        raise failed(error) from None  # what lies behind it may hold the password
    try:
        table = connection.table(name, database=schema if point else None)
    except Exception as error:
        connection.disconnect()
        raise failed(error) from None
    return Relation(table, tuple(table.columns), connection.disconnect, failed)


def _open_store(address: str) -> Relation:
    """Open Parquet files in an object store by DuckDB, which loads its extension for that."""
    from misfeat.reading.files import Relation, connect, refuse_repeats

    shown = without_secrets(address)
    connection, close = connect(shown)
    failed = partial(_failed, address=shown, secret=address.removeprefix(shown))
    try:
        _create_secret(connection, address.partition("://")[0].lower())
        relation = connection.read_parquet(address, union_by_name=True, hive_partitioning=True)
        names = tuple(relation.columns)
        refuse_repeats(shown, names)
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise failed(error) from None
    return Relation(relation, names, close, failed)


def _create_secret(connection: Any, scheme: str) -> None:
    """Hand the usual environment variables on; else DuckDB knows the secrets it has stored."""
    if scheme == "s3" and os.environ.get("AWS_ACCESS_KEY_ID"):
        given = {key: os.environ.get(name, "") for key, name in _AWS.items()}
        given["REGION"] = given["REGION"] or os.environ.get("AWS_DEFAULT_REGION", "")
        if given["ENDPOINT"]:
            protocol, _, given["ENDPOINT"] = given["ENDPOINT"].rpartition("://")
            given |= {"URL_STYLE": "path", "USE_SSL": str(protocol != "http").lower()}
    elif scheme in AZURE and os.environ.get("AZURE_STORAGE_CONNECTION_STRING"):
        given = {"CONNECTION_STRING": os.environ["AZURE_STORAGE_CONNECTION_STRING"]}
    else:
        return
    texts = {key: value.replace("'", "''") for key, value in given.items() if value}
    quoted = ", ".join(f"{key} '{text}'" for key, text in texts.items())
    kind = "s3" if scheme == "s3" else "azure"
    connection.execute(f"CREATE SECRET (TYPE {kind}, {quoted})").fetchall()


def _failed(error: Exception, address: str, secret: str) -> MisfeatError:
    """Whatever an engine says, without what nobody should see."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    reason = reason.replace(secret, "...") if secret else reason
    return MisfeatError(
        f"{address!r} cannot be read; check the address, the network and what you may read there. "
        f"({reason})"
    )
