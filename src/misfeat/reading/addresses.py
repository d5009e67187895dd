"""Tables that an address names: a table of PostgreSQL, Parquet files in an object store, or what
a source of one's own opens.

Nothing that is shown or saved has a password in it, nor what follows the question mark of a signed
address. Importing this imports no engine: a shell that completes names waits for it.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.metadata import EntryPoint

    Opener = Callable[[str], Any]


DATABASES = ("postgresql", "postgres")
STORES: Mapping[str, str] = {
    **dict.fromkeys(("s3", "gs", "gcs", "r2", "http", "https", "hf"), "httpfs"),
    **dict.fromkeys(("az", "azure", "abfss"), "azure"),
}
"""Where DuckDB reads Parquet files from, and the extension of DuckDB that it needs for that."""
GROUP = "misfeat.sources"
"""The entry points by which an installed package brings sources."""
HOMES = {
    **dict.fromkeys(DATABASES, "misfeat.reading.inputs:open_database"),
    **dict.fromkeys(STORES, "misfeat.reading.inputs:open_store"),
}
"""The module and the function that open an address. A new one needs a line here."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")
_SHOWN = ("table", "host", "port", "user", "sslmode")
_registered: dict[str, Opener] = {}


def is_address(text: str) -> bool:
    """Whether a text is the address of a table rather than a path."""
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
    if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
        raise MisfeatError(
            "{setting}; it must be two or more of a-z, 0-9, +, . and -, the first one a letter.",
            setting=Setting("scheme", scheme),
        )
    if scheme in HOMES:
        raise MisfeatError(
            "{setting} is opened by misfeat itself; choose another.",
            setting=Setting("scheme", scheme),
        )
    if not callable(opener):
        raise MisfeatError(
            "{setting}; it must be a function that takes an address.",
            setting=Setting("opener", opener),
        )
    _registered[scheme] = opener


def scheme_of(text: str) -> str | None:
    """What stands before ``://``, in lower case; None of a text that is no address.

    Examples
    --------
    >>> scheme_of("S3://bucket/rows.parquet"), scheme_of("data/rows.parquet")
    ('s3', None)
    """
    scheme, apart, _ = text.partition("://")
    scheme = scheme.lower()
    return scheme if apart and _SCHEME.fullmatch(scheme) else None


def is_known(scheme: str) -> bool:
    """Whether anybody opens addresses of a scheme."""
    return scheme in HOMES or scheme in _registered or scheme in _installed()


def opener_of(scheme: str) -> Opener | None:
    """Who opens addresses of a scheme; None where nobody does."""
    if scheme in HOMES:
        module, _, name = HOMES[scheme].partition(":")
        found: Opener = getattr(import_module(module), name)
        return found
    if scheme in _registered:
        return _registered[scheme]
    entry = _installed().get(scheme)
    if entry is None:
        return None
    try:
        loaded: Opener = entry.load()
    except Exception as error:
        raise MisfeatError(
            "The source of {scheme}:// addresses, {place}, cannot be loaded ({reason}); see to the "
            "package that brings it.",
            scheme=scheme,
            place=entry.value,
            reason=str(error) or type(error).__name__,
        ) from error
    return loaded


def _installed() -> dict[str, EntryPoint]:
    """What installed packages bring, by scheme; of two packages with the same one the first."""
    from importlib.metadata import entry_points  # only where an address is none of ours

    return {entry.name: entry for entry in reversed(list(entry_points(group=GROUP)))}
