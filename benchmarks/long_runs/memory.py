"""The memory that a fit takes, beside the forecast that is said before it starts.

    python benchmarks/long_runs/memory.py > benchmarks/long_runs/memory.txt

Every fit is a process of its own. What Python, the kernels and a tiny fit take is not counted.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from math import comb

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.machine.memory import in_units

CASES = ((12, 500, 50, 3, 0.2), (8, 500, 150, 2, 0.2), (4, 500, 30, 4, 0.2), (4, 500, 40, 4, 0.0))
"""Subgroups, rows of each, features, size of sets, and the share that is hidden."""


def peak() -> int:
    """The most bytes that this process has taken."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(n_cohorts: int, n_rows: int, n_features: int, size: int, hide: float) -> None:
    small = make_cohorts(3, 60, 6, hide=0.2, random_state=0)
    SubgroupSelector(small.groups, size=min(size, 4)).fit(small.columns, small.target)
    data = make_cohorts(n_cohorts, n_rows, n_features, hide=hide, random_state=0)
    before = peak()
    selector = SubgroupSelector(data.groups, size=size, n_jobs=2)
    selection = selector.fit(data.columns, data.target).selection_
    forecast, taken = selection.book.memory_needed(size), peak() - before
    print(
        f"{comb(n_features, size):,} sets of {size} of {n_features} features, {n_cohorts} "
        f"subgroups, {hide:.0%} hidden: {in_units(taken)} taken, forecast {in_units(forecast)}",
        flush=True,
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*map(int, sys.argv[1:5]), float(sys.argv[5]))
    else:
        for case in CASES:
            subprocess.run([sys.executable, __file__, *map(str, case)], check=True)
