"""Which files a table was read from, so that one that changed is known as another."""

from __future__ import annotations

import os
from pathlib import Path

from misfeat.cohorts.files import matching_files
from misfeat.exceptions import MisfeatError

Identity = tuple[str, int, int, int, int]


def files_behind(X: object) -> list[Identity] | None:
    """The files of a path, each with its size and when it was changed; None of other tables."""
    if not isinstance(X, str | os.PathLike) or "://" in os.fspath(X):
        return None
    try:
        return [_identity(file) for file in matching_files(os.fspath(X))]
    except (MisfeatError, OSError):
        return None


def _identity(file: str) -> Identity:
    place = Path(file).resolve()
    found = place.stat()
    return str(place), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
