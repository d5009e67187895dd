"""How much memory scores will take, whether there is so much, and errors that say it is full."""

import math
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from numbers import Real
from pathlib import Path

import psutil

from misfeat.exceptions import MemoryLimitError, MisfeatError
from misfeat.messages import Setting

GIB = 2**30
LIMIT_VARIABLE = "MISFEAT_MEMORY_LIMIT"
USUAL_LIMIT = 0.6  # The share of the free memory that scores may take by default
BYTES_A_SCORE = 6 * 8  # Held as computed, filled in, completed, with two bounds, and on the way
BYTES_A_MEMBER = 4
BYTES_OF_PLAN = 40  # Positions, steps and order of a subset while its score is computed
MEMBERSHIP = Path("/proc/self/cgroup")  # Which control groups the process is in, a line each
CGROUPS = Path("/sys/fs/cgroup")
CGROUP_FILES = (
    (CGROUPS, "memory.max", "memory.current"),
    (CGROUPS / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
)  # Folder, limit and usage in version 2 and version 1
FULL_MEMORY_TYPES = ("OutOfMemoryException", "OutOfMemoryError")  # Of DuckDB and PyTorch
FULL_MEMORY_WORDS = ("can't allocate memory", "can't start new thread", "std::bad_alloc")
"""What PyTorch on a CPU, Python's threads and libraries in C++ say."""


def memory_needed(n_features: int, size: int, n_cohorts: int) -> int:
    """Bytes that scoring and completing all sets up to a size takes, at most."""
    a_set = BYTES_A_SCORE * n_cohorts + BYTES_OF_PLAN
    return sum(math.comb(n_features, m) * (a_set + BYTES_A_MEMBER * m) for m in range(size + 1))


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
            f"{Setting(name, share)}; it must be a share of the free memory, above 0 and at most "
            f"1, such as {USUAL_LIMIT}."
        )
    return float(share)


def check_memory(
    n_features: int, size: int, n_cohorts: int, needed: Callable[[int, int], int]
) -> None:
    """Raise if work would need more memory than `current_limit` allows, and say what would fit."""
    # `needed` gives bytes for a number of features and a size.
    asked, allowed = needed(n_features, size), allowed_memory()
    if asked <= allowed:
        return

    def fits(m: int) -> bool:
        try:
            return needed(n_features, m) <= allowed
        except MisfeatError:  # a setting of the completer does not go with this size
            return False

    smaller = next((m for m in range(size - 1, 0, -1) if fits(m)), None)
    lower = "fewer subgroups" if smaller is None else Setting("size", smaller)
    raise MemoryLimitError(
        f"Scoring and completing the {math.comb(n_features, size):,} sets of {size} among "
        f"{n_features} features in {n_cohorts} subgroups would need {asked / 2**20:,.0f} MiB, but "
        f"only {allowed / 2**20:,.0f} MiB ({100 * current_limit():.3g}% of the free memory) may be "
        f"used. Use {lower}, leave features out ({Setting('exclude')}), raise "
        f"{Setting('memory_limit')} or the environment variable {LIMIT_VARIABLE}, or use a "
        "completer that needs less."
    )


def available_memory() -> int:
    """Bytes that this process may still take: what machine, control groups and ulimit all leave."""
    rooms: list[int] = [psutil.virtual_memory().available, *_cgroup_rooms()]
    if sys.platform != "win32":
        import resource

        taken = psutil.Process().memory_info()
        data = getattr(taken, "data", None)  # not every system says
        for kind, used in ((resource.RLIMIT_AS, taken.vms), (resource.RLIMIT_DATA, data)):
            limit, _ = resource.getrlimit(kind)
            if limit != resource.RLIM_INFINITY and used is not None:
                rooms.append(limit - used)
    return max(0, min(rooms))


def _cgroup_rooms() -> Iterator[int]:
    """Bytes that the groups of this process and those around them leave: each limit binds."""
    try:
        lines = MEMBERSHIP.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    paths = [line.split(":", 2)[1:] for line in lines]
    for controllers, path in paths:
        if controllers and "memory" not in controllers.split(","):
            continue
        for root, *names in CGROUP_FILES:
            # In a container the path may be one that only the host sees; its group is the root.
            inner = root / path.lstrip("/")
            for folder in (inner, *inner.parents):
                try:
                    limit, used = (int((folder / name).read_text()) for name in names)
                except (OSError, ValueError):  # there is none, or it is "max"
                    continue
                room = limit - used
                with suppress(OSError):  # cached files are given back when they are needed
                    stat = (folder / "memory.stat").read_text()
                    found = re.search(r"^(?:total_)?inactive_file (\d+)$", stat, re.M)
                    room += int(found[1]) if found else 0
                yield room


def is_full_memory(error: BaseException) -> bool:
    """Whether an error says that there was no memory left."""
    if isinstance(error, MemoryError) or type(error).__name__ in FULL_MEMORY_TYPES:
        return True
    if isinstance(error, RuntimeError) and any(words in str(error) for words in FULL_MEMORY_WORDS):
        return True
    return error.__cause__ is not None and is_full_memory(error.__cause__)
