"""The folder of a saved selection: its parts are written together or not at all, and read so.

A save writes its files into a hidden folder inside the target and renames that to `COMMITTED`. This
one atomic step decides: before it the old files are what is read, after it the new ones. They are
then moved to their places, the manifest first, and the hidden folder goes. A process that is killed
leaves the old run or the new one, whole; the next save puts away what was left. The target itself
is never replaced, so that it may be the current folder of a shell, or a link's.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from misfeat.exceptions import DamagedFileError, MisfeatError, Setting
from misfeat.runtime.atomic_files import as_path, real_path, unreadable, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Stamp = tuple[tuple[int, int, int] | None, ...]

MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"
REPORT, SETTINGS = "report.html", "run.toml"
"""What the command line writes beside a selection; they go with the one they tell about."""
PARTS = (MANIFEST, ARRAYS, SETTINGS, REPORT)
COMMITTED, STAGED, LOCK = ".committed", ".saving-", ".lock"
"""What a save leaves in the folder if it is killed: names, and how names begin."""
TRIES = 200
"""How often a folder is read that is being written, and a file replaced that another one reads."""
LONGEST_PAUSE = 0.05
"""Seconds between two tries, at most: in all, some ten seconds."""


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
    ours = {COMMITTED, LOCK, *(PARTS if known else ())}
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


def write_parts(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write `files`, the manifest among them; those of an older run go, all or none of them."""
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _locked(folder):
                _put_away(folder)
                _commit(folder, files)
                _finish(folder)
        except BaseException:
            if new:
                with suppress(OSError):  # something is in it after all
                    folder.rmdir()
            raise
        if new:
            _sync(folder.parent)
    except OSError as error:
        raise unwritable(folder, error) from error


def add_part(folder: Path, name: str, content: bytes, manifest: bytes) -> None:
    """Write one part of a run that is there; a link in its place is replaced, never followed.

    Where the manifest is not that of the run that the part belongs to, nothing is written.
    """
    staged = folder / f"{STAGED}{uuid4().hex}"
    try:
        with _locked(folder):
            _put_away(folder)
            if read_parts(folder, [MANIFEST]).get(MANIFEST) != manifest:
                raise MisfeatError(
                    "{folder!r} was saved anew in the meantime; try again.", folder=str(folder)
                )
            try:
                _write(staged, content)
                _replace(staged, folder / name)
            finally:
                staged.unlink(missing_ok=True)
            _sync(folder)
    except OSError as error:
        raise unwritable(folder / name, error) from error


def read_parts(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Read files of a folder, all as one save left them; those that are not there are left out.

    Links are followed, as stores of data make them, but nothing other than plain files is read.

    Other files than parts must be such that nobody writes them meanwhile.
    """
    for turn in range(TRIES):
        before = _stamp(folder)
        try:
            found = _read_now(folder, names)
        except FileNotFoundError:  # moved to its place in this very moment
            found = None
        if found is not None and _stamp(folder) == before:
            return found
        _pause(turn)
    raise MisfeatError(
        "{folder!r} is being written all the time; try again later.", folder=str(folder)
    )


def _read_now(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    committed = _committed(folder)
    untouched = committed is not None and MANIFEST in committed
    found = {}
    for name in names:
        if committed is not None and name in committed:
            found[name] = _read(folder / COMMITTED / name)
        elif not (untouched and name in PARTS):  # else it is of the older run
            with suppress(FileNotFoundError, NotADirectoryError):
                found[name] = _read(folder / name)
    return found


def _read(file: Path) -> bytes:
    if not stat.S_ISREG(file.stat().st_mode):
        raise DamagedFileError("{file!r} is no plain file; save again.", file=str(file))
    return file.read_bytes()


def _committed(folder: Path) -> set[str] | None:
    """The parts that are decided upon and not yet in their places; None where nothing waits."""
    place = folder / COMMITTED
    try:
        if not stat.S_ISDIR(place.lstat().st_mode):
            raise _not_ours(place)
        with os.scandir(place) as entries:
            plain = {entry.name: entry.is_file(follow_symlinks=False) for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return None
    for name, is_plain in plain.items():
        if name not in PARTS or not is_plain:
            raise _not_ours(place / name)
    return set(plain)


def _put_away(folder: Path) -> None:
    """Finish what a save that was killed had decided upon, and remove what it had not."""
    _finish(folder)
    for left in folder.glob(f"{STAGED}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()


def _commit(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files beside those that are there, and decide upon them."""
    staged = folder / f"{STAGED}{uuid4().hex}"
    try:
        staged.mkdir()
        for name, content in files.items():
            _write(staged / name, content)
        _sync(staged)
        staged.rename(folder / COMMITTED)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    _sync(folder)


def _finish(folder: Path) -> None:
    """Move what was decided upon to its place; as long as the manifest waits, nothing has moved."""
    committed = _committed(folder)
    if committed is None:
        return
    if MANIFEST in committed:
        for name in PARTS:
            if name not in committed:
                (folder / name).unlink(missing_ok=True)
    for name in sorted(committed, key=PARTS.index):
        _replace(folder / COMMITTED / name, folder / name)
    _sync(folder)
    (folder / COMMITTED).rmdir()


def _write(file: Path, content: bytes) -> None:
    with file.open("xb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())


def _replace(source: Path, target: Path) -> None:
    for turn in range(TRIES):
        try:
            source.replace(target)
        except PermissionError:
            if os.name == "posix" or turn == TRIES - 1:
                raise
            _pause(turn)  # on Windows nobody replaces a file that another one reads
        else:
            return


def _sync(folder: Path) -> None:
    """Have the entries of a folder on the disk, where the system can be asked to."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems have no such request
            os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other threads and processes of this machine from writing to a folder."""
    if sys.platform == "win32":
        import msvcrt

        with (folder / LOCK).open("ab") as opened:
            msvcrt.locking(opened.fileno(), msvcrt.LK_LOCK, 1)
            yield
        with suppress(OSError):  # another one waits for it
            (folder / LOCK).unlink()
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        with suppress(OSError):  # a process that was forked meanwhile must not keep it
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def _stamp(folder: Path) -> Stamp:
    """Changes whenever a save does anything to what is read."""
    places = [folder / COMMITTED, *(folder / name for name in PARTS)]
    return tuple(map(_stamp_of, [*places, *(folder / COMMITTED / name for name in PARTS)]))


def _stamp_of(place: Path) -> tuple[int, int, int] | None:
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _pause(turn: int) -> None:
    time.sleep(min(0.001 * (turn + 1), LONGEST_PAUSE))


def _not_ours(place: Path) -> DamagedFileError:
    return DamagedFileError(
        "{file!r} was not written by misfeat; remove it, or use another folder.", file=str(place)
    )
