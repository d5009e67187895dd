"""How many features `size="auto"` finds where 0, 1, 2 or 3 of 15 tell.

    python -m benchmarks.answers.enough [--runs 100] [--jobs 16]

Tables of two subgroups with 500 or 5,000 rows each; features have 2 to 5 values, and each telling
one adds to the log odds of the target. Prints how often each size is found and writes it to
enough.csv beside this file.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common.output import write_csv
from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests

SIZES = range(6)


def made(seed, n_rows, n_telling, n_features=15, n_subgroups=2):
    """A table in which the first features tell, in every subgroup, and the others do not."""
    rng = np.random.default_rng([seed, n_rows, n_telling])
    n = n_rows * n_subgroups
    values = [rng.integers(0, rng.integers(2, 6), n) for _ in range(n_features)]
    odds = np.zeros(n)
    for column in values[:n_telling]:
        odds += rng.uniform(0.6, 1.2) * (column - column.mean()) / column.std()
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    columns = {f"f{j}": column for j, column in enumerate(values)}
    return {**columns, "site": np.repeat(np.arange(n_subgroups), n_rows), "y": y}


def run(seed, n_rows, n_telling):
    """The size that is found; 0 where no feature tells more than chance, which `size` cannot be."""
    table = made(seed, n_rows, n_telling)
    selector = SubgroupSelector("site", size="auto", random_state=seed, n_jobs=1)
    found = selector.fit(table, "y").selection_.size
    if found == 1 and not any(
        t.more_than_chance for t in significance_tests(selector.selection_, 2).subgroups
    ):
        return 0
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    rows = []
    for n_rows in (500, 5000):
        for n_telling in range(4):
            found = Parallel(n_jobs=asked.jobs, batch_size=1)(
                delayed(run)(seed, n_rows, n_telling) for seed in range(asked.runs)
            )
            shares = {f"size {m}": f"{np.mean(np.array(found) == m):.2f}" for m in SIZES}
            too_large = f"{np.mean(np.array(found) > n_telling):.2f}"
            rows.append({"rows": n_rows, "telling": n_telling, **shares, "too large": too_large})
            print(rows[-1], flush=True)
    write_csv(rows, Path(__file__).with_suffix(".csv"))


if __name__ == "__main__":
    main()
