"""Counting and dealing on a CUDA device against the processor, in one run.

    python benchmarks/speed/counting_on_device.py > benchmarks/speed/counting_on_device.txt

Workload D: 1,000,000 rows, 15 features of 4 values, 4 classes, all 4,943 sets of up to 5 features.
Workload A: 12,500 such rows; its target is dealt out anew 1,000 times, sets of up to 3 features.
Workload F: 12,500 such rows of 20 features, all 1,048,575 sets of every size.
Seconds by the clock, the fastest of 5 (of 2 for F) after one that compiles; copies to the device
and back are part of them. Every way must give the same scores to 1e-11.
"""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts import build_cohorts
from misfeat.information import level_mutual_info
from misfeat.information.dealing import deals_of
from misfeat.machine.devices import cuda_for
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from misfeat.cohorts.model import Cohort

    Way = Callable[[int, str], np.ndarray]

TURNS = 5


def workload(n_rows: int, n_features: int = 15) -> Cohort:
    """Independent features of 4 values, and 4 classes."""
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.integers(4, size=n_rows) for i in range(n_features)}
    return build_cohorts({**table, "y": rng.integers(4, size=n_rows)}, "y")["all rows"]


def fastest(way: Callable[[], np.ndarray], turns: int) -> tuple[float, np.ndarray]:
    """Seconds of the fastest turn, and what came out."""
    found = way()
    seconds = []
    for _ in range(turns):
        begun = time.perf_counter()
        found = way()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), found


def main() -> None:
    """Time the workloads on two threads, on all of them, and on the device."""
    cupy = cuda_for("cuda")
    if cupy is None:
        raise SystemExit("No CUDA device, or no CuPy.")
    all_threads = len(os.sched_getaffinity(0))
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}, {all_threads} cores")
    million, small = workload(1_000_000), workload(12_500)
    deals = deals_of(small, 3, seed=np.random.SeedSequence(0))

    def levels(cohort: Cohort, high: int, above_chance: bool) -> Way:
        def scored(n_jobs: int, device: str) -> np.ndarray:
            how = {"above_chance": above_chance, "n_jobs": n_jobs, "device": device}
            return np.concatenate(level_mutual_info(cohort, 1, high, **how))

        return scored

    def dealt(n_jobs: int, device: str) -> np.ndarray:
        return deals.scores(1, 1001, Work(n_jobs, None, device))

    ways = {
        "D, sample": (levels(million, 5, False), TURNS),
        "D, above chance": (levels(million, 5, True), TURNS),
        "A, 1,000 deals": (dealt, TURNS),
        "F, sample": (levels(workload(12_500, 20), 20, False), 2),
    }
    for what, (way, turns) in ways.items():
        there, found = fastest(partial(way, 1, "cuda"), turns)
        print(f"{what:18} device {1000 * there:9.1f} ms", flush=True)
        for threads in (2, all_threads):
            seconds, expected = fastest(partial(way, threads, "cpu"), turns)
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
            times = seconds / there
            print(f"{'':18} {threads:2} cores {1000 * seconds:7.1f} ms, {times:6.1f} times as long")


if __name__ == "__main__":
    main()
