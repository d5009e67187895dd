"""Processes that die at a chosen file operation."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS = {
    "open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir", "os.listdir",
    "os.link", "os.symlink", "os.truncate", "fcntl.flock",
}  # fmt: skip
"""What Python tells before it does it; `os.fsync` is counted beside them."""


def killed_at(number: int | None, root: Path, work: Callable[[], object]) -> int | None:
    """Do some work in a process that is killed before its n-th operation on files below a folder.

    Parameters
    ----------
    number : int or None
        From 1 on. None: it is not killed.
    root : Path
        Operations elsewhere do not count.
    work : callable
        What to do.

    Returns
    -------
    int or None
        How many operations there were; None where the process was killed.
    """
    ours, theirs = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        done = 0
        try:
            done = _counted(number, root, work)
        finally:
            os.write(theirs, str(done).encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        answer = told.read()
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else int(answer)


def _counted(number: int | None, root: Path, work: Callable[[], object]) -> int:
    count, below, fsync = 0, str(root), os.fsync

    def one_more() -> None:
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(event: str, args: tuple[object, ...]) -> None:
        if event in OPERATIONS and (event == "fcntl.flock" or _is_below(args, below)):
            one_more()

    def synced(handle: int) -> None:
        one_more()
        fsync(handle)

    os.fsync = synced
    sys.addaudithook(heard)
    with Path(os.devnull).open("w") as nowhere:
        sys.stdout = sys.stderr = nowhere
        work()
    return count


def _is_below(args: tuple[object, ...], root: str) -> bool:
    paths = [os.fsdecode(arg) for arg in args if isinstance(arg, str | bytes | os.PathLike)]
    by_handle = [arg for arg in args[1:] if isinstance(arg, int) and arg > 2]
    return any(os.path.abspath(path).startswith(root) for path in paths if path) or (  # noqa: PTH100
        bool(by_handle) and len(paths) == 1 and os.sep not in paths[0]
    )
