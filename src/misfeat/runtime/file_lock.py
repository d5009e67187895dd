"""One lock between threads and processes of a machine, for whatever one at a time may write.

The system gives a lock back when its process ends, however it ends. On file systems without locks
nobody waits.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


FOLDER_LOCK = ".lock"
"""The file within a folder that is locked where the system cannot lock the folder itself."""
PATIENCE = 120.0
"""Seconds to wait: whoever has the lock may have been stopped."""
RETRY_AFTER = 0.02


class FileLock:
    """A lock on a folder, or on a file that is made where there is none.

    Acquiring one that this object has already succeeds at once.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self._path, self._patience = path, patience
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Wait for the lock; False where it did not come in time. Errors are those of opening."""
        if self._handle is not None:
            return True
        handle = self._opened()
        until = time.monotonic() + self._patience
        while True:
            try:
                _lock(handle)
            except (BlockingIOError, PermissionError):
                if time.monotonic() > until:
                    os.close(handle)
                    return False
                time.sleep(RETRY_AFTER)
                continue
            except OSError:  # a file system without locks
                pass
            self._handle = handle
            return True

    def release(self) -> None:
        """Let others go on; nothing where the lock was not acquired."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        with suppress(OSError):
            _unlock(handle)  # also for a process that was forked meanwhile and has it open, too
        os.close(handle)
        if sys.platform == "win32" and self._path.is_dir():
            with suppress(OSError):  # another one waits for it
                (self._path / FOLDER_LOCK).unlink()

    def _opened(self) -> int:
        if not self._path.is_dir():
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        if sys.platform == "win32":
            return os.open(self._path / FOLDER_LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        return os.open(self._path, os.O_RDONLY)
