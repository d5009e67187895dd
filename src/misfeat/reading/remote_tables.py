"""Tables at an address: Parquet files in an object store, by DuckDB, and databases, by Ibis."""

import os
from functools import partial
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from misfeat.exceptions import MisfeatError
from misfeat.reading import addresses, files

_AWS = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
    "REGION": "AWS_REGION",
    "ENDPOINT": "AWS_ENDPOINT_URL",
}


def open_address(address: str) -> files.Relation:
    """Open the table of an address; its rows stay there until they are counted."""
    if addresses.scheme_of(address) in addresses.DATABASES:
        return _open_database(address)
    # DuckDB loads its extension for the object store that Parquet files are in.
    shown = addresses.without_secrets(address)
    connection, close = files.connect(shown)
    failed = partial(_failed, address=shown, secret=address.removeprefix(shown))
    try:
        # Usual environment variables are handed on; else DuckDB knows the secrets it has stored.
        scheme, given = address.partition("://")[0].lower(), dict[str, str]()
        if scheme == "s3" and os.environ.get("AWS_ACCESS_KEY_ID"):
            given = {key: os.environ.get(name, "") for key, name in _AWS.items()}
            given["REGION"] = given["REGION"] or os.environ.get("AWS_DEFAULT_REGION", "")
            if given["ENDPOINT"]:
                protocol, _, given["ENDPOINT"] = given["ENDPOINT"].rpartition("://")
                given |= {"URL_STYLE": "path", "USE_SSL": str(protocol != "http").lower()}
        elif scheme in addresses.AZURE and os.environ.get("AZURE_STORAGE_CONNECTION_STRING"):
            given = {"CONNECTION_STRING": os.environ["AZURE_STORAGE_CONNECTION_STRING"]}
        texts = {key: value.replace("'", "''") for key, value in given.items() if value}
        if texts:
            quoted = ", ".join(f"{key} '{text}'" for key, text in texts.items())
            kind = "s3" if scheme == "s3" else "azure"
            connection.execute(f"CREATE SECRET (TYPE {kind}, {quoted})").fetchall()
        relation = connection.read_parquet(address, union_by_name=True, hive_partitioning=True)
        names = tuple(relation.columns)
        files.refuse_repeats(shown, names)
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise failed(error) from None
    return files.Relation(relation, names, close, failed)


def _open_database(address: str) -> files.Relation:
    shown = addresses.without_secrets(address)
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
    return files.Relation(table, tuple(table.columns), connection.disconnect, failed)


def _failed(error: Exception, address: str, secret: str) -> MisfeatError:
    """Whatever an engine says, without what nobody should see."""
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    reason = reason.replace(secret, "...") if secret else reason
    return MisfeatError(
        f"{address!r} cannot be read; check the address, the network and what you may read there. "
        f"({reason})"
    )
