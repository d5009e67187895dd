"""How often intervals of differences of scores hold the true difference.

    python benchmarks/population/differences.py

Every trial draws populations of four subgroups, a table from them with a quarter of the features
hidden, and looks at one subgroup; benchmarks/population/differences.csv holds the shares of 90 %
intervals that hold what is true.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from misfeat.bench.differences import TABLES, WHAT, trial

TRIALS, FIRST_SEED = 120, 100_000


def main() -> None:
    rows = []
    for number, (similarity, n_rows) in enumerate(TABLES):
        seeds = range(FIRST_SEED + 1000 * number, FIRST_SEED + 1000 * number + TRIALS)
        found = [trial(similarity, n_rows, seed) for seed in seeds]
        held = [np.mean([one[what] for one in found]) for what in WHAT]
        rows.append([similarity, n_rows, TRIALS, *(f"{share:.3f}" for share in held)])
        print(*rows[-1], sep="\t", flush=True)
    means = [f"{np.mean([float(row[place]) for row in rows]):.3f}" for place in range(3, 8)]
    rows.append(["all", "all", TRIALS * len(TABLES), *means])
    print(*rows[-1], sep="\t")
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["similarity", "rows", "trials", *WHAT], *rows])


if __name__ == "__main__":
    main()
