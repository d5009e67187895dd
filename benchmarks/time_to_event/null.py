"""Times to an event that no feature changes: how often are p-values small?

    python -m benchmarks.time_to_event.null [--jobs 2] [--tables 1000]

Four subgroups differ in hazard and in censoring. ``null.csv`` has the shares of p-values of at most
0.05 and 0.01 (199 permutations, all sets of up to two of eight features): where censoring differs
between subgroups alone, and where it depends on a feature, which the tests do not allow for.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from misfeat import SubgroupSelector

OUTPUT = Path(__file__).with_suffix(".csv")
KINDS = ("by subgroup", "by a feature, mildly", "by a feature, strongly")
FACTORS = dict(zip(KINDS, (1.0, 1.5, 4.0), strict=True))
ROWS = (60, 300)  # of a subgroup


def one(task: tuple[str, int, int]) -> list[float]:
    """P-values of the subgroups of one table."""
    kind, n_rows, seed = task
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, n_rows])
    site = np.repeat(np.arange(4), n_rows)
    n = len(site)
    columns = {f"x{i}": rng.integers(0, 2 + i % 3, n) for i in range(8)}
    times = rng.exponential(1.0 + 0.5 * site)
    ended = rng.exponential(np.array([0.5, 1.0, 2.0, 8.0])[site])
    ended = ended * np.where(columns["x0"] == 1, FACTORS[kind], 1.0)
    event = (times <= ended).astype(int)
    table = pd.DataFrame(
        {**columns, "site": site, "time": np.minimum(times, ended), "event": event}
    )
    selector = SubgroupSelector(groups="site", size=2, random_state=seed)
    selector.fit(table, ("time", "event"))
    return list(selector.significance(permutations=199)["p_value"].dropna())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    given = parser.parse_args()
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("censoring", "rows of a subgroup", "p-values", "p <= 0.05", "p <= 0.01"))
        for kind, n_rows in product(KINDS, ROWS):
            tasks = [(kind, n_rows, seed) for seed in range(given.tables // 4)]
            with ProcessPoolExecutor(given.jobs) as pool:
                found = np.concatenate(list(pool.map(one, tasks, chunksize=5)))
            shares = (f"{np.mean(found <= level + 1e-9):.3f}" for level in (0.05, 0.01))
            line = (kind, n_rows, len(found), *shares)
            writer.writerow(line)
            print(*line)


if __name__ == "__main__":
    main()
