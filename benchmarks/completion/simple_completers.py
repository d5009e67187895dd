"""How near simple ways to fill in a score come to the score that the hidden values would give.

Cohorts are generated, features are hidden, and every set of three features that holds a hidden one
is predicted. The truth is the exact score from the complete table. Three ways are compared:

- recorded part: the score of the features that the cohort has. Dropping the others, or imputing a
  constant such as the mode, gives this very number.
- mean elsewhere: the mean score of the set in the cohorts that recorded it.
- gain: misfeat's completer "gain".

    python benchmarks/completion/simple_completers.py

The figures are kept beside this script in simple_completers.csv: the root mean square error
relative to the mean true score, and the share of the true five best sets' score that the predicted
five best sets hold, means over seeds.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts

SEEDS = range(20)
HIDE = (0.2, 0.5)
SIZE, BEST = 3, 5


def scores(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns of the scores, each of shape (n_cohorts, n_sets)."""
    frame = SubgroupSelector(groups="cohort", size=SIZE).fit(columns, "target").scores()
    n_cohorts = frame["subgroup"].nunique()
    return {
        name: frame[name].to_numpy().reshape(n_cohorts, -1) for name in ("score", "low", "source")
    }


def mean_elsewhere(exact: np.ndarray) -> np.ndarray:
    recorded = ~np.isnan(exact)
    overall = exact[recorded].mean()
    total, count = np.nansum(exact, axis=0), recorded.sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), overall)
    return np.broadcast_to(mean, exact.shape)


def captured(truth: np.ndarray, guess: np.ndarray) -> float:
    best, chosen = np.argsort(-truth)[:BEST], np.argsort(-guess, kind="stable")[:BEST]
    return float(truth[chosen].sum() / truth[best].sum())


def one_run(hide: float, seed: int) -> dict[str, tuple[float, float]]:
    data = make_cohorts(n_features=10, hide=hide, random_state=seed)
    found, truth = scores(data.columns), scores(data.complete)["score"]
    predicted = found["source"] == "predicted"
    guesses = {
        "recorded part": found["low"],
        "mean elsewhere": mean_elsewhere(np.where(predicted, np.nan, found["score"])),
        "gain": found["score"],
    }
    figures = {}
    for name, guess in guesses.items():
        errors = (guess - truth)[predicted]
        share = [
            captured(true[test], guessed[test])
            for true, guessed, test in zip(truth, guess, predicted, strict=True)
        ]
        relative = np.sqrt(np.mean(errors**2)) / truth[predicted].mean()
        figures[name] = (float(relative), float(np.mean(share)))
    return figures


def main() -> None:
    rows = []
    for hide in HIDE:
        runs = [one_run(hide, seed) for seed in SEEDS]
        for name in runs[0]:
            error, share = np.mean([run[name] for run in runs], axis=0)
            rows.append(
                {
                    "hidden": hide,
                    "method": name,
                    "relative_rmse": round(error, 3),
                    "captured": round(share, 3),
                }
            )
            print(f"p = {hide}  {name:16} relative RMSE {error:.3f}   captured {share:.3f}")
    with Path(__file__).with_suffix(".csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
