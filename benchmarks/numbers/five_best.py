"""How well the five best of 200 feature sets are found for a numeric target, by several scores.

    python benchmarks/numbers/five_best.py --tune    # seeds from 1000 on: what is chosen here
    python benchmarks/numbers/five_best.py           # seeds from 0 on: what is told

The tables are those of made.py. `found` is how many of the five best sets are among the five of the
highest score, over five, and `kept` their information over that of the five best. Scores of ours
see every feature in five quantile bins, Kraskov's see the numbers themselves. One thread; `seconds`
are those of a table. Writes tuned.csv or five_best.csv, and
their means beside them.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from kraskov import NEIGHBOURS, mixed_ksg, normal_scores
from made import KINDS, make
from sklearn.feature_selection import mutual_info_regression

from misfeat.cohorts import build_cohorts
from misfeat.cohorts.cohort_data import Cohort
from misfeat.information.measures import information_of
from misfeat.information.mutual_info import joint_mutual_info

if TYPE_CHECKING:
    from collections.abc import Callable

    from made import Made
    from numpy.typing import NDArray

    Scorer = Callable[[Made], NDArray[np.float64]]

FOLDER = Path(__file__).parent
BINS, FINE, BEST = 5, 64, 5
SEEDS = {
    "tuned": {500: range(1000, 1010), 5000: range(1000, 1002)},
    "five_best": {500: range(10), 5000: range(2)},
}


def classes_of(values: NDArray[np.float64], n_classes: int) -> NDArray[np.uint8]:
    """Equally full classes of numbers."""
    edges = np.quantile(values, np.arange(1, n_classes) / n_classes, method="inverted_cdf")
    return np.searchsorted(edges, values, side="left").astype(np.uint8)


def grids_scored(made: Made, grids: list[NDArray[np.integer]]) -> NDArray[np.float64]:
    """The mean score above chance over grids of the target."""
    codes = np.array([classes_of(feature, BINS) for feature in made.features])
    ones = np.ones(len(made.target), dtype=np.int64)
    recorded = np.ones(len(codes), dtype=bool)
    wide = np.full(len(codes), BINS)
    scores = []
    for grid in grids:
        cohort = Cohort("all", codes, grid, ones, recorded, wide, int(grid.max()) + 1)
        scores.append(joint_mutual_info(cohort, made.subsets, above_chance=True, n_jobs=1))
    return np.mean(scores, axis=0)


def equal(*numbers: int) -> Scorer:
    """Equally full classes, so many of each grid."""
    return lambda made: grids_scored(made, [classes_of(made.target, k) for k in numbers])


def random_grids(n_grids: int, most: int) -> Scorer:
    """Grids of 2 to `most` classes with cuts at random."""

    def score(made: Made) -> NDArray[np.float64]:
        fine = classes_of(made.target, FINE)
        rng = np.random.default_rng([made.seed, 1])
        grids = []
        for _ in range(n_grids):
            n_cuts = int(rng.integers(1, most))
            cuts = np.sort(rng.choice(np.arange(1, FINE), n_cuts, replace=False))
            grids.append(np.searchsorted(cuts, fine, side="right"))
        return grids_scored(made, grids)

    return score


def shifted(n_grids: int, n_classes: int) -> Scorer:
    """Equally full classes, and the same cuts moved by fractions of a class, cutting an end off."""

    def score(made: Made) -> NDArray[np.float64]:
        grids = []
        for part in range(n_grids):
            ranks = (np.arange(n_classes) + part / n_grids) / n_classes
            edges = np.quantile(made.target, ranks[ranks > 0], method="inverted_cdf")
            grids.append(np.searchsorted(edges, made.target, side="left"))
        return grids_scored(made, grids)

    return score


def single_cuts(n_cuts: int) -> Scorer:
    """The mean over evenly spaced single cuts."""

    def score(made: Made) -> NDArray[np.float64]:
        fine = classes_of(made.target, FINE)
        places = np.unique(np.round(np.arange(1, n_cuts + 1) * FINE / (n_cuts + 1)))
        return grids_scored(made, [(fine >= place).astype(np.uint8) for place in places])

    return score


def of_misfeat(made: Made) -> NDArray[np.float64]:
    """As `SubgroupSelector` scores the table, which it codes first."""
    table = {f"x{place}": values for place, values in enumerate(made.features)}
    cohorts = build_cohorts({**table, "y": made.target}, "y")
    assert cohorts.features == tuple(table)
    return information_of(cohorts, above_chance=True).of_subsets(0, made.subsets, 1)


def neighbours(prepared: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Scorer:
    """Kraskov's estimator: scikit-learn's for single features, mixed KSG for sets."""

    def score(made: Made) -> NDArray[np.float64]:
        features, target = prepared(made.features), prepared(made.target)
        if made.size == 1:
            found: NDArray[np.float64] = mutual_info_regression(
                features.T, target, n_neighbors=NEIGHBOURS, random_state=0
            )
            return found
        return np.array([mixed_ksg(features[one], target) for one in made.subsets])

    return score


TUNED: dict[str, Scorer] = {
    **{f"{k} equal classes": equal(k) for k in (3, 5, 8, 12, 20)},
    "2, 3, 5 classes": equal(2, 3, 5),
    "3, 5, 8, 12 classes": equal(3, 5, 8, 12),
    **{f"{n} single cuts": single_cuts(n) for n in (15, 63)},
    **{
        f"{g} random grids to {most}": random_grids(g, most) for most in (8, 12) for g in (4, 8, 16)
    },
    **{f"{g} shifted grids of {k}": shifted(g, k) for k in (4, 5, 6) for g in (2, 4, 8)},
}
TOLD: dict[str, Scorer] = {
    **{f"{k} equal classes": equal(k) for k in (3, 5, 8)},
    "8 random grids to 12": random_grids(8, 12),
    "4 shifted grids of 5": shifted(4, 5),
    "misfeat, with coding": of_misfeat,
    "Kraskov": neighbours(lambda values: values),
    "Kraskov of normal scores": neighbours(normal_scores),
}
ONLY_STRETCHED = ("Kraskov of normal scores",)
"""Where columns are normal, as they are in all tables but the stretched, this changes nothing."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", action="store_true")
    name = "tuned" if parser.parse_args().tune else "five_best"
    scorers = TUNED if name == "tuned" else TOLD
    for scorer in scorers.values():
        scorer(make("linear", 1, 500, 99_999))  # compile
    lines = []
    for n_rows, seeds in SEEDS[name].items():
        for size in (1, 2):
            for kind in KINDS:
                for seed in seeds:
                    lines += compared(scorers, kind, size, n_rows, seed)
            write(FOLDER / f"{name}.csv", lines)
            write(FOLDER / f"{name}_means.csv", means(lines))


def write(path: Path, lines: list[dict[str, object]]) -> None:
    """Write what is there so far."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def compared(
    scorers: dict[str, Scorer], kind: str, size: int, n_rows: int, seed: int
) -> list[dict[str, object]]:
    """A line for every score of one table."""
    made = make(kind, size, n_rows, seed)
    told = made.information
    best = np.argsort(-told)[:BEST]
    lines: list[dict[str, object]] = []
    for name, scorer in scorers.items():
        if name in ONLY_STRETCHED and kind != "monotone":
            continue
        start = time.perf_counter()
        scores = scorer(made)
        seconds = time.perf_counter() - start
        chosen = np.argsort(-scores, kind="stable")[:BEST]
        lines.append(
            {
                "rows": n_rows,
                "size": size,
                "kind": kind,
                "seed": seed,
                "score": name,
                "found": len(set(chosen) & set(best)) / BEST,
                "kept": round(
                    float(made.information[chosen].sum() / made.information[best].sum()), 4
                ),
                "seconds": round(seconds, 4),
            }
        )
    return lines


def means(lines: list[dict[str, object]]) -> list[dict[str, object]]:
    """Means over tables: `found` by kind and over all, `kept`, and the seconds of a table."""
    groups: dict[tuple[object, ...], list[dict[str, object]]] = defaultdict(list)
    for line in lines:
        groups[line["rows"], line["size"], line["score"]].append(line)
    return [
        {
            "rows": rows,
            "size": size,
            "score": score,
            **{kind: _mean("found", [one for one in own if one["kind"] == kind]) for kind in KINDS},
            "found": _mean("found", own),
            "kept": _mean("kept", own),
            "seconds": _mean("seconds", own),
        }
        for (rows, size, score), own in groups.items()
    ]


def _mean(name: str, lines: list[dict[str, object]]) -> str:
    return f"{np.mean([float(str(one[name])) for one in lines]):.2f}" if lines else ""


if __name__ == "__main__":
    main()
