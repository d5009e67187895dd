"""What misfeat raises and warns; every message names the column or value and a remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sized
from difflib import get_close_matches
from numbers import Integral
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class MisfeatError(ValueError):
    """The table or the request cannot be answered; the message says what to do.

    Examples
    --------
    >>> from misfeat import MisfeatError
    >>> issubclass(MisfeatError, ValueError)
    True
    """


class DamagedFileError(MisfeatError):
    """A file that misfeat wrote was changed, cut off, or written by a newer version.

    Examples
    --------
    >>> from misfeat import DamagedFileError, MisfeatError
    >>> issubclass(DamagedFileError, MisfeatError)
    True
    """


class MemoryLimitError(MisfeatError):
    """What was asked for would take more memory than it may."""


class MisfeatWarning(UserWarning):
    """The answer stands, but something in the table was left out or cannot be trusted.

    Examples
    --------
    >>> from misfeat import MisfeatWarning
    >>> issubclass(MisfeatWarning, UserWarning)
    True
    """


class UnseenSubgroupWarning(MisfeatWarning):
    """A table to transform has subgroups that the table at fit did not have.

    Examples
    --------
    >>> from misfeat import MisfeatWarning, UnseenSubgroupWarning
    >>> issubclass(UnseenSubgroupWarning, MisfeatWarning)
    True
    """


def warn(text: str, kind: type[MisfeatWarning] = MisfeatWarning) -> None:
    """Warn as if the user's own line had: the first one outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "misfeat" or module.startswith("misfeat.")


def check_count(value: object, name: str, least: int = 1, none: bool = False) -> None:
    """Refuse a parameter that is no whole number of at least `least`, nor None where it may be."""
    if none and value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise MisfeatError(
            f"{name}={shortened(value)}; it must be a whole number of at least {least}"
            f"{', or None' if none else ''}."
        )


def check_jobs(n_jobs: object) -> None:
    """Refuse what is no number of threads as joblib reads it, nor None."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise MisfeatError(
            f"n_jobs={n_jobs!r}; it must be a number of threads, -1 for all, or None."
        )


def listed(names: Iterable[object], most: int = 10) -> str:
    """Names for a message, only the first of them where there are many.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(map(repr, names[:most]))
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def shortened(value: object, most: int = 60) -> str:
    """A value for a message, on one line; only its type where it is long.

    Examples
    --------
    >>> shortened(["site"]), shortened(["site"] * 100)
    ("['site']", 'a list of 100')
    """
    shown = repr(value)
    if len(shown) <= most and "\n" not in shown:
        return shown
    size = f" of {len(value):,}" if isinstance(value, Sized) else ""
    return f"a {type(value).__name__}{size}"


def no_such_column(column: object, names: Iterable[str], role: str) -> MisfeatError:
    """The error for a column that the table does not have, with the nearest names it has."""
    names = list(names)
    near = get_close_matches(str(column), names, n=3, cutoff=0.6)
    has = listed(names) or "no columns"
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {has}."
    return MisfeatError(f"The table has no column {column!r} (asked for as {role}); {hint}")
