"""Who opens an address: by what stands before ``://``, misfeat itself, or a source of one's own.

Importing this imports no engine: a shell that completes names waits for it.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

    Opener = Callable[[str], Any]

GROUP = "misfeat.sources"
"""The entry points by which an installed package brings sources."""
_DATABASE = "misfeat.cohorts.far_tables:open_database"
_STORE = "misfeat.cohorts.far_tables:open_store"
HOMES = {
    "postgresql": _DATABASE,
    "postgres": _DATABASE,
    **dict.fromkeys(
        ("s3", "gs", "gcs", "r2", "http", "https", "hf", "az", "azure", "abfss"), _STORE
    ),
}
"""The module and the function that open an address. A new one needs a line here."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+")
_registered: dict[str, Opener] = {}


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
    """Who opens addresses of a scheme; None where nobody does.

    Examples
    --------
    >>> opener_of("postgresql").__name__, opener_of("nobodys")
    ('open_database', None)
    """
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
