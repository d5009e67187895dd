"""How much memory scores will take, asked before the work starts."""

from __future__ import annotations

import os
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

from misfeat.exceptions import MemoryLimitError, MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable

GIB = 2**30
BYTES_A_SCORE = 8
COPIES_A_SCORE = 6
"""A score is held as computed, filled in, completed and with two bounds, and once on the way."""
BYTES_A_MEMBER = 4
BYTES_OF_PLAN = 40
"""Places, steps and order of a subset while its score is computed."""


def memory_needed(n_features: int, size: int, n_cohorts: int) -> int:
    """Bytes that scoring and completing all sets up to a size takes, at most.

    Examples
    --------
    >>> memory_needed(20, 3, 4) < 2**20
    True
    """
    needed = 0
    for m in range(size + 1):
        a_subset = COPIES_A_SCORE * BYTES_A_SCORE * n_cohorts + BYTES_A_MEMBER * m + BYTES_OF_PLAN
        needed += comb(n_features, m) * a_subset
    return needed


def available_memory() -> int:
    """Bytes of memory that are free for use.

    Examples
    --------
    >>> available_memory() > 0
    True
    """
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


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
    limit: float,
    needed: Callable[[int, int], int],
) -> None:
    """Refuse work that would need more than a share of the free memory, and say what would fit.

    Parameters
    ----------
    n_features, size, n_cohorts : int
        What is asked for.
    limit : float
        The share of the free memory that may be used.
    needed : callable
        Bytes for a number of features and a size.
    """
    allowed = int(limit * available_memory())
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
    remedies = [
        *([f"size={fitting}"] if fitting else []),
        *([f"{features} features at size={size}"] if features else []),
    ]
    raise MemoryLimitError(
        f"Scoring and completing the {comb(n_features, size):,} sets of {size} among {n_features} "
        f"features in {n_cohorts} subgroups would need {in_units(asked)}, but only "
        f"{in_units(allowed)} ({100 * limit:.3g}% of the free memory) may be used. What would fit: "
        f"{' or '.join(remedies) or 'fewer features and subgroups'}; or raise memory_limit, or use "
        "a completer or settings of it that need less."
    )
