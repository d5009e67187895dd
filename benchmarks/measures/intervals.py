"""How often intervals of measures of one's own hold the truth, on generated populations.

    python benchmarks/measures/intervals.py > benchmarks/measures/intervals.md

With ``--measures mutual_info accuracy hellinger --classes 3 --seeds 6`` it gives
intervals_3_classes.md.

Four subgroups with 8 features of 3 values, a fifth of the features hidden, sets of 1 to 3 features;
`--classes` and `--similarity` change that. The truth is the measure of the population's own table.
Constants (`DEALS` and others in `misfeat.information.measured` and `measured_noise`) were chosen
with information and Gini impurity on seeds below 100; accuracy and Hellinger's distance were first
looked at here, on seeds from 100 on.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.information import CountMeasure, GiniExplained

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from misfeat.datasets.population import GeneratedCohorts

    Floats = NDArray[np.float64]

SIZES = (1, 2, 3)
ROUNDING = 1e-9


class Information(CountMeasure):
    """Mutual information, through the same door."""

    name, unit, words = "information", "nats", "mutual information"

    def of_counts(self, counts: Floats) -> Floats:
        """Scores of a stack of tables."""
        share = counts / counts.sum(axis=(1, 2), keepdims=True)
        product = share.sum(axis=2, keepdims=True) * share.sum(axis=1, keepdims=True)
        ratio = np.divide(share, product, out=np.ones_like(share), where=share > 0)
        return np.asarray((share * np.log(ratio)).sum(axis=(1, 2)))


class Accuracy(CountMeasure):
    """What a best guess gets right beyond one without the features."""

    name, unit, words = "accuracy", "share of rows", "accuracy that a best guess gains"

    def of_counts(self, counts: Floats) -> Floats:
        """Scores of a stack of tables."""
        right = counts.max(axis=2).sum(axis=1) - counts.sum(axis=1).max(axis=1)
        return np.asarray(right / counts.sum(axis=(1, 2)))


class Hellinger(CountMeasure):
    """The squared Hellinger distance of cells and classes from independence."""

    name, unit, words = "hellinger", "H²", "squared Hellinger distance from independence"

    def of_counts(self, counts: Floats) -> Floats:
        """Scores of a stack of tables."""
        share = counts / counts.sum(axis=(1, 2), keepdims=True)
        product = share.sum(axis=2, keepdims=True) * share.sum(axis=1, keepdims=True)
        return np.asarray(1.0 - np.sqrt(share * product).sum(axis=(1, 2)))


MEASURES = {
    "mutual_info": "mutual_info",
    "information": Information(),
    "gini": GiniExplained(),
    "accuracy": Accuracy(),
    "hellinger": Hellinger(),
}


def held(name: str, n_rows: int, seed: int, asked: argparse.Namespace) -> Floats:
    """By size, of recorded, predicted and the ten best sets: how many, how many held, errors."""
    data = make_cohorts(
        n_rows=n_rows,
        n_classes=asked.classes,
        similarity=asked.similarity,
        strength=asked.strength,
        random_state=seed,
    )
    selector = SubgroupSelector(data.groups, size=3, measure=MEASURES[name])
    selector.fit(data.columns, data.target)
    return np.array([_held(name, data, selector.scores(size=size)) for size in SIZES])


def _held(name: str, data: GeneratedCohorts, scores: pd.DataFrame) -> Floats:
    told = zip(scores["subgroup"], scores["features"], strict=True)
    truth = np.array([_truth(name, data, *one) for one in told])
    score, low, high = (scores[column].to_numpy() for column in ("score", "low", "high"))
    inside = (low <= truth + ROUNDING) & (truth <= high + ROUNDING)
    recorded = (scores["source"] == "recorded").to_numpy()
    best = np.zeros(len(truth), dtype=bool)
    for subgroup in data.populations:
        own = np.flatnonzero((scores["subgroup"] == subgroup).to_numpy())
        best[own[np.argsort(-score[own])[:10]]] = True
    kinds = (recorded, ~recorded, best)
    return np.array([[k.sum(), inside[k].sum(), ((score - truth)[k] ** 2).sum()] for k in kinds])


def _truth(name: str, data: GeneratedCohorts, subgroup: str, features: tuple[str, ...]) -> float:
    measure = MEASURES[name]
    scoring = Information() if isinstance(measure, str) else measure
    joint = data.populations[subgroup].joint([int(feature[1:]) - 1 for feature in features])
    return float(scoring.of_counts(joint[None])[0])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measures", nargs="*", default=list(MEASURES))
    parser.add_argument("--rows", nargs="*", type=int, default=[300, 1000])
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--similarity", type=float, default=50.0)
    parser.add_argument("--strength", type=float, default=0.6)
    asked = parser.parse_args()
    print(f"Seeds {asked.first} to {asked.first + asked.seeds - 1}, {asked.classes} classes,")
    print(f"similarity {asked.similarity:g}, strength {asked.strength:g}. Held by 90 % intervals:")
    print()
    print("| measure | rows | size | recorded | predicted | ten best | RMSE recorded | predicted |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in asked.measures:
        for n_rows in asked.rows:
            seeds = range(asked.first, asked.first + asked.seeds)
            found = np.sum([held(name, n_rows, seed, asked) for seed in seeds], axis=0)
            for size, of_size in zip(SIZES, found, strict=True):
                count, inside, squares = of_size.T
                cells = [f"{100 * one:.0f} %" for one in inside / count]
                error = np.sqrt(squares / count)
                print(
                    f"| {name} | {n_rows:,} | {size} | {' | '.join(cells)} "
                    f"| {error[0]:.4f} | {error[1]:.4f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
