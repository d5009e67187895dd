"""Paths as users give them, made safe to ask the system about, and files written whole."""

from __future__ import annotations

import os
from pathlib import Path

from misfeat.exceptions import MisfeatError, Setting


def as_path(path: object, parameter: str, what: str = "file") -> Path:
    """The place that a path names; raises for anything that no system takes for a path.

    A leading ``~`` stands for a home folder. Messages name the parameter, and what the path should
    name: a file or a folder.
    """
    setting = Setting(parameter, path)
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise MisfeatError("{setting}; give the path of a {what}.", setting=setting, what=what)
    if not text:
        raise MisfeatError(
            "{setting} is empty; give the path of a {what}.", setting=setting, what=what
        )
    if "\0" in text:
        raise MisfeatError("{setting} holds a zero byte, which no path does.", setting=setting)
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise MisfeatError(
            "{setting} begins with a home folder that is not known; spell it out.", setting=setting
        ) from error


def real_path(place: Path) -> Path:
    """The place behind links; a link that leads nowhere but in a circle stays what it is."""
    return Path(os.path.realpath(place))


def unwritable(place: Path | str, error: OSError) -> MisfeatError:
    """The error for what the system does not let us write."""
    return MisfeatError("{place!r} cannot be written: {why}.", place=str(place), why=error.strerror)


def unreadable(place: Path | str, error: OSError) -> MisfeatError:
    """The error for what the system does not let us see."""
    return MisfeatError("{place!r} cannot be read: {why}.", place=str(place), why=error.strerror)


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
