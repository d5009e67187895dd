"""Work that several processes want done, and one should do: the others wait for its result.

A turn is a lock on one byte of a file that all of them open. The system gives it back when a
process ends, however it ends. Where there are no such locks, or no file can be written, nobody
waits.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from pathlib import Path

fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None  # not on Windows

FILE = "turns.lock"
PATIENCE = 120.0
"""Seconds after which a process does the work itself: another one may have been stopped."""
LOOK_EVERY = 0.02


class Turn:
    """The right to do one piece of work in a folder; different ones do not wait for each other.

    Whoever has waited for as many seconds as their patience goes on.
    """

    _files: dict[tuple[int, Path], int] = {}  # noqa: RUF012  (of the process)

    def __init__(self, folder: Path, name: str, patience: float = PATIENCE) -> None:
        self._folder, self._byte, self._patience = folder, crc32(name.encode()), patience

    def take(self) -> bool:
        """Wait for the turn; False where it did not come, so that there is nothing to look at."""
        if fcntl is None:
            return False
        with suppress(OSError):
            file = self._file()
            until = time.monotonic() + self._patience
            while time.monotonic() < until:
                with suppress(BlockingIOError, PermissionError):
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._byte)
                    return True
                time.sleep(LOOK_EVERY)
        return False

    def end(self) -> None:
        """Let the next one go on; nothing where the turn was not taken."""
        if fcntl is not None:
            with suppress(OSError):
                fcntl.lockf(self._file(), fcntl.LOCK_UN, 1, self._byte)

    def _file(self) -> int:
        """The file of all turns in a folder. It stays open: closing it would end every turn."""
        key = os.getpid(), self._folder
        if key not in self._files:
            self._folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            self._files[key] = os.open(self._folder / FILE, flags, 0o666)
        return self._files[key]
