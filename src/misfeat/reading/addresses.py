"""Tables that an address names: a table of PostgreSQL, Parquet files in an object store, or what
a source of the user's opens.

Nothing that is shown or saved has a password in it, nor what follows the question mark of a signed
address. Importing this imports no engine: a shell that completes names waits for it.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from misfeat.exceptions import MisfeatError, Setting, as_message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint

    from misfeat.reading.files import Relation

    Opener = Callable[[str], Any]


DATABASES = ("postgresql", "postgres")
STORES: Mapping[str, str] = {
    **dict.fromkeys(("s3", "gs", "gcs", "r2", "http", "https", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfss"), "azure"),
}
"""Where DuckDB reads Parquet files from, and the extension of DuckDB that it needs for that."""
GROUP = "misfeat.sources"  # The entry points by which an installed package brings sources
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")
_SHOWN = ("table", "host", "port", "user", "sslmode")
_AWS = {
    "KEY_ID": "AWS_ACCESS_KEY_ID",
    "SECRET": "AWS_SECRET_ACCESS_KEY",
    "SESSION_TOKEN": "AWS_SESSION_TOKEN",
    "REGION": "AWS_REGION",
    "ENDPOINT": "AWS_ENDPOINT_URL",
}
_AZURE = "AZURE_STORAGE_CONNECTION_STRING"
_registered: dict[str, Opener] = {}


def scheme_of(text: str) -> str | None:
    """What stands before ``://``, in lower case; None of a text that is not an address."""
    scheme, apart, _ = text.partition("://")
    scheme = scheme.lower()
    return scheme if apart and _SCHEME.fullmatch(scheme) else None


def is_address(text: str) -> bool:
    """Whether a text is the address of a table rather than a path."""
    scheme = scheme_of(text)
    known = (*DATABASES, *STORES, *_registered)
    return scheme is not None and (scheme in known or scheme in _installed())


def without_secrets(text: str) -> str:
    """An address as it may be shown and saved, whoever opens it; any other text as it is."""
    scheme = scheme_of(text)
    if scheme is None:
        return text
    start, apart, rest = text.partition("://")
    before, at, behind = rest.rpartition("@")
    if scheme in DATABASES and ":" in before:
        # Its password may look like any other part of an address.
        text = f"{start}{apart}{before.partition(':')[0]}{at}{behind}"
    elif scheme not in STORES and scheme not in DATABASES:
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


def secrets_of(address: str) -> list[str]:
    """The parts of an address that may not be shown, the longest first."""
    before, _, behind = address.partition("://")[2].rpartition("@")
    _, _, password = before.partition(":")
    query, _, fragment = behind.partition("?")[2].partition("#")
    values = [value for _, value in parse_qsl(query)]
    parts = {before, password, unquote(password), query, fragment, *values}
    return sorted((part for part in parts if len(part) > 2), key=lambda part: (-len(part), part))


def register_source(scheme: str, opener: Callable[[str], Any]) -> None:
    """Have addresses that begin with a scheme opened by a function of one's own.

    Wherever misfeat takes the path of a table it then takes such an address. A package that is
    installed does without this call: it names the function as an entry point of the group
    ``misfeat.sources``, and ``misfeat run`` finds it, too.

    Parameters
    ----------
    scheme : str
        What stands before ``://``, in lower case.
    opener : callable
        Takes the whole address, and returns whatever misfeat reads: a dataframe, lazy frame or
        relation, a stream of Arrow, columns by name, or the path of a file.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> def open_zeros(address):
    ...     n_rows = int(address.partition("://")[2])
    ...     return {"a": [0, 1] * n_rows, "y": [0, 1] * n_rows}
    >>> register_source("zeros", open_zeros)
    >>> SubgroupSelector(size=1).fit("zeros://20", "y").get_support()
    array([ True])
    """
    given = Setting("scheme", scheme)
    if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
        raise MisfeatError(
            "{setting}; it must be two or more of a-z, 0-9, +, . and -, the first one a letter.",
            setting=given,
        )
    if scheme in DATABASES or scheme in STORES:
        raise MisfeatError("{setting} is opened by misfeat itself; choose another.", setting=given)
    if not callable(opener):
        raise MisfeatError(
            "{setting}; it must be a function that takes an address.",
            setting=Setting("opener", opener),
        )
    _registered[scheme] = opener


def opener_of(scheme: str) -> Opener | None:
    """Who opens addresses of a scheme; None where nobody does."""
    if scheme in DATABASES:
        return open_database
    if scheme in STORES:
        return open_store
    if scheme in _registered:
        return _registered[scheme]
    entry = _installed().get(scheme)
    if entry is None:
        return None
    try:
        loaded: Opener = entry.load()
    except Exception as error:
        raise MisfeatError(
            f"The source of {scheme}:// addresses, {entry.value}, cannot be loaded "
            f"({str(error) or type(error).__name__}); see to the package that brings it."
        ) from error
    return loaded


def _installed() -> dict[str, EntryPoint]:
    """What installed packages bring, by scheme; of two packages with the same one the first."""
    from importlib.metadata import entry_points  # only where an address is none of ours

    return {entry.name: entry for entry in reversed(list(entry_points(group=GROUP)))}


def parsed_database(address: str) -> tuple[dict[str, str | int], str | None, str]:
    """How to connect to a database, and the schema and the name of the table."""
    misspelt = MisfeatError(
        f"{without_secrets(address)!r} does not name a table; write "
        "postgresql://user@host:port/database?table=schema.name, the password in PGPASSWORD or "
        "in ~/.pgpass."
    )
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise misspelt from error
    asked = dict(parse_qsl(parts.query))
    table = asked.pop("table", "")
    if not table:
        raise misspelt
    given = {
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "host": parts.hostname or "",
        "port": port or "",
        "database": unquote(parts.path.strip("/")),
    }
    options = {name: value for name, value in {**given, **asked}.items() if value}
    schema, point, name = table.rpartition(".")
    return options, schema if point else None, name


def open_database(address: str) -> Relation:
    """Open a table of PostgreSQL by Ibis; its rows stay there until they are counted."""
    from misfeat.reading.files import Relation

    options, schema, name = parsed_database(address)
    shown = without_secrets(address)
    try:
        import ibis
        import psycopg  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            f"Reading {shown!r} needs Ibis and psycopg; install them with: pip install "
            "'misfeat[postgres]'"
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
                f"There is no table {name if schema is None else f'{schema}.{name}'!r} in "
                f"{shown!r}; check table=schema.name."
            ) from None
        raise failed(error) from None
    return Relation(table, tuple(table.columns), connection.disconnect, failed)


def open_store(address: str) -> Relation:
    """Open Parquet files in an object store by DuckDB; rows stay there until they are counted."""
    from misfeat.reading.files import PARQUET, Relation, connect, refuse_repeats

    shown = without_secrets(address)
    if not shown.rstrip("/").lower().endswith((*PARQUET, "*")):
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
        _load_extension(connection, STORES[scheme], shown)
        _create_secret(connection, scheme)
        relation = connection.read_parquet(address, union_by_name=True, hive_partitioning=True)
        names = tuple(relation.columns)
        refuse_repeats(shown, names)
    except Exception as error:
        close()
        if isinstance(error, MisfeatError):
            raise
        raise failed(error) from None
    return Relation(relation, names, close, failed)


def _load_extension(connection: Any, extension: str, shown: str) -> None:
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
            f"Reading {shown!r} needs DuckDB's extension {extension!r}, which is not installed "
            "and could not be fetched; install it once where there is a network: python -c "
            f"\"import duckdb; duckdb.sql('INSTALL {extension}')\". Or copy the files here."
        ) from error


def _create_secret(connection: Any, scheme: str) -> None:
    """Hand the usual environment variables on; else DuckDB knows the secrets it has stored."""
    if scheme == "s3" and os.environ.get("AWS_ACCESS_KEY_ID"):
        given = {key: os.environ.get(name, "") for key, name in _AWS.items()}
        given["REGION"] = given["REGION"] or os.environ.get("AWS_DEFAULT_REGION", "")
        if given["ENDPOINT"]:
            protocol, _, given["ENDPOINT"] = given["ENDPOINT"].rpartition("://")
            given |= {"URL_STYLE": "path", "USE_SSL": str(protocol != "http").lower()}
    elif STORES[scheme] == "azure" and os.environ.get(_AZURE):
        given = {"CONNECTION_STRING": os.environ[_AZURE]}
    else:
        return
    texts = {key: value.replace("'", "''") for key, value in given.items() if value}
    quoted = ", ".join(f"{key} '{text}'" for key, text in texts.items())
    kind = "s3" if scheme == "s3" else "azure"
    connection.execute(f"CREATE SECRET (TYPE {kind}, {quoted})").fetchall()


def _failed(error: Exception, address: str, secret: str) -> MisfeatError:
    """Whatever an engine says, without what nobody should see."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return MisfeatError(
        "{address!r} cannot be read; check the address, the network and what you may read there. "
        "({reason})",
        address=address,
        reason=as_message(reason.replace(secret, "...") if secret else reason),
    )
