"""How much memory scores will take, and whether there is so much, asked before the work starts."""

from __future__ import annotations

import math
import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING

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
CGROUP_FILES = (
    ("", "memory.max", "memory.current", "inactive_file"),
    ("unified", "memory.max", "memory.current", "inactive_file"),
    ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Folder, limit, usage and cached files: version 2, the same beside version 1, and version 1."""


def memory_needed(n_features: int, size: int, n_cohorts: int) -> int:
    """Bytes that scoring and completing all sets up to a size takes, at most."""
    needed = 0
    for m in range(size + 1):
        a_subset = COPIES_A_SCORE * BYTES_A_SCORE * n_cohorts + BYTES_A_MEMBER * m + BYTES_OF_PLAN
        needed += math.comb(n_features, m) * a_subset
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
    """The share of the free memory that scores may take: of a block, the environment, or 0.6."""
    share = _limit.get()
    if share is not None:
        return share
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return USUAL_LIMIT
    try:
        return _checked(float(text), LIMIT_VARIABLE)
    except ValueError:  # a MisfeatError is one, too
        return _checked(text, LIMIT_VARIABLE)


def allowed_memory() -> int:
    """Bytes that may be taken here and now: `current_limit` of the free memory."""
    return int(current_limit() * available_memory())


def _checked(share: object, name: str) -> float:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) <= 1:
        raise MisfeatError(
            "{setting}; it must be a share of the free memory, above 0 and at most 1, such as "
            "{usual}.",
            setting=Setting(name, share),
            usual=USUAL_LIMIT,
        )
    return float(share)


def in_units(n_bytes: int) -> str:
    """Bytes in the unit that suits their number, as 1.5 KiB."""
    if n_bytes < 1024:
        return f"{n_bytes:,} bytes"
    power = min((int(n_bytes).bit_length() - 1) // 10, 3)
    return f"{n_bytes / 1024**power:,.1f} {('KiB', 'MiB', 'GiB')[power - 1]}"


def check_memory(
    n_features: int,
    size: int,
    n_cohorts: int,
    needed: Callable[[int, int], int],
) -> None:
    """Raise if work would need more memory than `current_limit` allows, and say what would fit.

    `needed` gives bytes for a number of features and a size.
    """
    allowed = allowed_memory()
    asked = needed(n_features, size)
    if asked <= allowed:
        return

    def fits(n: int, m: int) -> bool:
        try:
            return needed(n, m) <= allowed
        except MisfeatError:  # a setting of the completer does not go with this size
            return False

    smaller = next((m for m in range(size - 1, 0, -1) if fits(n_features, m)), 0)
    features = max((n for n in range(size, n_features) if fits(n, size)), default=0)
    fitting = []
    if smaller:
        fitting.append(Message("{size}", size=Setting("size", smaller)))
    if features:
        fitting.append(Message("{n} features at {size}", n=features, size=Setting("size", size)))
    if not fitting:
        fitting.append(Message("fewer features and subgroups"))
    raise MemoryLimitError(
        "Scoring and completing the {sets:,} sets of {size} among {features} features in {cohorts} "
        "subgroups would need {asked}, but only {allowed} ({share:.3g}% of the free memory) may be "
        "used. What would fit: {fitting}; or raise {limit} or the environment variable {variable}, "
        "or use a completer{settings} that needs less.",
        sets=math.comb(n_features, size),
        size=size,
        features=n_features,
        cohorts=n_cohorts,
        asked=in_units(asked),
        allowed=in_units(allowed),
        share=100 * current_limit(),
        fitting=fitting[0] if len(fitting) == 1 else fitting[0] + " or " + fitting[1],
        limit=Setting("memory_limit"),
        variable=LIMIT_VARIABLE,
        settings=InPython(" or settings of it"),
    )


def available_memory() -> int:
    """Bytes that this process may still take: what machine, control groups and ulimit all leave."""
    rooms: list[int] = [psutil.virtual_memory().available, *_cgroup_rooms(), *_process_rooms()]
    return max(0, min(rooms))


def _cgroup_rooms() -> Iterator[int]:
    """Bytes that the groups of this process and those around them leave: each limit binds."""
    # In a container the path may be one that only the host sees; its own group is then outermost.
    try:
        lines = MEMBERSHIP.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        for name, limit_file, usage_file, cache in CGROUP_FILES:
            root = CGROUPS / name
            inner = root / path.lstrip("/")
            for folder in (inner, *inner.parents):
                if not folder.is_relative_to(root):
                    break
                limit, usage = _number(folder / limit_file), _number(folder / usage_file)
                if limit is not None and usage is not None:
                    # Cached files count as used, but are given back when needed.
                    yield limit - usage + (_number(folder / "memory.stat", cache) or 0)


def _number(file: Path, name: str = "") -> int | None:
    """The number in a file, or on its line of a name; None where there is none, or "max"."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    own = [line.split() for line in lines if line.startswith(f"{name} " if name else "")]
    words = own[0] if own else []
    return int(words[-1]) if words and words[-1].isdecimal() else None


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
