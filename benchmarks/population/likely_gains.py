"""Do features raise the best score as often, and by as much, as `worth_collecting` says?

    python benchmarks/population/likely_gains.py

Subgroups are drawn from known populations and a quarter of their features is hidden. Whether the
best set with a feature tells more than the best recorded one is then known. Rows are gathered by
the probability that was said; benchmarks/population/likely_gains.csv holds the means.
"""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

import numpy as np

from misfeat import SubgroupSelector
from misfeat.answers.recording_gains import feature_worths
from misfeat.datasets import GeneratedCohorts, make_cohorts

SIZES, ROWS, SEEDS = (2, 3), (300, 1000, 3000), range(20)
EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
HEAD = ("size", "rows", "said from", "to", "features", "said", "rose", "said gain", "gain")


def main() -> None:
    rows = [row for size in SIZES for n_rows in ROWS for row in by_probability(size, n_rows)]
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])
    for row in [HEAD, *rows]:
        print(*row, sep="\t")


def by_probability(size: int, n_rows: int) -> list[tuple]:
    found = np.array([gain for seed in SEEDS for gain in gains(size, n_rows, seed)])
    place = np.clip(np.searchsorted(EDGES, found[:, 0], side="right") - 1, 0, len(EDGES) - 2)
    return [
        (
            size,
            n_rows,
            EDGES[one],
            EDGES[one + 1],
            int((place == one).sum()),
            *(f"{mean:.2f}" for mean in found[place == one, :2].mean(axis=0)),
            *(f"{mean:.4f}" for mean in found[place == one, 2:].mean(axis=0)),
        )
        for one in np.unique(place)
    ]


def gains(size: int, n_rows: int, seed: int) -> list[tuple[float, float, float, float]]:
    """What is said of every unrecorded feature, and what is true."""
    data = make_cohorts(
        n_cohorts=6, n_rows=n_rows, n_features=8, similarity=100, hide=0.25, random_state=seed
    )
    selection = SubgroupSelector(data.groups, size=size).fit(data.columns, data.target).selection_
    found = []
    for worth in feature_worths(selection):
        lacking = selection.cohorts.missing_features(worth.subgroup)
        own = [name for name in selection.feature_names if name not in lacking]
        before = best_of(data, worth.subgroup, [*combinations(own, size)])
        sets = [(*part, worth.feature) for part in combinations(own, size - 1)]
        rise = best_of(data, worth.subgroup, sets) - before
        found.append((worth.probability, float(rise > 0), worth.gain, max(0.0, rise)))
    return found


def best_of(data: GeneratedCohorts, subgroup: str, sets: list[tuple[str, ...]]) -> float:
    return max(data.true_score(subgroup, one) for one in sets)


if __name__ == "__main__":
    main()
