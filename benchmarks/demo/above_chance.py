"""Do the best sets of the NHANES subgroups tell more than chance, and which size is right to show?

    python -m benchmarks.demo.above_chance

Two tests of the answers of the demonstration, for sets of one, two and three features.

- Shuffled: targets are shuffled within every subgroup, and the best recorded set is sought anew, by
  ``estimate="sample"`` and by ``"population"``. benchmarks/demo/above_chance.csv holds the best
  share of the target's entropy, the mean of the best shares with shuffled targets, and how often
  these were as high (p, at least 1 / (shuffles + 1)).
- Other rows: every subgroup is split in halves at random. The best recorded set of one half is
  scored on the other one, above chance. benchmarks/demo/other_rows.csv holds the means in nats:
  what the half that chose it said it scores, and what it scores on the other one. The standard
  error is that of the splits; the rows themselves, the same in every split, add more.
"""

from __future__ import annotations

import csv
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common.nhanes import load_nhanes
from benchmarks.completers import DropCompleter
from misfeat import Coding, SubgroupSelector
from misfeat.answers import top_sets
from misfeat.cohorts import build_cohorts
from misfeat.information import joint_mutual_info

if TYPE_CHECKING:
    from misfeat.answers.top_sets import ScoredSet
    from misfeat.datasets import Dataset

SHUFFLES = 99
SPLITS = 50
SIZES = (1, 2, 3)
ESTIMATES = ("sample", "population")
SHUFFLED_HEAD = ("size", "estimate", "subgroup", "best share", "mean of shuffled", "p")
SPLIT_HEAD = ("size", "estimate", "subgroup", "said", "on other rows", "standard error")


def main() -> None:
    data = load_nhanes()
    answered = np.array([value is not None for value in data.columns[data.target]])
    columns = {name: column[answered] for name, column in data.columns.items()}
    cases = [(size, estimate) for size in SIZES for estimate in ESTIMATES]
    write(
        "other_rows", SPLIT_HEAD, [row for case in cases for row in on_others(data, columns, case)]
    )
    write(
        "above_chance",
        SHUFFLED_HEAD,
        [row for case in cases for row in shuffled(data, columns, case)],
    )


def write(name: str, head: tuple[str, ...], rows: list[tuple]) -> None:
    with Path(__file__).with_name(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    for row in [head, *rows]:
        print(*row, sep="\t")


def shuffled(data: Dataset, columns: dict, case: tuple[int, str]) -> list[tuple]:
    rng = np.random.default_rng(0)
    found = best_sets(data, columns, case)
    by_chance = [
        best_sets(data, {**columns, data.target: shuffled_target(data, columns, rng)}, case)
        for _ in range(SHUFFLES)
    ]
    rows = []
    for subgroup, best in found.items():
        shares = np.array([one[subgroup].share for one in by_chance])
        p = (1 + (shares >= best.share).sum()) / (1 + SHUFFLES)
        rows.append((*case, subgroup, f"{best.share:.4f}", f"{shares.mean():.4f}", f"{p:.2f}"))
    return rows


def on_others(data: Dataset, columns: dict, case: tuple[int, str]) -> list[tuple]:
    rng = np.random.default_rng(0)
    said: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {}
    for _ in range(SPLITS):
        half = np.zeros(len(columns[data.target]), dtype=bool)
        for rows in subgroup_rows(data, columns):
            half[rng.permutation(rows)[: len(rows) // 2]] = True
        chosen = best_sets(data, {name: column[half] for name, column in columns.items()}, case)
        others = {name: column[~half] for name, column in columns.items()}
        judge = build_cohorts(
            others, data.target, groups=data.groups, coding=Coding(bins=data.bins)
        )
        for subgroup, best in chosen.items():
            members = sorted(map(judge.features.index, best.features))
            (score,) = joint_mutual_info(judge[subgroup], [members], above_chance=True)
            said.setdefault(subgroup, []).append(best.score)
            found.setdefault(subgroup, []).append(float(score))
    said["mean"], found["mean"] = (
        list(np.mean([*all_.values()], axis=0)) for all_ in (said, found)
    )
    return [
        (
            *case,
            subgroup,
            f"{np.mean(said[subgroup]):.4f}",
            f"{np.mean(own):.4f}",
            f"{np.std(own, ddof=1) / np.sqrt(SPLITS):.4f}",
        )
        for subgroup, own in found.items()
    ]


def subgroup_rows(data: Dataset, columns: dict) -> list[np.ndarray]:
    """The rows of every subgroup."""
    band = np.searchsorted(data.groups[0]["age"], columns["age"])
    return [
        np.flatnonzero((band == age) & (columns["sex"] == sex))
        for age in np.unique(band)
        for sex in np.unique(columns["sex"])
    ]


def shuffled_target(data: Dataset, columns: dict, rng: np.random.Generator) -> np.ndarray:
    target = columns[data.target].copy()
    for rows in subgroup_rows(data, columns):
        target[rows] = target[rng.permutation(rows)]
    return target


def best_sets(data: Dataset, columns: dict, case: tuple[int, str]) -> dict[str, ScoredSet]:
    """The best set of every subgroup that holds only what the subgroup recorded."""
    size, estimate = case
    # The rows as they are need no prediction: unrecorded features count for nothing.
    completer = DropCompleter() if estimate == "sample" else "auto"
    selector = SubgroupSelector(
        data.groups,
        size=size,
        k=comb(len(columns), size),
        estimate=estimate,
        completer=completer,
        confidence=None if estimate == "sample" else 0.9,
        coding=Coding(bins=data.bins),
    )
    found: dict[str, ScoredSet] = {}
    for best in top_sets.best_sets(selector.fit(columns, data.target).selection_):
        if not best.missing:
            found.setdefault(best.subgroup, best)
    return found


if __name__ == "__main__":
    main()
