"""What tables of many shapes take: seconds of every step, and memory.

    python -m benchmarks.sizing.measure [--part chosen held] [--threads 2] [--slots 1]
        [--out measured.csv]

Constants are fitted by `fit.py` to the tables of ``chosen``, and held against those of ``held``,
which have other shapes and seeds. Every table runs in a process of its own on `threads` cores that
no other has: `slots` of them side by side (Linux). One that takes more than `MOST_SECONDS` is
stopped and has a line without figures.

measured.csv was made with two threads and six slots on a machine of 16 cores (x86-64), cores12.csv
with ``--part held --only 1 2 6 7 8 --threads 12``. plan_fit.csv is of `plan.py --fit --rows 2e5`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from queue import Queue

from benchmarks.speed.experiment import timed
from benchmarks.speed.workloads import Workload
from misfeat.show.first_screen.effort import effort_for
from misfeat.show.forecast import Ahead, forecast

MOST_SECONDS = 240
LOADS = {
    "chosen": [
        Workload(2_000, 10, 1, 3),
        Workload(2_000, 10, 4, 3),
        Workload(8_000, 16, 4, 3),
        Workload(8_000, 16, 8, 3, hide=0.0),
        Workload(20_000, 20, 8, 3),
        Workload(20_000, 30, 8, 3),
        Workload(20_000, 30, 8, 3, values=3),
        Workload(20_000, 30, 8, 3, values=8),
        Workload(20_000, 30, 8, 3, classes=5),
        Workload(20_000, 40, 4, 3),
        Workload(20_000, 60, 4, 3),
        Workload(20_000, 80, 16, 3, report=False),
        Workload(10_000, 20, 4, 4),
        Workload(20_000, 40, 4, 4, values=3),
        Workload(20_000, 50, 4, 4, values=4, report=False),
        Workload(10_000, 100, 8, 2),
        Workload(20_000, 200, 4, 2),
        Workload(20_000, 300, 4, 2, hide=0.0),
        Workload(20_000, 400, 8, 2, report=False),
        Workload(100_000, 15, 8, 3),
        Workload(300_000, 15, 8, 2),
        Workload(1_000_000, 15, 8, 2, report=False),
        Workload(1_000_000, 30, 8, 3, report=False),
        Workload(3_000_000, 15, 4, 2, report=False),
        Workload(50_000, 15, 40, 3),
        Workload(100_000, 12, 200, 2),
        Workload(200_000, 12, 1_000, 2, report=False),
        Workload(12_500, 15, 1, 5, 4, 4, hide=0.0, related=False),
    ],
    "held": [
        Workload(920, 13, 4, 3, values=3),
        Workload(30_000, 25, 6, 3),
        Workload(60_000, 18, 20, 3),
        Workload(5_000, 120, 3, 2),
        Workload(500_000, 20, 4, 3, report=False),
        Workload(150_000, 10, 400, 2, report=False),
        Workload(20_000, 50, 12, 3),
        Workload(20_000, 300, 8, 2),
        Workload(20_000, 60, 8, 4, values=3),
        Workload(1_000_000, 40, 8, 2, report=False),
    ],
}
SEEDS = {"chosen": 1, "held": 2}
STEPS = (
    "coding",
    "scores of own rows",
    "population",
    "significance",
    "enough features",
    "validation",
    "stability",
    "rest of the fit",
    "best sets, collecting",
    "report",
)
SHAPE = ("rows", "features", "subgroups", "size", "values", "classes", "hide", "report")
FORECAST = {
    "Scoring feature sets": "scores of own rows",
    "Estimating what holds beyond these rows": "population",
    "Dealing the target out anew": "significance",
    "Seeing how many features are enough": "enough features",
    "Leaving parts of the table out to see how well answers hold": "validation",
    "Drawing rows anew to see what comes out again": "stability",
}


def measure(load: Workload, threads: int) -> dict[str, object]:
    """Figures of one table, what there was to do, and what was forecast."""
    selector, figures = timed(load, threads)
    selection = selector.selection_
    effort = effort_for(selection, load.size)
    asked = load.report
    ahead = Ahead(tested=asked, validated=asked, redrawn=asked)
    expected = forecast(selection, effort, ahead)
    line: dict[str, object] = {name: asdict(load)[name] for name in SHAPE}
    line |= {
        "threads": threads,
        "rows_kept": sum(cohort.codes.shape[1] for cohort in selection.cohorts),
        "features_kept": len(selection.feature_names),
        "subgroups_kept": len(selection.cohorts),
        "unrecorded": round(float(selection.missing.mean()), 4),
        "tested": effort.tested,
        "deals": effort.deals,
        "enough": effort.enough,
        "redrawn": int(effort.redrawn),
        "seconds": figures["seconds"],
        "cpu_seconds": figures["cpu_seconds"],
        "own_mib": figures["own_mib"],
        "peak_mib": figures["peak_mib"],
        "forecast_mib": selection.book.memory_needed(load.size) / 2**20,
    }
    spent = {step["step"]: step for step in figures["steps"]}
    for step in STEPS:
        line[f"{step}: cpu"] = spent[step]["cpu_seconds"] if step in spent else 0.0
        line[f"{step}: wall"] = spent[step]["seconds"] if step in spent else 0.0
    for what, step in FORECAST.items():
        line[f"{step}: forecast"] = expected.get(what, 0.0)
    return {
        name: round(value, 4) if isinstance(value, float) else value for name, value in line.items()
    }


def apart(load: Workload, seed: int, threads: int, cores: list[int]) -> dict[str, object]:
    """The figures of one table, from a process on some cores."""
    asked = json.dumps([asdict(load), seed, threads, cores])
    shape = {name: asdict(load)[name] for name in SHAPE}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.sizing.measure", "--measured", asked],
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        print(shape, "took too long", file=sys.stderr, flush=True)
        return shape
    if done.returncode:
        print(shape, done.stderr[-600:], file=sys.stderr, flush=True)
        return shape
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    print({**shape, "seconds": found["seconds"]}, file=sys.stderr, flush=True)
    return found


def measured_here(asked: str) -> None:
    """Measure in this process, on the cores that were given."""
    fields, seed, threads, cores = json.loads(asked)
    if cores:
        os.sched_setaffinity(0, cores)

    class Seeded(Workload):
        def table(self, seed: int = seed):
            return super().table(seed)

    print(json.dumps(measure(Seeded(**fields), threads)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", default=list(LOADS), choices=LOADS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="The first core that is used.")
    parser.add_argument("--only", type=int, nargs="+", help="Numbers of tables of a part.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("measured.csv"))
    parser.add_argument("--measured", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measured:
        return measured_here(asked.measured)
    free: Queue[list[int]] = Queue()
    for slot in range(asked.slots):
        start = asked.first + slot * asked.threads
        free.put(list(range(start, start + asked.threads)))

    def one(job: tuple[str, Workload]) -> dict[str, object]:
        cores = free.get()
        try:
            return {"part": job[0], **apart(job[1], SEEDS[job[0]], asked.threads, cores)}
        finally:
            free.put(cores)

    jobs = [
        (part, load)
        for part in asked.part
        for number, load in enumerate(LOADS[part])
        if asked.only is None or number in asked.only
    ]
    jobs.sort(key=lambda job: -job[1].sets * job[1].subgroups * job[1].rows ** 0.3)
    with ThreadPoolExecutor(asked.slots) as pool:
        found = list(pool.map(one, jobs))
    with asked.out.open("w", newline="") as file:
        table = csv.DictWriter(file, max(found, key=len), lineterminator="\n")
        table.writeheader()
        table.writerows(found)
    return None


if __name__ == "__main__":
    main()
