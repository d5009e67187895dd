"""How much memory this process may still take: what is free, less what limits withhold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMBERSHIP = Path("/proc/self/cgroup")
"""Which control groups the process is in, a line each."""
CGROUPS = Path("/sys/fs/cgroup")


class _CgroupFiles(NamedTuple):
    """Where one version of control groups keeps its figures."""

    root: str
    limit: str
    usage: str
    cache: str


_V1 = _CgroupFiles(
    "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
)
_V2 = _CgroupFiles("", "memory.max", "memory.current", "inactive_file")
_HYBRID = _V2._replace(root="unified")
"""Version 2 beside version 1, as systemd mounts it on older systems."""


def available_memory() -> int:
    """Bytes of memory that this process may still take, 0 where a limit is used up.

    The smallest of what the machine has free, what the memory limits of its control groups leave
    (containers, batch systems), and what the limits of its address space (``ulimit -v``) and of its
    data (``ulimit -d``) leave.
    """
    rooms: list[int] = [psutil.virtual_memory().available, *_cgroup_rooms(), *_process_rooms()]
    return max(0, min(rooms))


def _cgroup_rooms() -> Iterator[int]:
    """Bytes that the control groups of this process leave, where they have a limit."""
    try:
        lines = MEMBERSHIP.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0" and not controllers:
            yield from _rooms_along(path, _V2)
            yield from _rooms_along(path, _HYBRID)
        elif "memory" in controllers.split(","):
            yield from _rooms_along(path, _V1)


def _rooms_along(path: str, files: _CgroupFiles) -> Iterator[int]:
    """Bytes that a group and the groups around it leave: the limit of each binds.

    In a container, the path may be one that only the host sees; the container's own group is then
    the outermost one here.
    """
    root = CGROUPS / files.root
    inner = root / path.lstrip("/")
    for folder in (inner, *inner.parents):
        if not folder.is_relative_to(root):
            return
        limit, usage = _number(folder / files.limit), _number(folder / files.usage)
        if limit is not None and usage is not None:
            yield limit - usage + _reclaimable(folder / "memory.stat", files.cache)


def _number(file: Path) -> int | None:
    """The number in a file, None where there is no file or it says "max"."""
    try:
        text = file.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None


def _reclaimable(statistics: Path, name: str) -> int:
    """Bytes of cached files, which count as used but are given back when needed."""
    try:
        lines = statistics.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)


def _process_rooms() -> Iterator[int]:
    """Bytes that the limits of this process leave, where it has any."""
    if sys.platform == "win32":
        return
    import resource

    taken = psutil.Process().memory_info()
    data = getattr(taken, "data", None)  # not every system tells
    for kind, used in ((resource.RLIMIT_AS, taken.vms), (resource.RLIMIT_DATA, data)):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY and used is not None:
            yield limit - used
