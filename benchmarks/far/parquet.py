"""A hundred million Parquet rows through DuckDB: peak memory, and seconds of CPU a row.

The tables of `made.py` hold 15 features and 8 subgroups, and hardly two of their coded rows are
equal: the worst case. Each length runs in a process of its own that may take 2.4 GiB, so that of
the longer ones rows are drawn inside DuckDB. Reported are the peak resident memory and the CPU
seconds of coding (everything up to the cohorts) and of scoring all sets of three with defaults.

    python benchmarks/far/parquet.py [--rows 1e6 1e7 1e8] [--folder FOLDER] [--what cohorts fit]

Tables are written to the folder (2.7 GiB for a hundred million rows), and removed afterwards where
they were not there before. The figures are kept beside this script in parquet.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from joblib import effective_n_jobs
from made import GROUPS, TARGET, write_table

ALLOWED = 2.4 * 2**30
"""Bytes that misfeat may take; what Python and its libraries hold comes on top."""

MEASURED = f"""
import sys, time
import misfeat
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import build_cohorts
from misfeat.runtime.memory import available_memory

def peak():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines["VmHWM"].split()[0]) / 1024

share = min(1.0, {ALLOWED} / available_memory())
with misfeat.memory_limit(share):
    if sys.argv[2] == "cohorts":
        start, begun = time.process_time(), time.perf_counter()
        cohorts = build_cohorts(sys.argv[1], "{TARGET}", groups="{GROUPS}")
        best = "-"
    else:
        selector = misfeat.SubgroupSelector("{GROUPS}", size=3, k=1, random_state=0)
        short = {{"x": [0, 1] * 50, "z": [1, 0] * 50, "w": [0] * 50 + [1] * 50}}
        selector.fit({{**short, "site": ["a", "b"] * 50, "ill": [0, 1, 1, 0] * 25}}, "ill")
        start, begun = time.process_time(), time.perf_counter()
        best = best_sets(selector.fit(sys.argv[1], "{TARGET}").selection_)[0]
        best = " + ".join(best.features) + f" {{best.score:.4f}}"
        cohorts = selector.cohorts_
print(
    time.process_time() - start,
    time.perf_counter() - begun,
    peak(),
    len(cohorts.weights),
    int(cohorts.weights.sum()),
    best,
    sep=";",
)
"""


def measure(folder: Path, what: str) -> list[str]:
    """CPU seconds, wall seconds, peak MiB, different rows, rows and the best set."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(folder), what],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip().splitlines()[-1].split(";")


def line(n_rows: int, folder: Path, what: str) -> dict[str, object]:
    load = os.getloadavg()[0]
    cpu, wall, peak, different, rows, best = measure(folder, what)
    return {
        "rows": n_rows,
        "what": what,
        "cpu_seconds": round(float(cpu), 1),
        "cpu_microseconds_a_row": round(1e6 * float(cpu) / n_rows, 2),
        "wall_seconds": round(float(wall), 1),
        "load_before": round(load, 1),
        "cores": effective_n_jobs(-1),
        "peak_mib": round(float(peak)),
        "different_rows_kept": int(different),
        "rows_kept": int(rows),
        "best_set": best,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--what", nargs="+", default=["cohorts", "fit"], choices=["cohorts", "fit"])
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as own:
        for n_rows in map(int, asked.rows):
            folder = (asked.folder or Path(own)) / f"t{n_rows}"
            there = folder.exists()
            if not there:
                write_table(folder, n_rows)
            for what in asked.what:
                found.append(line(n_rows, folder, what))
                print(found[-1], flush=True)
            if not there:
                shutil.rmtree(folder)
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, found[0], lineterminator="\n")
        table.writeheader()
        table.writerows(found)


if __name__ == "__main__":
    main()
