"""Peak memory of scoring the power set of 20 features (workload F of the speed benchmark).

    python benchmarks/memory/power_set.py

The kernels are compiled and the input is made first; reported is how much the peak of the process
rises above that while 1,048,575 subsets are scored. Kept beside this script in power_set.csv.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

MEASURED = """
import numpy as np
from misfeat.cohorts import Cohort
from misfeat.information import level_mutual_info

def cohort(rows):
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(20, rows)).astype(np.int8)
    target = rng.integers(4, size=rows).astype(np.int8)
    ones = np.ones(rows, dtype=np.int64)
    four = np.full(20, 4, dtype=np.int64)
    return Cohort("F", codes, target, ones, np.ones(20, dtype=bool), four, 4)

def memory(field):
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status[field].split()[0]) / 1024

small, large = cohort(50), cohort(12_500)
level_mutual_info(small, 1, 3)
level_mutual_info(small, 8, 8)
before = memory("VmHWM")
scores = level_mutual_info(large, 1, 20, n_jobs=-1)
print(sum(map(len, scores)), before, memory("VmHWM") - before)
"""


def main() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], check=True, capture_output=True, text=True
    )
    subsets, before, beyond = done.stdout.split()
    figures = {
        "subsets": int(subsets),
        "before_mib": round(float(before)),
        "beyond_mib": round(float(beyond)),
    }
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, figures, lineterminator="\n")
        table.writeheader()
        table.writerow(figures)
    print(figures)


if __name__ == "__main__":
    main()
