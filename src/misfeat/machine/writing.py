"""Files that are written at once or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError
from misfeat.machine.paths import real_path, unwritable

if TYPE_CHECKING:
    from pathlib import Path


def write_file(place: Path, content: bytes) -> None:
    """Write a file at once or not at all; folders above it are made where they do not exist.

    An older file is replaced, a link is followed, and a device or a pipe is written to as it is.
    """
    try:
        check_no_folder(place)
        _write(real_path(place), content)
    except OSError as error:
        raise unwritable(place, error) from error


def check_no_folder(place: Path) -> None:
    """Raise where a file is to be written and a folder is."""
    if place.is_dir():
        raise MisfeatError(
            "{place!r} is a folder; give the name of a file in it.", place=str(place)
        )


def _write(place: Path, content: bytes) -> None:
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
