"""How often intervals of differences of scores hold the true difference.

    python -m benchmarks.population.differences

Every trial draws populations of four subgroups, a table from them with a quarter of the features
hidden, and looks at one subgroup; benchmarks/population/differences.csv holds the shares of 90 %
intervals that hold what is true.
"""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.feature_contributions import feature_values, pair_interactions, shapley_values
from misfeat.answers.top_sets import best_sets
from misfeat.datasets import make_cohorts
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Truth = Callable[..., float]

TRIALS, FIRST_SEED = 120, 100_000
TABLES = [(similarity, rows) for similarity in (20, 100, 1000) for rows in (200, 600, 2000)]
"""How close subgroups are to each other, and rows of each."""
WHAT = ("adds", "share of best", "mean share", "interaction", "swap")
"""The differences that a trial looks at."""
SUBGROUPS, FEATURES, SIZE, HIDDEN = 4, 6, 3, 0.25
"""Of every table, and the share of its features that is hidden."""
ROUNDING = 1e-12


def trial(similarity: float, rows: int, seed: int) -> dict[str, bool]:
    """Whether intervals hold the truth of a feature, a pair and two sets drawn at random."""
    data = make_cohorts(
        SUBGROUPS, rows, FEATURES, similarity=similarity, hide=HIDDEN, random_state=seed
    )
    selector = SubgroupSelector(data.groups, size=SIZE).fit(data.columns, data.target)
    rng = np.random.default_rng(seed)
    subgroup = str(rng.choice(selector.cohorts_.names))

    def truth(*features: str) -> float:
        return data.true_score(subgroup, features) if features else 0.0

    values = feature_values(selector.selection_, subgroup)
    one = values[rng.integers(len(values))]
    added = truth(one.feature, *one.adds_to) - truth(*one.adds_to)
    names = selector.selection_.feature_names
    best = best_sets(selector.selection_, subgroup=subgroup, k=1)[0].features
    name = best[rng.integers(len(best))]
    share = shapley_values(selector.selection_, subgroup, best)[name]
    pairs = pair_interactions(selector.selection_, subgroup)
    pair = pairs[rng.integers(len(pairs))]
    together = truth(pair.feature, pair.other) - truth(pair.feature) - truth(pair.other)
    order = [names[place] for place in rng.permutation(FEATURES)]
    swapped = selector.difference(subgroup, order[:SIZE], order[1 : SIZE + 1])
    return {
        "adds": _holds(one.adds_low, added, one.adds_high),
        "share of best": _holds(share.low, mean_addition(name, best, truth), share.high),
        "mean share": _holds(
            one.mean_share_low, mean_addition(one.feature, names, truth), one.mean_share_high
        ),
        "interaction": _holds(pair.low, together, pair.high),
        "swap": _holds(
            swapped.low, truth(*order[:SIZE]) - truth(*order[1 : SIZE + 1]), swapped.high
        ),
    }


def mean_addition(feature: str, features: Sequence[str], truth: Truth) -> float:
    """What a feature adds to fewer than three others, averaged within sizes, then over them.

    Of three features it is a Shapley value; of more, the mean of those in all sets of three.

    Examples
    --------
    >>> mean_addition("a", ["a", "b", "c"], lambda *features: float(len(features)))
    1.0
    """
    others = [name for name in features if name != feature]
    added = [
        np.mean([truth(feature, *part) - truth(*part) for part in combinations(others, size)])
        for size in range(SIZE)
    ]
    return float(np.mean(added))


def _holds(low: float, true: float, high: float) -> bool:
    return low - ROUNDING <= true <= high + ROUNDING


def main() -> None:
    rows: list[list[float | str]] = []
    for number, (similarity, n_rows) in enumerate(TABLES):
        seeds = range(FIRST_SEED + 1000 * number, FIRST_SEED + 1000 * number + TRIALS)
        found = [trial(similarity, n_rows, seed) for seed in seeds]
        held = [np.mean([one[what] for one in found]) for what in WHAT]
        rows.append([similarity, n_rows, TRIALS, *(f"{share:.3f}" for share in held)])
        print(*rows[-1], sep="\t", flush=True)
    means = [f"{np.mean([float(row[place]) for row in rows]):.3f}" for place in range(3, 8)]
    rows.append(["all", "all", TRIALS * len(TABLES), *means])
    print(*rows[-1], sep="\t")
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["similarity", "rows", "trials", *WHAT], *rows])


if __name__ == "__main__":
    main()
