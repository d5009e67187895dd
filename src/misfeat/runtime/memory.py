"""How much memory scores will take, and whether there is so much, asked before the work starts."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from math import comb
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

from misfeat.exceptions import InPython, MemoryLimitError, Message, MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GIB = 2**30
LIMIT_VARIABLE = "MISFEAT_MEMORY_LIMIT"
USUAL_LIMIT = 0.6
"""The share of the free memory that scores may take where nothing else is said."""
BYTES_A_SCORE = 8
COPIES_A_SCORE = 6
"""A score is held as computed, filled in, completed and with two bounds, and once on the way."""
BYTES_A_MEMBER = 4
BYTES_OF_PLAN = 40
"""Places, steps and order of a subset while its score is computed."""
MEMBERSHIP = Path("/proc/self/cgroup")
"""Which control groups the process is in, a line each."""
CGROUPS = Path("/sys/fs/cgroup")


def memory_needed(n_features: int, size: int, n_cohorts: int) -> int:
    """Bytes that scoring and completing all sets up to a size takes, at most."""
    needed = 0
    for m in range(size + 1):
        a_subset = COPIES_A_SCORE * BYTES_A_SCORE * n_cohorts + BYTES_A_MEMBER * m + BYTES_OF_PLAN
        needed += comb(n_features, m) * a_subset
    return needed


@contextmanager
def memory_limit(share: float) -> Iterator[None]:
    """Set the share of the free memory that scores may take while a block runs.

    A fit, or a question that needs further scores, that would take more raises an error before it
    starts. Without this, the environment variable ``MISFEAT_MEMORY_LIMIT`` sets the share, or else
    it is 0.6. Free memory is what the machine has, less what control groups (containers) and
    address-space limits withhold. Processes that the block starts read the environment variable
    only.

    Parameters
    ----------
    share : float
        Above 0 and at most 1.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> with misfeat.memory_limit(0.9):
    ...     selector = misfeat.SubgroupSelector("site", size=2).fit(heart.columns, heart.target)
    """
    token = _limit.set(_checked(share, "memory_limit"))
    try:
        yield
    finally:
        _limit.reset(token)


_limit: ContextVar[float | None] = ContextVar("memory_limit", default=None)


def current_limit() -> float:
    """The share of the free memory that scores may take here and now.

    What `memory_limit` set, else ``MISFEAT_MEMORY_LIMIT``, else 0.6.
    """
    share = _limit.get()
    if share is not None:
        return share
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return USUAL_LIMIT
    try:
        return _checked(float(text), LIMIT_VARIABLE)
    except ValueError:  # a MisfeatError is one, too
        raise _no_share(LIMIT_VARIABLE, text) from None


def allowed_memory() -> int:
    """Bytes that may be taken here and now: `current_limit` of the free memory."""
    return int(current_limit() * available_memory())


def _checked(share: object, name: str) -> float:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) <= 1:
        raise _no_share(name, share)
    return float(share)


def _no_share(name: str, value: object) -> MisfeatError:
    return MisfeatError(
        "{setting}; it must be a share of the free memory, above 0 and at most 1, such as {usual}.",
        setting=Setting(name, value),
        usual=USUAL_LIMIT,
    )


def in_units(n_bytes: int) -> str:
    """Bytes in the unit that suits their number.

    Examples
    --------
    >>> in_units(1536), in_units(5 * 2**30)
    ('1.5 KiB', '5.0 GiB')
    """
    amount, unit = float(n_bytes), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:,.0f} bytes" if unit == "bytes" else f"{amount:,.1f} {unit}"


def check_memory(
    n_features: int,
    size: int,
    n_cohorts: int,
    needed: Callable[[int, int], int],
) -> None:
    """Raise if work would need more memory than `current_limit` allows, and say what would fit.

    `needed` gives bytes for a number of features and a size.
    """
    limit = current_limit()
    allowed = allowed_memory()
    asked = needed(n_features, size)
    if asked <= allowed:
        return

    def fits(n: int, m: int) -> bool:
        try:
            return needed(n, m) <= allowed
        except MisfeatError:  # a setting of the completer does not go with this size
            return False

    fitting = next((m for m in range(size - 1, 0, -1) if fits(n_features, m)), 0)
    features = max((n for n in range(size, n_features) if fits(n, size)), default=0)
    raise MemoryLimitError(
        "Scoring and completing the {sets:,} sets of {size} among {features} features in {cohorts} "
        "subgroups would need {asked}, but only {allowed} ({share:.3g}% of the free memory) may be "
        "used. What would fit: {fitting}; or raise {limit} or the environment variable {variable}, "
        "or use a completer{settings} that needs less.",
        sets=comb(n_features, size),
        size=size,
        features=n_features,
        cohorts=n_cohorts,
        asked=in_units(asked),
        allowed=in_units(allowed),
        share=100 * limit,
        fitting=_what_fits(fitting, features, size),
        limit=Setting("memory_limit"),
        variable=LIMIT_VARIABLE,
        settings=InPython(" or settings of it"),
    )


def _what_fits(smaller: int, features: int, size: int) -> Message:
    """A smaller size, or fewer features at the same size; 0 where there is none."""
    lower = Message("{size}", size=Setting("size", smaller))
    fewer = Message("{n} features at {size}", n=features, size=Setting("size", size))
    if smaller and features:
        return lower + " or " + fewer
    if smaller or features:
        return lower if smaller else fewer
    return Message("fewer features and subgroups")


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
    if sys.platform == "win32":
        return
    import resource

    taken = psutil.Process().memory_info()
    data = getattr(taken, "data", None)  # not every system tells
    for kind, used in ((resource.RLIMIT_AS, taken.vms), (resource.RLIMIT_DATA, data)):
        limit, _ = resource.getrlimit(kind)
        if limit != resource.RLIM_INFINITY and used is not None:
            yield limit - used
