"""The folder of a saved selection: its parts are written together or not at all, and read so.

A save writes its files into a hidden folder inside the target and renames that to `COMMITTED`. This
one atomic step decides: before it the old files are what is read, after it the new ones. They are
then moved to their places, the manifest first, and the hidden folder goes. A process that is killed
leaves the old run or the new one, whole; the next save puts away what was left. The target itself
is never replaced, so that it may be the current folder of a shell, or a link's.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from misfeat.exceptions import DamagedFileError, MisfeatError
from misfeat.messages import Setting
from misfeat.runtime import file_system as files

MANIFEST, ARRAYS = "selection.json", "arrays.safetensors"
ANSWERS = "answers.json"
REPORT, SETTINGS = "report.html", "run.toml"
"""What the command line writes beside a selection; they go with the one they are about."""
PARTS = (MANIFEST, ARRAYS, ANSWERS, SETTINGS, REPORT)
COMMITTED = ".committed"  # The folder of parts that are decided upon and not yet in their places


def as_folder(path: object) -> Path:
    """The folder that a path names; raises for anything that is not a path."""
    return files.as_path(path, "folder", what="folder")


def refuse_foreign(folder: Path, name: object, what: str) -> None:
    """Raise where a folder, `name` in messages, holds what is no part of `what` but others'."""
    with files.refusals_told(folder, "read"):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise MisfeatError(f"{str(folder)!r} is a file; give a folder.")
        entries = {entry.name for entry in folder.iterdir()}
        # Asked after listing: a save that is under way puts the manifest before all else.
        known = (folder / MANIFEST).exists() or (folder / COMMITTED).exists()
    ours = {COMMITTED, files.FOLDER_LOCK, *(PARTS if known else ())}
    foreign = sorted(entry for entry in entries - ours if not entry.startswith(files.STAGED))
    if foreign:
        raise MisfeatError(
            f"{name} holds {foreign[0]!r}, which is no part of {what}; give another folder."
        )


def make_folder(path: str) -> Path:
    """Make a folder for results before work starts, so that no work is lost."""
    folder, out = files.as_path(path, "out", what="folder").absolute(), Setting("out", path)
    try:
        if folder.exists() and not folder.is_dir():
            raise MisfeatError(f"{out} is a file; give a folder, or remove the file.")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MisfeatError(f"The folder {path!r} cannot be made: {error.strerror}.") from None
    return folder


def check_folder(path: str) -> Path:
    """The folder for a run, refused before work starts where it holds what is not ours."""
    new = not os.path.lexists(files.as_path(path, "out", what="folder"))
    folder, out = files.real_path(make_folder(path)), Setting("out", path)
    refuse_foreign(folder, out, "a saved run")
    if not os.access(folder, os.W_OK):
        raise MisfeatError(f"{out} cannot be written: its folder is read-only.")
    if new:
        with suppress(OSError):  # another run was faster
            folder.rmdir()  # a run that fails leaves nothing behind
    return folder


def write_parts(folder: Path, parts: Mapping[str, bytes]) -> None:
    """Write `parts`, the manifest among them; those of an older run go, all or none of them."""
    with files.refusals_told(folder, "written"):
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _locked(folder):
                _clean_up(folder)
                with files.staged_files(folder, parts) as staged:
                    files.sync_folder(staged)
                    staged.rename(folder / COMMITTED)  # which decides upon them
                _move_committed(folder)
        except BaseException:
            if new:
                with suppress(OSError):  # something is in it after all
                    folder.rmdir()
            raise
        if new:
            files.sync_folder(folder.parent)


def add_part(folder: Path, name: str, content: bytes, manifest: bytes) -> None:
    """Write one part of a run that is there; a link in its place is replaced, never followed."""
    # Where the manifest is not that of the run that the part belongs to, nothing is written.
    with files.refusals_told(folder / name, "written"), _locked(folder):
        _clean_up(folder)
        if read_parts(folder, [MANIFEST]).get(MANIFEST) != manifest:
            raise MisfeatError(f"{str(folder)!r} was saved anew in the meantime; try again.")
        files.write_files(folder, {name: content})


def read_parts(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Read files of a folder, all as one save left them; those that are not there are left out."""
    # Links are followed, as stores of data make them, but nothing other than plain files is read.
    # Other files than parts must be such that nobody writes them meanwhile.
    for turn in range(files.TRIES):
        before = _stamp(folder)
        with suppress(FileNotFoundError):  # moved to its place in this very moment
            parts = _read_once(folder, names)
            if _stamp(folder) == before:
                return parts
        files.pause(turn)
    raise MisfeatError(f"{str(folder)!r} is being written all the time; try again later.")


def _read_once(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    committed = _committed(folder)
    untouched = committed is not None and MANIFEST in committed
    parts = {}
    for name in names:
        if committed is not None and name in committed:
            parts[name] = _read(folder / COMMITTED / name)
        elif not (untouched and name in PARTS):  # else it is of the older run
            with suppress(FileNotFoundError, NotADirectoryError):
                parts[name] = _read(folder / name)
    return parts


def _read(file: Path) -> bytes:
    if not stat.S_ISREG(file.stat().st_mode):
        raise DamagedFileError(f"{str(file)!r} is no plain file; save again.")
    return file.read_bytes()


def _committed(folder: Path) -> set[str] | None:
    """The parts that are decided upon and not yet in their places; None where nothing waits."""
    waiting = folder / COMMITTED
    try:
        if not stat.S_ISDIR(waiting.lstat().st_mode):
            raise _not_ours(waiting)
        with os.scandir(waiting) as entries:
            plain = {entry.name: entry.is_file(follow_symlinks=False) for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return None
    for name, is_plain in plain.items():
        if name not in PARTS or not is_plain:
            raise _not_ours(waiting / name)
    return set(plain)


def _clean_up(folder: Path) -> None:
    """Finish what a save that was killed had decided upon, and remove what it had not."""
    _move_committed(folder)
    for left in folder.glob(f"{files.STAGED}*"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()


def _move_committed(folder: Path) -> None:
    """Move what was decided upon to its place; as long as the manifest waits, nothing has moved."""
    committed = _committed(folder)
    if committed is None:
        return
    if MANIFEST in committed:
        for name in PARTS:
            if name not in committed:
                (folder / name).unlink(missing_ok=True)
    for name in sorted(committed, key=PARTS.index):
        files.move(folder / COMMITTED / name, folder / name)
    files.sync_folder(folder)
    (folder / COMMITTED).rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other threads and processes of this machine from writing to a folder."""
    lock = files.FileLock(folder)
    if not lock.acquire():
        raise MisfeatError(f"{str(folder)!r} is being written; try again later.")
    try:
        yield
    finally:
        lock.release()


def _stamp(folder: Path) -> list[tuple[str, int, int, int]]:
    """Changes whenever a save does anything to what is read."""
    stamp = []
    for name in (COMMITTED, *PARTS, *(f"{COMMITTED}/{part}" for part in PARTS)):
        with suppress(FileNotFoundError, NotADirectoryError):
            status = (folder / name).lstat()
            stamp.append((name, status.st_ino, status.st_mtime_ns, status.st_size))
    return stamp


def _not_ours(path: Path) -> DamagedFileError:
    return DamagedFileError(
        f"{str(path)!r} was not written by misfeat; remove it, or use another folder."
    )
