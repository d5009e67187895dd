"""Exact joint mutual information of every subset: misfeat against peers, timed in one run.

Uniform independent features, the worst case for every shortcut, in the workloads

    A   12,500 rows, 15 features of 4 values, 4 classes, sizes 1-5     (4,943 subsets)
    C   the same with 20 features                                      (21,699)
    E   50,000 rows, 30 features, sizes 1-4                            (31,930)
    D   A with 1,000,000 rows
    B   A with the whole power set                                     (32,767)
    F   C with the whole power set                                     (1,048,575)
    A9, A5, A2   A with 9 values a feature, with 5 and with 2 classes

Peers score a random sample of the subsets, and their time is scaled to all of them:

- scikit-learn: ``mutual_info_score`` on integer keys of the subset's codes;
- numpy: ``np.bincount`` of keys and classes, and entropies of the counts.

Times are wall-clock, best of several taken in turns. misfeat is timed from coded rows to scores,
everything included but compilation, on one thread and on all.

    python benchmarks/speed/joint_mutual_info.py [WORKLOAD ...]

A run of all workloads keeps its figures beside this script: joint_mutual_info.csv and, drawn with
matplotlib (``pip install '.[plot]'``), joint_mutual_info.svg.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import mutual_info_score

from misfeat.cohorts import Cohort
from misfeat.information import level_mutual_info

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Workload:
    """A generated cohort and the sizes of the subsets to score."""

    rows: int
    features: int
    largest: int
    values: int = 4
    classes: int = 4
    repeats: int = 2
    sample: int = 40
    rounds: int = 4

    @property
    def n_subsets(self) -> int:
        """How many subsets are scored."""
        return sum(comb(self.features, m) for m in range(1, self.largest + 1))

    def cohort(self) -> Cohort:
        """Draw the rows."""
        rng = np.random.default_rng(0)
        return Cohort(
            name="generated",
            codes=rng.integers(self.values, size=(self.features, self.rows)).astype(np.int8),
            target=rng.integers(self.classes, size=self.rows).astype(np.int8),
            weights=np.ones(self.rows, dtype=np.int64),
            recorded=np.ones(self.features, dtype=bool),
            cardinalities=np.full(self.features, self.values, dtype=np.int64),
            n_classes=self.classes,
        )


WORKLOADS = {
    "A": Workload(12_500, 15, 5, repeats=10),
    "C": Workload(12_500, 20, 5, repeats=4),
    "E": Workload(50_000, 30, 4, repeats=3),
    "D": Workload(1_000_000, 15, 5, sample=8),
    "B": Workload(12_500, 15, 15, repeats=1),
    "A9": Workload(12_500, 15, 5, values=9),
    "A5": Workload(12_500, 15, 5, classes=5, repeats=5),
    "A2": Workload(12_500, 15, 5, classes=2, repeats=5),
    "F": Workload(12_500, 20, 20, repeats=1, rounds=2),
}


def best_time(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def keys_of(cohort: Cohort, codes: np.ndarray, subset: tuple[int, ...]) -> np.ndarray:
    """The codes of a subset as one integer a row, dense where they would not fit."""
    key = codes[subset[0]]
    width = int(cohort.cardinalities[subset[0]])
    for feature in subset[1:]:
        key = key * int(cohort.cardinalities[feature]) + codes[feature]
        width *= int(cohort.cardinalities[feature])
        if width > 64 * codes.shape[1]:
            key = np.unique(key, return_inverse=True)[1]
            width = codes.shape[1]
    return key


def with_scikit_learn(cohort: Cohort, key: np.ndarray, target: np.ndarray) -> float:
    del cohort
    return float(mutual_info_score(key, target))


def with_numpy(cohort: Cohort, key: np.ndarray, target: np.ndarray) -> float:
    counts = np.bincount(key * cohort.n_classes + target)
    counts = np.append(counts, np.zeros(-len(counts) % cohort.n_classes, dtype=np.int64))
    cells = counts.reshape(-1, cohort.n_classes)

    def entropy(part: np.ndarray) -> float:
        part = part[part > 0]
        return float(np.log(len(target)) - part @ np.log(part) / len(target))

    return entropy(cells.sum(axis=1)) + entropy(cells.sum(axis=0)) - entropy(cells.ravel())


def sampled_subsets(load: Workload) -> list[tuple[int, ...]]:
    """Subsets drawn uniformly from all that are scored."""
    rng = np.random.default_rng(1)
    sizes = np.arange(1, load.largest + 1)
    share = np.array([comb(load.features, m) for m in sizes], dtype=float)
    drawn = rng.choice(sizes, size=load.sample, p=share / share.sum())
    return [tuple(sorted(rng.choice(load.features, m, replace=False).tolist())) for m in drawn]


def measure(name: str, load: Workload) -> dict[str, object]:
    cohort = load.cohort()
    codes, target = cohort.codes.astype(np.int64), cohort.target.astype(np.int64)
    subsets = sampled_subsets(load)
    scores = level_mutual_info(cohort, 1, load.largest)  # compiles, and plans
    check(cohort, codes, target, scores, subsets)
    timed = {
        "scikit_learn": lambda: [
            with_scikit_learn(cohort, keys_of(cohort, codes, s), target) for s in subsets
        ],
        "numpy": lambda: [with_numpy(cohort, keys_of(cohort, codes, s), target) for s in subsets],
        "one": lambda: level_mutual_info(cohort, 1, load.largest, n_jobs=1),
        "all": lambda: level_mutual_info(cohort, 1, load.largest, n_jobs=-1),
    }
    # In turns, so that a slow spell of the machine meets every one of them.
    best_times = dict.fromkeys(timed, np.inf)
    for _ in range(load.rounds):
        for key, function in timed.items():
            repeats = load.repeats if key in ("one", "all") else 1
            best_times[key] = min(best_times[key], best_time(function, repeats))
    scale = load.n_subsets / load.sample
    peers = {peer: best_times[peer] * scale for peer in ("scikit_learn", "numpy")}
    one, every = best_times["one"], best_times["all"]
    threads = os.cpu_count() or 1
    best = min(one, every)
    return {
        "workload": name,
        "subsets": load.n_subsets,
        "scikit_learn_s": round(peers["scikit_learn"], 3),
        "numpy_s": round(peers["numpy"], 4),
        "misfeat_1_thread_s": round(one, 5),
        "misfeat_threads": threads,
        "misfeat_all_threads_s": round(every, 5),
        "times_scikit_learn_1_thread": round(peers["scikit_learn"] / one),
        "times_numpy_1_thread": round(peers["numpy"] / one, 1),
        "times_scikit_learn": round(peers["scikit_learn"] / best),
        "times_numpy": round(peers["numpy"] / best, 1),
    }


def check(
    cohort: Cohort,
    codes: np.ndarray,
    target: np.ndarray,
    scores: list[np.ndarray],
    subsets: list[tuple[int, ...]],
) -> None:
    """What is timed is right: the sampled scores equal scikit-learn's."""
    for subset in subsets[:10]:
        rank = sum(comb(c, j + 1) for j, c in enumerate(subset))
        expected = mutual_info_score(keys_of(cohort, codes, subset), target)
        assert abs(scores[len(subset) - 1][rank] - expected) < 1e-12


def plot(rows: list[dict[str, object]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "misfeat"
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    names = [str(row["workload"]) for row in rows]
    for offset, (column, label, colour) in enumerate(
        (
            ("times_scikit_learn", "scikit-learn mutual_info_score", "#0072B2"),
            ("times_numpy", "np.bincount", "#E69F00"),
        )
    ):
        heights = [float(str(row[column])) for row in rows]
        axes.bar(
            np.arange(len(rows)) + 0.4 * offset, heights, width=0.38, label=label, color=colour
        )
    axes.set_yscale("log")
    axes.set_xticks(np.arange(len(rows)) + 0.2, names)
    axes.set_xlabel("workload")
    axes.set_ylabel("times faster")
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", choices=[*WORKLOADS, []], default=[])
    chosen = parser.parse_args().workloads or list(WORKLOADS)
    rows = []
    for name in chosen:
        rows.append(measure(name, WORKLOADS[name]))
        print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if set(chosen) != set(WORKLOADS):
        return
    kept = Path(__file__).with_suffix(".csv")
    with kept.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    plot(rows, kept.with_suffix(".svg"))


if __name__ == "__main__":
    main()
