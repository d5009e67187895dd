"""Seconds to impute the attrition table by nearest neighbours.

    MISFEAT_DATA=folder python -m benchmarks.speed.knn_imputation

59,598 rows, 19 features, 8 cohorts, prepared as in the paper; every feature is hidden from every
cohort with probability p, and all hidden values are imputed once, from five neighbours, with the
target among what rows are compared in. Kernels are compiled first. Medians of three runs with
different masks; kept beside this script in knn_imputation.csv.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np

from benchmarks.common.tables import TABLES
from misfeat.completion.nearest_neighbours import imputed_codes
from misfeat.datasets.population import random_mask
from misfeat.runtime.threads import Work

SHARES, SEEDS, THREADS = (0.2, 0.5), (1, 2, 3), (1, 2)


def seconds(cohorts, share, seed, threads):
    mask = random_mask(len(cohorts), len(cohorts.features), share, np.random.default_rng(seed))
    start = time.perf_counter()
    imputed_codes(cohorts, mask, 5, True, Work(threads))
    return time.perf_counter() - start


def main() -> None:
    imputed_codes(
        TABLES["mobile"](0), random_mask(2, 15, 0.2, np.random.default_rng(0)), 5, True, Work(1)
    )
    cohorts = TABLES["attrition"](0)
    lines = [
        {
            "rows": int(cohorts.weights.sum()),
            "hidden": share,
            "threads": threads,
            "seconds": round(
                float(np.median([seconds(cohorts, share, s, threads) for s in SEEDS])), 2
            ),
        }
        for share in SHARES
        for threads in THREADS
    ]
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, lines[0], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
