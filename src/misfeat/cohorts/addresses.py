"""Tables that an address names: a table of PostgreSQL, Parquet files in an object store, or what
a source of one's own opens.

Nothing that is shown or saved has a password in it, nor what follows the question mark of a signed
address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from misfeat.cohorts.schemes import is_known, scheme_of
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASES = ("postgresql", "postgres")
STORES: Mapping[str, str] = {
    "s3": "httpfs",
    "gs": "httpfs",
    "gcs": "httpfs",
    "r2": "httpfs",
    "http": "httpfs",
    "https": "httpfs",
    "hf": "httpfs",
    "az": "azure",
    "azure": "azure",
    "abfss": "azure",
}
"""Where DuckDB reads Parquet files from, and the extension of DuckDB that it needs for that."""


def is_address(text: str) -> bool:
    """Whether a text is the address of a table rather than a path.

    Examples
    --------
    >>> is_address("s3://bucket/rows.parquet"), is_address("data/rows.parquet")
    (True, False)
    """
    scheme = scheme_of(text)
    return scheme is not None and is_known(scheme)


def is_database(address: str) -> bool:
    """Whether an address is that of a database."""
    return address.partition("://")[0].lower() in DATABASES


def without_secrets(text: str) -> str:
    """An address as it may be shown and saved; any other text as it is.

    Whether anybody opens it does not matter: a password may be in it all the same.

    Examples
    --------
    >>> without_secrets("postgresql://ann:secret@db/ward?table=visits&password=secret")
    'postgresql://ann@db/ward?table=visits'
    >>> without_secrets("https://host/rows.parquet?signature=secret")
    'https://host/rows.parquet'
    >>> without_secrets("ward://ann:sec/ret@host/rows?token=secret")
    'ward://host/rows'
    """
    scheme = scheme_of(text)
    if scheme is None:
        return text
    if scheme not in STORES and not is_database(text):
        return f"{text.partition('://')[0]}://{_behind_secrets(text)}"
    if is_database(text):
        text = _with_plain_password(text)
    try:
        parts = urlsplit(text)
    except ValueError:
        return f"{text.partition('://')[0]}://..."
    user, at, host = parts.netloc.rpartition("@")
    netloc = f"{user.partition(':')[0]}{at}{host}" if is_database(text) else host
    query = ""
    if is_database(text):
        shown = [(key, value) for key, value in parse_qsl(parts.query) if key in _SHOWN]
        query = urlencode(shown, safe="./")
    return SplitResult(parts.scheme, netloc, parts.path, query, "").geturl()


def secrets_of(address: str) -> list[str]:
    """The parts of an address that may not be shown, the longest first.

    Examples
    --------
    >>> secrets_of("ward://ann:secret@host/rows?token=key")
    ['ann:secret', 'token=key', 'secret', 'key']
    """
    rest = address.partition("://")[2]
    before, _, behind = rest.rpartition("@")
    _, _, password = before.partition(":")
    _, _, query = behind.partition("?")
    asked, _, fragment = query.partition("#")
    values = [value for _, value in parse_qsl(asked)]
    found = {before, password, unquote(password), asked, fragment, *values}
    return sorted((part for part in found if len(part) > 2), key=lambda part: (-len(part), part))


def _behind_secrets(address: str) -> str:
    """What stands behind the last ``@`` of an address and before its question mark."""
    rest = address.partition("://")[2].rpartition("@")[2]
    return rest.partition("?")[0].partition("#")[0]


def _with_plain_password(address: str) -> str:
    """The address of a database whose password cannot be taken for a part of the rest."""
    scheme, apart, rest = address.partition("://")
    before, at, behind = rest.rpartition("@")
    user, colon, _ = before.partition(":")
    return f"{scheme}{apart}{user}{at}{behind}" if colon else address


_SHOWN = ("table", "host", "port", "user", "sslmode")


def parsed_database(address: str) -> tuple[dict[str, str | int], str | None, str]:
    """How to connect to a database, and the schema and the name of the table, from an address.

    It is ``postgresql://user@host:port/database?table=schema.name``; the host may also be given as
    ``host=``, a folder for a socket.

    Examples
    --------
    >>> parsed_database("postgresql://ann@db:5433/ward?table=june.visits")
    ({'user': 'ann', 'host': 'db', 'port': 5433, 'database': 'ward'}, 'june', 'visits')
    """
    shown = without_secrets(address)
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise _misspelt(shown) from error
    asked = dict(parse_qsl(parts.query))
    table = asked.pop("table", "")
    if not table:
        raise _misspelt(shown)
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


def _misspelt(shown: str) -> MisfeatError:
    return MisfeatError(
        "{address!r} does not name a table; write "
        "postgresql://user@host:port/database?table=schema.name, the password in PGPASSWORD or in "
        "~/.pgpass.",
        address=shown,
    )
