"""What 2,000 subgroups take: a fit, its answers and its report, in seconds of CPU and memory.

    python benchmarks/many/two_thousand.py > benchmarks/many/two_thousand.txt

100,000 rows of 12 features with three values, 40 regions with 50 hospitals each, a fifth of the
features not recorded by a hospital; sets of two and of three. Each size has a process of its own,
kernels are compiled before, and one thread works.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from misfeat import Coding, SubgroupSelector
from misfeat.exceptions import MisfeatWarning

if TYPE_CHECKING:
    from collections.abc import Callable

REGIONS, HOSPITALS, ROWS, FEATURES, HIDE = 40, 2_000, 100_000, 12, 0.2


def hospitals(n_hospitals: int, n_rows: int) -> pd.DataFrame:
    """Rows of hospitals whose regions differ."""
    rng = np.random.default_rng(0)
    hospital = rng.permutation(np.arange(n_rows) % n_hospitals)
    region = hospital % REGIONS
    values = rng.integers(0, 3, (n_rows, FEATURES))
    tells = rng.normal(0.0, 0.5, FEATURES) + rng.normal(0.0, 0.5, (REGIONS, FEATURES))
    logit = ((values - 1) * tells[region]).sum(axis=1)
    lacks = rng.random((n_hospitals, FEATURES)) < HIDE
    table = pd.DataFrame(
        np.where(lacks[hospital], np.nan, values), columns=[f"f{j}" for j in range(FEATURES)]
    )
    table["region"] = np.array([f"r{one}" for one in range(REGIONS)])[region]
    table["hospital"] = np.array([f"h{one}" for one in range(n_hospitals)])[hospital]
    table["ill"] = (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
    return table


def timed(what: str, ask: Callable[[], object]) -> float:
    """Ask, print how long it took, and give that back."""
    start = time.process_time()
    ask()
    taken = time.process_time() - start
    print(f"  {what:18} {taken:6.1f} s", flush=True)
    return taken


def measure(size: int, n_hospitals: int, n_rows: int) -> None:
    """Everything for one size."""
    warnings.simplefilter("ignore", MisfeatWarning)
    table = hospitals(n_hospitals, n_rows)
    selector = SubgroupSelector(
        ["region", "hospital"], size=size, coding=Coding(min_rows=1), n_jobs=1, random_state=0
    )
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        print(f"{n_hospitals:,} subgroups, {n_rows:,} rows, sets of {size}")
        total = sum(
            timed(what, ask)
            for what, ask in (
                ("fit", lambda: selector.fit(table, "ill")),
                ("top_k", selector.top_k),
                ("significance", selector.significance),
                ("worth_collecting", selector.worth_collecting),
                ("report", lambda: selector.report().write_html(page)),
            )
        )
        megabytes = page.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  together {total:.0f} s, peak {peak:.2f} GiB, page {megabytes:.1f} MB", flush=True)


def main() -> None:
    """Sets of two, then of three, each in a process of its own."""
    spawning = multiprocessing.get_context("spawn")
    for size in (2, 3):
        for asked in ((size, 80, 4_000), (size, HOSPITALS, ROWS)):
            process = spawning.Process(target=measure, args=asked)
            process.start()
            process.join()


if __name__ == "__main__":
    main()
