"""Do permutation tests of weighted tables hold, whatever the weights depend on?

    python benchmarks/weights/false_alarms.py

Samples of a population of 40,000 rows with four flags and a rare class, drawn by lot (weights are
noise), by a feature, by the class (case-control), by both, or as whole villages of 20, in which
flags and classes are alike, with weights by lot; the odds ratio of one flag is 1 (nothing explains
the class) or 6. ``false_alarms.csv`` has the share of samples with p <= 0.05 and p <= 0.01.
"""

from __future__ import annotations

import csv
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from misfeat import SubgroupSelector
from misfeat.exceptions import MisfeatWarning

KINDS = ("lot", "feature", "outcome", "both", "clusters")
ROWS = (300, 1000)
SAMPLES = {1: 1000, 6: 200}
"""How many samples are drawn, by odds ratio."""
FIRST_SEED = 9000
POPULATION = 40_000
VILLAGE = 20
HEAD = ("rows", "weights depend on", "odds ratio", "samples", "p <= 0.05", "p <= 0.01")


def main() -> None:
    rows = []
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        for n_rows in ROWS:
            for kind in KINDS:
                for odds, n_samples in SAMPLES.items():
                    seeds = range(FIRST_SEED, FIRST_SEED + n_samples)
                    p = np.array(list(pool.map(partial(p_value, kind, odds, n_rows), seeds)))
                    shares = (f"{(p <= level).mean():.3f}" for level in (0.05, 0.01))
                    rows.append((n_rows, kind, odds, n_samples, *shares))
                    print(*rows[-1], sep="\t", flush=True)
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])


def p_value(kind: str, odds: float, n_rows: int, seed: int) -> float:
    """The p-value of the best set of one sample."""
    warnings.simplefilter("ignore", MisfeatWarning)
    table, weights = sample(kind, odds, n_rows, seed)
    design = {"cluster": "village"} if kind == "clusters" else None
    selector = SubgroupSelector(None, size=2, n_jobs=1, design=design)
    selector.fit(table, "y", sample_weight=weights)
    return float(selector.significance(permutations=199)["p_value"][0])


def sample(
    kind: str, odds: float, n_rows: int, seed: int
) -> tuple[pd.DataFrame, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Rows of the population, and one over how likely each was drawn."""
    rng = np.random.default_rng(seed)
    village = np.arange(POPULATION) // VILLAGE
    own = rng.normal(size=(POPULATION // VILLAGE, 5)) * (kind == "clusters")
    x = rng.random((POPULATION, 4)) < 1 / (1 + np.exp(0.85 - own[village, :4]))
    y = rng.random(POPULATION) < 1 / (1 + np.exp(3 - np.log(odds) * x[:, 0] - own[village, 4]))
    half = n_rows // 2
    if kind in ("outcome", "feature"):
        flag = y if kind == "outcome" else x[:, 1]
        rare = rng.choice(np.flatnonzero(flag), half, replace=False)
        usual = rng.choice(np.flatnonzero(~flag), half, replace=False)
        drawn = np.concatenate([rare, usual])
        often = (~y).sum() / y.sum() if kind == "outcome" else 10.0
        weights = np.where(flag[drawn], 1.0, often)
    elif kind == "both":
        likely = np.where(y, 0.5, 0.02) * np.where(x[:, 1], 1.0, 0.3)
        drawn = np.flatnonzero(rng.random(POPULATION) < likely)[:n_rows]
        weights = 1.0 / likely[drawn]
    elif kind == "clusters":
        chosen = rng.choice(POPULATION // VILLAGE, n_rows // VILLAGE, replace=False)
        drawn = np.flatnonzero(np.isin(village, chosen))
        weights = rng.lognormal(0.0, 1.0, POPULATION // VILLAGE)[village[drawn]]
    else:
        drawn = rng.choice(POPULATION, n_rows, replace=False)
        weights = rng.lognormal(0.0, 1.0, n_rows)
    table = pd.DataFrame(x[drawn].astype(int), columns=list("abcd")).assign(y=y[drawn].astype(int))
    return table.assign(village=village[drawn]) if kind == "clusters" else table, weights


if __name__ == "__main__":
    main()
