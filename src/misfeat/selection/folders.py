"""The folder of a saved selection: what belongs in it, and what is somebody else's."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError, Setting
from misfeat.machine.paths import as_path, real_path, unreadable
from misfeat.machine.steps import UNFINISHED

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"
REPORT, SETTINGS = "report.html", "run.toml"
"""What the command line writes beside a selection; they go with the one they tell about."""
PARTS = (MANIFEST, ARRAYS, SETTINGS, REPORT)
COMMITTED, STAGED, LOCK = ".committed", ".saving-", ".lock"
"""What a save leaves in the folder if it is killed: names, and how names begin."""


def as_folder(path: object) -> Path:
    """The folder that a path names; raises for anything that is no path."""
    return as_path(path, "folder", what="folder")


def refuse_foreign(folder: Path) -> None:
    """Raise where a folder holds what is no part of a selection: it is somebody else's."""
    foreign = foreign_entries(folder)
    if foreign:
        raise MisfeatError(
            "{folder!r} holds {entry!r}, which is no part of a selection; give another folder.",
            folder=str(folder),
            entry=foreign[0],
        )


def foreign_entries(folder: Path) -> list[str]:
    """What is in the place of a selection, and no part of one."""
    try:
        if not folder.exists():
            return []
        if not folder.is_dir():
            raise MisfeatError("{folder!r} is a file; give a folder.", folder=str(folder))
        names = {entry.name for entry in folder.iterdir()}
        # Asked after listing: a save that is under way puts the manifest before all else.
        known = (folder / MANIFEST).exists() or (folder / COMMITTED).exists()
    except OSError as error:
        raise unreadable(folder, error) from error
    ours = {COMMITTED, LOCK, UNFINISHED, *(PARTS if known else ())}
    return sorted(name for name in names - ours if not name.startswith(STAGED))


def make_folder(path: str) -> Path:
    """Make a folder for results before work starts, so that no work is lost."""
    place = as_path(path, "out", what="folder").absolute()
    try:
        if place.exists() and not place.is_dir():
            raise MisfeatError(
                "{out} is a file; give a folder, or remove the file.", out=Setting("out", path)
            )
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(
            "The folder {folder!r} cannot be made: {why}.", folder=path, why=error.strerror
        ) from None
    return place


def check_folder(path: str) -> Path:
    """The folder for a run, refused before work starts where it holds what is not ours."""
    new = not os.path.lexists(as_path(path, "out", what="folder"))
    place = real_path(make_folder(path))
    foreign = foreign_entries(place)
    if foreign:
        raise MisfeatError(
            "{out} holds {entry!r}, which is no part of a saved run; give another folder.",
            out=Setting("out", path),
            entry=foreign[0],
        )
    if not os.access(place, os.W_OK):
        raise MisfeatError(
            "{out} cannot be written: its folder is read-only.", out=Setting("out", path)
        )
    if new:
        with suppress(OSError):  # another run was faster
            place.rmdir()  # a run that fails leaves nothing behind
    return place
