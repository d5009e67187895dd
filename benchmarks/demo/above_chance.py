"""Does the best set of every NHANES cohort tell more than chance would?

    python benchmarks/demo/above_chance.py

Targets are shuffled within every cohort, and the best recorded set is sought anew. Prints, for each
size and cohort, the best score, the mean of the best scores with shuffled targets, and how often
these were as high (p, at least 1 / (shuffles + 1)). benchmarks/demo/above_chance.csv holds it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from misfeat import Coding, SubgroupSelector
from misfeat.datasets import Dataset, load_nhanes

SHUFFLES = 199
SIZES = (1, 2, 3)
HEAD = ("size", "cohort", "best score", "mean of shuffled", "p")


def main() -> None:
    data = load_nhanes()
    answered = np.array([value is not None for value in data.columns[data.target]])
    columns = {name: column[answered] for name, column in data.columns.items()}
    rows = [row for size in SIZES for row in compared(data, columns, size)]
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])
    for row in [HEAD, *rows]:
        print(*row, sep="\t")


def compared(data: Dataset, columns: dict, size: int) -> list[tuple]:
    rng = np.random.default_rng(0)
    found = best_scores(data, columns, size)
    shuffled = [
        best_scores(data, {**columns, data.target: shuffled_target(data, columns, rng)}, size)
        for _ in range(SHUFFLES)
    ]
    return [
        (
            size,
            cohort,
            f"{score:.4f}",
            f"{np.mean([one[cohort] for one in shuffled]):.4f}",
            f"{(1 + sum(one[cohort] >= score for one in shuffled)) / (1 + SHUFFLES):.3f}",
        )
        for cohort, score in found.items()
    ]


def shuffled_target(data: Dataset, columns: dict, rng: np.random.Generator) -> np.ndarray:
    target = columns[data.target].copy()
    band = np.searchsorted(data.groups[0]["age"], columns["age"])
    for age in np.unique(band):
        for sex in np.unique(columns["sex"]):
            rows = np.flatnonzero((band == age) & (columns["sex"] == sex))
            target[rows] = target[rng.permutation(rows)]
    return target


def best_scores(data: Dataset, columns: dict, size: int) -> dict[str, float]:
    """The score of each cohort's best set, in which unrecorded features count for nothing."""
    selector = SubgroupSelector(
        data.groups, size=size, k=1, completer="drop", coding=Coding(bins=data.bins)
    )
    best = selector.fit(columns, data.target).best_sets()
    return {one.subgroup: one.score for one in best}


if __name__ == "__main__":
    main()
