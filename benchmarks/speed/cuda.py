"""Counting and dealing on a CUDA device against the processor, in one run.

    python benchmarks/speed/cuda.py > benchmarks/speed/cuda.txt

Workload D: 1,000,000 rows, 15 features of 4 values, 4 classes, all 4,943 sets of up to 5 features.
Workload A: 12,500 such rows; its target is dealt out anew 1,000 times, sets of up to 3 features.
Seconds by the clock, the fastest of 5 after one that compiles; copies to the device and back are
part of them. Every way must give the same scores to 1e-11.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts import build_cohorts
from misfeat.information import level_mutual_info
from misfeat.information.dealing import deals_of
from misfeat.machine.cuda import cuda_for
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.cohorts.model import Cohort

TURNS = 5


def workload(n_rows: int) -> Cohort:
    """Independent features of 4 values, and 4 classes."""
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.integers(4, size=n_rows) for i in range(15)}
    return build_cohorts({**table, "y": rng.integers(4, size=n_rows)}, "y")["all rows"]


def fastest(way: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    """Seconds of the fastest turn, and what came out."""
    found = way()
    seconds = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        found = way()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), found


def main() -> None:
    """Time both workloads on two threads, on all of them, and on the device."""
    cupy = cuda_for("cuda")
    if cupy is None:
        raise SystemExit("No CUDA device, or no CuPy.")
    all_threads = len(os.sched_getaffinity(0))
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}, {all_threads} cores")
    million, small = workload(1_000_000), workload(12_500)
    deals = deals_of(small, 3, seed=np.random.SeedSequence(0))

    def levels(n_jobs: int, device: str, above_chance: bool) -> Callable[[], np.ndarray]:
        return lambda: np.concatenate(
            level_mutual_info(
                million, 1, 5, above_chance=above_chance, n_jobs=n_jobs, device=device
            )
        )

    def dealt(n_jobs: int, device: str) -> Callable[[], np.ndarray]:
        return lambda: deals.scores(1, 1001, Work(n_jobs, None, device))

    for what, way in {
        "D, sample": lambda *how: levels(*how, False),
        "D, above chance": lambda *how: levels(*how, True),
        "A, 1,000 deals": dealt,
    }.items():
        there, found = fastest(way(1, "cuda"))
        print(f"{what:18} device {1000 * there:9.1f} ms")
        for threads in (2, all_threads):
            seconds, expected = fastest(way(threads, "cpu"))
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
            print(
                f"{'':18} {threads:2} cores {1000 * seconds:7.1f} ms, {seconds / there:6.1f} times"
            )


if __name__ == "__main__":
    main()
