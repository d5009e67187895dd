"""Fit, answers and report as a user gets them, timed as a whole.

    python benchmarks/speed/end_to_end.py [WORKLOAD ...] [--threads 2] [--profile]

Workloads, with default settings but for what is named:

    small   12,500 rows, 15 features of 4 values, 4 classes, size 5: fit and scores, against
            `mutual_info_score` of scikit-learn and `np.bincount` doing the scores alone
    wide3   20,000 rows, 50 features of 5 values, 12 subgroups, a fifth of the features hidden in
            each, size 3: fit, report and page
    wide2   20,000 rows, 300 features, 8 subgroups, size 2: the same
    wide4   20,000 rows, 60 features, 8 subgroups, size 4 (487,635 sets): the same
    long    1,000,000 rows, 40 features, 8 subgroups, size 2: fit alone

Kernels are compiled before, by a small table. Seconds are wall-clock and of all threads together
(CPU); memory is the most that the process ever held. A workload runs in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

sys.path.insert(0, str(Path(__file__).parent))

SHAPES = {  # rows, features, subgroups, size, values
    "wide3": (20_000, 50, 12, 3, 5),
    "wide2": (20_000, 300, 8, 2, 5),
    "wide4": (20_000, 60, 8, 4, 3),
    "long": (1_000_000, 40, 8, 2, 5),
}
REPEATS = 7


class Steps:
    """Prints how long each step took."""

    def __init__(self, name):
        self.name = name
        self.begun = self.last = time.perf_counter(), time.process_time()

    def done(self, what, since=None):
        """A step is done, which began with the end of the last one."""
        now = time.perf_counter(), time.process_time()
        wall, cpu = (a - b for a, b in zip(now, since or self.last, strict=True))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{self.name:6} {what:22}{wall:9.2f} s {cpu:9.2f} s CPU  peak {peak:5.2f} GiB",
            flush=True,
        )
        self.last = now

    def all_done(self):
        """All steps are done."""
        self.done("all of it", self.begun)


def whole(name, threads):
    rows, n_features, n_cohorts, size, values = SHAPES[name]
    settings = {"n_values": values, "hide": 0.2, "random_state": 1}
    warm_up = make_cohorts(n_cohorts, 150, size + 4, **settings)
    answered(Steps("warm"), warm_up, size, threads, report=name != "long", quiet=True)
    data = make_cohorts(n_cohorts, rows // n_cohorts, n_features, **settings)
    answered(Steps(name), data, size, threads, report=name != "long")


def answered(steps, data, size, threads, *, report, quiet=False):
    selector = SubgroupSelector(data.groups, size=size, n_jobs=threads)
    selector.fit(data.columns, data.target)
    if not quiet:
        steps.done("fit")
    selector.top_k()
    selector.worth_collecting()
    if not quiet:
        steps.done("best sets, collecting")
    if report:
        page = selector.report()
        if not quiet:
            steps.done("everything reported")
        html = page.html()
        if not quiet:
            steps.done(f"page of {len(html) / 1e6:.1f} MB")
    if not quiet:
        steps.all_done()


def small(threads):
    from joint_mutual_info import WORKLOADS, keys_of, sampled_subsets, with_numpy, with_scikit_learn

    load = WORKLOADS["A"]
    cohort, subsets = load.cohort(), sampled_subsets(load)
    codes, target = cohort.codes.astype(np.int64), cohort.target.astype(np.int64)
    table = pd.DataFrame({f"f{f}": values for f, values in enumerate(codes)})

    def peer(scores):
        return [scores(cohort, keys_of(cohort, codes, one), target) for one in subsets]

    def ours(estimate):
        selector = SubgroupSelector(size=5, estimate=estimate, n_jobs=threads)
        selector.fit(table, target).scores(size=5)

    ways = {
        "scikit-learn": lambda: peer(with_scikit_learn),
        "np.bincount": lambda: peer(with_numpy),
        "sample": lambda: ours("sample"),
        "above_chance": lambda: ours("above_chance"),
        "population": lambda: ours("population"),
    }
    best = dict.fromkeys(ways, np.inf)
    for turn in range(REPEATS + 1):  # in turns; the first compiles
        for way, run in ways.items():
            begun = time.perf_counter()
            run()
            if turn:
                best[way] = min(best[way], time.perf_counter() - begun)
    scale = load.n_subsets / len(subsets)
    peers = {way: best.pop(way) * scale for way in ("scikit-learn", "np.bincount")}
    for way, seconds in peers.items():
        print(f"small  {way:30}{seconds:9.3f} s")
    for way, seconds in best.items():
        times = ", ".join(f"{one / seconds:.1f} times {name}" for name, one in peers.items())
        print(f"small  fit and scores, {way:14}{seconds:9.3f} s  {times}", flush=True)


def measure(name, threads, profile):
    run = (lambda: small(threads)) if name == "small" else (lambda: whole(name, threads))
    if not profile:
        return run()
    import cProfile

    cProfile.runctx("run()", {}, {"run": run}, sort="tottime")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", default=["small", *SHAPES])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    processes = multiprocessing.get_context("spawn")
    for name in asked.workloads:
        process = processes.Process(target=measure, args=(name, asked.threads, asked.profile))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
