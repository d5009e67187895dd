"""The folder of a saved selection: what belongs in it, and writing it whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from misfeat.exceptions import MisfeatError, Setting

MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"
REPORT, SETTINGS = "report.html", "run.toml"
"""What the command line writes beside a selection; they go with the one they tell about."""


def as_folder(path: object) -> Path:
    """The folder that a path names; raises for anything that is no path."""
    if not isinstance(path, str | os.PathLike):
        raise MisfeatError("{setting}; give the path of a folder.", setting=Setting("folder", path))
    return Path(path).expanduser()


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a new folder that takes the place of an old one of the same kind."""
    foreign = foreign_entries(folder)
    if foreign:
        raise MisfeatError(
            "{folder!r} holds {entry!r}, which is no part of a selection and would be lost; give "
            "another folder.",
            folder=str(folder),
            entry=foreign[0],
        )
    if is_current(folder):
        _write_into(folder, files)
        return
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    replaced = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    try:
        unfinished.mkdir(parents=True)
        for name, content in files.items():
            (unfinished / name).write_bytes(content)
        if folder.exists():
            folder.rename(replaced)
        unfinished.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        for left in (unfinished, replaced):
            shutil.rmtree(left, ignore_errors=True)


def is_current(folder: Path) -> bool:
    """Whether a folder is the current one, which a shell would lose if another took its place."""
    try:
        return folder.samefile(Path.cwd())
    except OSError:  # one of them does not exist
        return False


def foreign_entries(folder: Path) -> list[str]:
    """What is in the place of a selection, and no part of one."""
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise MisfeatError("{folder!r} is a file; give a folder.", folder=str(folder))
    known = (folder / MANIFEST).exists()
    ours = {MANIFEST, ARRAYS, REPORT, SETTINGS} if known else set()
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in ours)


def make_folder(path: str) -> Path:
    """Make a folder for results before work starts, so that no work is lost."""
    if not path:
        raise MisfeatError("{out} names no folder; give one.", out=Setting("out", path))
    place = Path(path).expanduser().absolute()
    if place.exists() and not place.is_dir():
        raise MisfeatError(
            "{out} is a file; give a folder, or remove the file.", out=Setting("out", path)
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(
            "The folder {folder!r} cannot be made: {why}.", folder=path, why=error.strerror
        ) from None
    return place


def check_folder(path: str) -> Path:
    """The folder for a run, refused before work starts where it holds what is not ours.

    Saving replaces the whole folder, so that nothing of anyone else's may be in it.
    """
    new = not Path(path).expanduser().exists()
    place = make_folder(path).resolve()
    foreign = foreign_entries(place)
    if foreign:
        raise MisfeatError(
            "{out} holds {entry!r}, which is no part of a saved run and would be lost; give "
            "another folder.",
            out=Setting("out", path),
            entry=foreign[0],
        )
    if not os.access(place if is_current(place) else place.parent, os.W_OK):
        raise MisfeatError(
            "{out} cannot be written: its folder is read-only.", out=Setting("out", path)
        )
    if new:
        place.rmdir()  # a run that fails leaves nothing behind
    return place


def _write_into(folder: Path, files: dict[str, bytes]) -> None:
    """Replace the files of a selection one by one; checksums tell of one that was left half way."""
    unfinished = {name: folder / f".{name}.{os.getpid()}.part" for name in files}
    try:
        for name, content in files.items():
            unfinished[name].write_bytes(content)
        for told_about in (REPORT, SETTINGS):
            (folder / told_about).unlink(missing_ok=True)
        for name, file in unfinished.items():
            file.replace(folder / name)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        for file in unfinished.values():
            file.unlink(missing_ok=True)


def _unwritable(folder: Path, error: OSError) -> MisfeatError:
    return MisfeatError(
        "{folder!r} cannot be written: {why}.", folder=str(folder), why=error.strerror
    )
