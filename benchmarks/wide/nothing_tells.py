"""Wide tables in which nothing or little tells: false alarms of tests, and coverage of intervals.

    python benchmarks/wide/nothing_tells.py [--tables 30]

Tables of 200 features and 2,000 rows in 4 subgroups, of which a shortlist of 150 is kept, and sets
of two. ``alarms``: the share of subgroups, and of tables in any of their subgroups,
with a p-value (of tables: an adjusted one) of at most 0.05; they are false where nothing tells.
``if all rows were tested`` is the same of a test that takes the rows by which features were chosen,
too. ``coverage``: how often 90 % intervals of the ten best sets of every subgroup hold what they
tell in 100,000 other rows of the population, and that of all sets of kept features. The output is
kept in nothing_tells.csv.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from made import WideTable, drawn_again, wide_table

from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.cohorts import build_cohorts
from misfeat.information.measures import information_of

OUTPUT = Path(__file__).with_suffix(".csv")
SIZE, K = 2, 10
DEALS, LEVEL = 199, 0.05
TOLERANCE = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", type=int, default=30)
    asked = parser.parse_args()
    lines = []
    for what, planted, first in (("nothing tells", 0, 3000), ("little tells", 2, 4000)):
        seeds = range(first, first + asked.tables)
        found = []
        for seed in seeds:
            found.append(_measured(seed, planted))
            print(what, seed, found[-1], flush=True)
        line = {"tables": asked.tables, "what": what}
        line |= {name: round(float(np.mean([one[name] for one in found])), 4) for name in found[0]}
        lines.append(line)
        print(line, flush=True)
    with OUTPUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


def _measured(seed: int, planted: int) -> dict[str, float]:
    counts = {"pairs": planted, "pairs_together": planted, "triples": 0}
    table = wide_table(seed, 200, 2000, **counts, hidden=0.0, strength=0.25, numbers=False)
    selector = SubgroupSelector("site", size=SIZE, k=K, n_jobs=-1)
    selection = selector.fit(table.columns, "y").selection_
    held = significance_tests(selection, permutations=DEALS).subgroups
    found = {
        "alarms by subgroup": float(np.mean([one.p_value <= LEVEL for one in held])),
        "alarms by table": float(any(one.adjusted <= LEVEL for one in held)),
    }
    shortlist, selection.shortlist = selection.shortlist, None
    selection._answers.clear()
    naive = significance_tests(selection, permutations=DEALS).subgroups
    selection.shortlist = shortlist
    found["if all rows were tested"] = float(np.mean([one.p_value <= LEVEL for one in naive]))
    truth = _truth(table, selection.feature_names, seed)
    scores = selection.completed(SIZE)
    within = (scores.low <= truth + TOLERANCE) & (truth <= scores.high + TOLERANCE)
    order = np.argsort(-scores.score, axis=1, kind="stable")[:, :K]
    best = np.take_along_axis(within, order, axis=1)
    found["coverage of the best"] = float(best[:, 0].mean())
    found["coverage of the ten best"] = float(best.mean())
    found["coverage of all"] = float(within.mean())
    low = np.take_along_axis(scores.low, order, axis=1)
    found["ten best surely above 0"] = float((low > TOLERANCE).mean())
    return found


def _truth(table: WideTable, names: tuple[str, ...], seed: int) -> np.ndarray:
    """What every pair of the kept features tells in other rows of the same population."""
    features = [int(name[1:]) for name in names]
    cohorts = build_cohorts(drawn_again(table, features, 100_000, seed + 100_000), "y")
    (scores,) = information_of(cohorts, above_chance=True).of_levels(0, SIZE, SIZE, -1)
    return np.maximum(scores, 0.0)


if __name__ == "__main__":
    main()
