"""Paths as users give them, files that are written whole or not at all, and one lock."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

STAGED = ".saving-"  # Begins the names of files and folders that are not complete yet
TRIES = 200  # To replace a file that another process reads, or to read a folder that one writes


def as_path(path: object, parameter: str, what: str = "file") -> Path:
    """The path that a user gave as a parameter, ``~`` spelled out; raises where it is none."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
        spelled_out = Path(text).expanduser()
        if text and "\0" not in text:
            return spelled_out
    except (TypeError, RuntimeError):  # not a path, or of a home folder that is not known
        pass
    raise MisfeatError(f"{Setting(parameter, path)}; give the path of a {what}.")


def real_path(path: Path) -> Path:
    """The path behind links; a link that leads nowhere but in a circle stays what it is."""
    return Path(os.path.realpath(path))


def unreadable(path: Path | str, error: OSError, what: str = "read") -> MisfeatError:
    """The error for what the system does not let us see, or do `what` else with."""
    return MisfeatError(f"{str(path)!r} cannot be {what}: {error.strerror}.")


@contextmanager
def refusals_told(path: Path, what: str) -> Iterator[None]:
    """Say that a path cannot be "read" or "written" where the system does not let the block."""
    try:
        yield
    except OSError as error:
        raise unreadable(path, error, what) from error


def write_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file at once or not at all; folders above it are made where they do not exist."""
    # An older file is replaced, a link is followed, and a device or a pipe is written to as it is.
    with refusals_told(path, "written"):
        if path.is_dir():
            raise MisfeatError(f"{str(path)!r} is a folder; give the name of a file in it.")
        target = real_path(path)
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        write_files(target.parent, {target.name: content}, mode)


def write_files(folder: Path, contents: Mapping[str, bytes], mode: int = 0o666) -> None:
    """Put files in the places of what is there, links included, once all are on the disk."""
    with staged_files(folder, contents, mode) as staged:
        for name in contents:
            move(staged / name, folder / name)


@contextmanager
def staged_files(folder: Path, contents: Mapping[str, bytes], mode: int = 0o666) -> Iterator[Path]:
    """New files in a hidden folder of their own, on the disk; what the block leaves there goes."""
    staged = folder / f"{STAGED}{uuid4().hex}"
    try:
        staged.mkdir()
        for name, content in contents.items():
            write_new(staged / name, content, mode)
        yield staged
    finally:
        rmtree(staged, ignore_errors=True)
    sync_folder(folder)


def write_new(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file that is not there yet, and have it on the disk."""
    path.touch(mode, exist_ok=False)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def move(source: Path, target: Path) -> None:
    """Move a file over another one."""
    for turn in range(TRIES):
        try:
            source.replace(target)
            return
        except PermissionError:
            if os.name == "posix" or turn == TRIES - 1:
                raise
            pause(turn)  # on Windows nobody replaces a file that another one reads


def sync_folder(folder: Path) -> None:
    """Have the entries of a folder on the disk, where the system can be asked to."""
    if sys.platform == "win32":
        return
    with suppress(OSError):  # some file systems have no such request
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def pause(turn: int) -> None:
    """Wait a moment before the next try, longer after many: some ten seconds in all."""
    time.sleep(min(0.001 * (turn + 1), 0.05))


FOLDER_LOCK = ".lock"  # Locked within the folder where the system cannot lock the folder itself
PATIENCE = 120.0  # Seconds to wait: whoever has the lock may have been stopped


class FileLock:
    """A lock on a folder, between threads and processes of a machine.

    The system gives it back when its process ends, however it ends. On file systems without locks
    nobody waits.
    """

    def __init__(self, folder: Path, patience: float = PATIENCE) -> None:
        self._folder, self._patience = folder, patience
        self._handle = -1

    def acquire(self) -> bool:
        """Wait for the lock; False where it did not come in time. Errors are those of opening."""
        if sys.platform == "win32":
            handle = os.open(self._folder / FOLDER_LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        else:
            handle = os.open(self._folder, os.O_RDONLY)
        until = time.monotonic() + self._patience
        while True:
            try:
                if sys.platform == "win32":
                    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
                else:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                if time.monotonic() > until:
                    os.close(handle)
                    return False
                time.sleep(0.02)
                continue
            except OSError:  # a file system without locks
                pass
            self._handle = handle
            return True

    def release(self) -> None:
        """Let others go on."""
        with suppress(OSError):
            if sys.platform != "win32":  # also for a process that was forked meanwhile
                fcntl.flock(self._handle, fcntl.LOCK_UN)
        os.close(self._handle)
        if sys.platform == "win32":
            with suppress(OSError):  # another one waits for it
                (self._folder / FOLDER_LOCK).unlink()
