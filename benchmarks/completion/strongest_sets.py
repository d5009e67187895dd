"""How often do intervals hold the truth for the sets that explain most, with few subgroups?

    python benchmarks/completion/strongest_sets.py

Four subgroups of 150 rows, five features, a signal planted in one or two of them, of which one was
never recorded in the last subgroup and a feature that tells nothing in the third. Prints how often
90 % intervals of sets of one and two features held the score that the hidden values give: over all
predicted sets, and for the strongest of the subgroup that lacks the signal.
benchmarks/completion/strongest_sets.csv holds it.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from misfeat import SubgroupSelector
from misfeat.answers.top_sets import best_sets

DRAWS = 200
ROWS = 150
HEAD = ("signal", "size", "all predicted sets", "the strongest", "the three strongest")
SIGNALS = {"one feature": (1,), "two features": (0, 1)}


def main() -> None:
    rows = [
        (signal, size, *(f"{share:.3f}" for share in coverage(features, size)))
        for signal, features in SIGNALS.items()
        for size in (1, 2)
    ]
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])
    for row in [HEAD, *rows]:
        print(*row, sep="\t")


def coverage(features: tuple[int, ...], size: int) -> np.ndarray:
    return np.mean([held(seed, features, size) for seed in range(DRAWS)], axis=0)


def held(seed: int, features: tuple[int, ...], size: int) -> tuple[float, float, float]:
    rng = np.random.default_rng(seed)
    site = np.repeat(list("abcd"), ROWS)
    values = rng.integers(3, size=(5, len(site))).astype(float)
    log_odds = 2 * sum(values[feature] - 1 for feature in features)
    y = rng.random(len(site)) < 1 / (1 + np.exp(-log_odds))
    whole = {"site": site, **{f"x{i}": column for i, column in enumerate(values)}}
    gaps = {
        **whole,
        "x1": np.where(site == "d", np.nan, whole["x1"]),
        "x3": np.where(site == "c", np.nan, whole["x3"]),
    }
    n_sets = 10
    truth = {
        (one.subgroup, one.features): one.score
        for one in best_sets(SubgroupSelector("site", size=size, k=n_sets).fit(whole, y).selection_)
    }
    found = best_sets(
        SubgroupSelector("site", size=size, k=n_sets, random_state=0).fit(gaps, y).selection_
    )
    predicted = [one for one in found if one.source == "predicted"]
    inside = [one.low <= truth[one.subgroup, one.features] <= one.high for one in predicted]
    best = [hit for one, hit in zip(predicted, inside, strict=True) if one.subgroup == "site=d"]
    return np.mean(inside), best[0], np.mean(best[:3])


if __name__ == "__main__":
    main()
