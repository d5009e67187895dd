"""Features chosen for times to an event: how well does a Cox model with them do on other rows?

    python -m benchmarks.time_to_event.choice [--jobs 2] [--draws 20] [--first 900]

Rotterdam and GBSG (folder MISFEAT_DATA) and generated cohorts of four subgroups; tables of 150, 300
and 600 rows, 3, 5 and 8 features. Peers: features by their own c-index, a Cox lasso (the penalty at
which so many features enter), forward selection by the partial likelihood. Each choice gets the
same Cox model, on standardised numbers and one-hot categories; ``choice.csv`` has Uno's C on the
rows that were not drawn, the mean over draws.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.time_to_event.populations import Population, censored_table
from misfeat import SubgroupSelector
from misfeat.answers.performance import concordance, fit_cox
from misfeat.cohorts.survival import STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Design = dict[str, Floats]

OUTPUT = Path(__file__).with_suffix(".csv")
HEAD = ("table", "rows", "features", "draws", "misfeat", "c-index", "lasso", "forward", "all")
TABLES = ("rotterdam", "gbsg", "generated", "generated, half censored")
ROWS, SIZES = (150, 300, 600), (3, 5, 8)
BINS = 200


@cache
def whole_table(name: str, seed: int) -> pd.DataFrame:
    """All rows of a table, with the columns time and event."""
    if name.startswith("generated"):
        rng = np.random.default_rng([seed, 7])
        share = 0.5 if "half" in name else 0.2
        return censored_table(Population.draw(seed, 1.3), 1200, "random", share, rng)
    table = pd.read_csv(Path(os.environ["MISFEAT_DATA"]) / f"{name}.csv.gz")
    names = {"rtime": "time", "recur": "event", "rfstime": "time", "status": "event"}
    drop = [c for c in ("rownames", "pid", "dtime", "death") if c in table]
    return table.drop(columns=drop).rename(columns=names)


def columns_of(table: pd.DataFrame) -> Design:
    """Standardised numbers and one-hot categories of every feature."""
    design = {}
    for name in table.columns.difference(["time", "event", "site"], sort=False):
        values = table[name]
        if not pd.api.types.is_numeric_dtype(values):
            columns = pd.get_dummies(values, drop_first=True).to_numpy(dtype=float)
        else:
            columns = np.log1p(values.to_numpy(dtype=float)[:, None])
        spread = columns.std(axis=0)
        design[name] = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return design


def ranks_of_table(table: pd.DataFrame) -> NDArray[np.int64]:
    edges = np.unique(np.quantile(table["time"], np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, table["time"], side="left")
    return bins * STATES + table["event"].to_numpy()


def log_hazards(X: Floats, ranks: Any, train: Any) -> Floats:
    """What a Cox model of some rows predicts for all."""
    return fit_cox(X, train, ranks[train], np.ones(len(train))).log_hazard


def likelihood(score: Floats, ranks: Any) -> float:
    """The partial likelihood of logarithms of hazards (Breslow)."""
    bins, states = np.divmod(ranks, STATES)
    hazard = np.bincount(bins, np.exp(score))
    at_risk = np.cumsum(hazard[::-1])[::-1]
    return float((score - np.log(at_risk[bins]))[states == 1].sum())


def by_c_index(design: Design, ranks: Any, train: Any, most: int) -> list[str]:
    def own(name: str) -> float:
        return concordance(
            log_hazards(design[name], ranks, train)[train], ranks[train], np.ones(len(train)), BINS
        )

    return sorted(design, key=own, reverse=True)[:most]


def forward(design: Design, ranks: Any, train: Any, most: int) -> list[str]:
    chosen: list[str] = []
    while len(chosen) < min(most, len(design)):

        def gained(name: str) -> float:
            X = np.hstack([design[one] for one in (*chosen, name)])
            return likelihood(log_hazards(X, ranks, train)[train], ranks[train])

        chosen.append(max((name for name in design if name not in chosen), key=gained))
    return chosen


def lasso(design: Design, ranks: Any, train: Any, most: int) -> list[str]:
    """Features in the order in which they enter as the penalty falls (proximal gradient)."""
    X = np.hstack(list(design.values()))[train]
    owner = np.repeat(np.arange(len(design)), [c.shape[1] for c in design.values()])
    bins, states = np.divmod(ranks[train], STATES)

    def gradient(slopes: Floats) -> Floats:
        hazard = np.exp(np.clip(X @ slopes, -20, 20))
        at_risk = np.cumsum(np.bincount(bins, hazard)[::-1])[::-1]
        each = np.bincount(bins, states == 1, len(at_risk)) / np.maximum(at_risk, 1e-300)
        expected = np.cumsum(each)[bins] * hazard
        return np.asarray(X.T @ ((states == 1) - expected) / len(X))

    slopes, entered = np.zeros(X.shape[1]), list[int]()
    step = 1.0 / max(np.linalg.norm(X, 2) ** 2 / len(X) * np.mean(states == 1) * 2, 1e-9)
    for penalty in np.abs(gradient(slopes)).max() * np.geomspace(1, 0.005, 50):
        for _ in range(200):
            moved = slopes + step * gradient(slopes)
            new = np.sign(moved) * np.maximum(np.abs(moved) - step * penalty, 0.0)
            done = np.abs(new - slopes).max() < 1e-5
            slopes = new
            if done:
                break
        entered += [
            f
            for f in dict.fromkeys(owner[np.argsort(-np.abs(slopes))].tolist())
            if np.abs(slopes[owner == f]).max() > 0 and f not in entered
        ]
        if len(entered) >= most:
            break
    entered += [f for f in range(len(design)) if f not in entered]
    return [list(design)[f] for f in entered[:most]]


def ours(table: pd.DataFrame, train: Any, most: int) -> dict[str, Sequence[str]]:
    """The best recorded set of every subgroup, or of all rows."""
    groups = "site" if "site" in table else None
    selector = SubgroupSelector(groups=groups, size=most)
    selector.fit(table.iloc[train], ("time", "event"))
    scores = selector.top_k(k=1)
    return {
        name.removeprefix("site="): list(features)
        for name, features in zip(scores["subgroup"], scores["features"], strict=True)
    }


PEERS: dict[str, Callable[..., list[str]]] = {
    "c-index": by_c_index,
    "lasso": lasso,
    "forward": forward,
    "all": lambda design, *_: list(design),
}


def one(task: tuple[str, int, int]) -> dict[int, list[float]]:
    """Uno's C on other rows by size: ours, and the peers'."""
    name, n_rows, seed = task
    warnings.simplefilter("ignore")
    table = whole_table(name, seed if name.startswith("generated") else 0)
    rng = np.random.default_rng([seed, n_rows])
    order = rng.permutation(len(table))
    train, test = np.sort(order[:n_rows]), np.sort(order[n_rows:])
    design, ranks = columns_of(table), ranks_of_table(table)
    sites = table["site"].to_numpy() if "site" in table else np.full(len(table), "all rows")

    def reached(chosen: dict[str, Sequence[str]]) -> float:
        """C of models of the whole training table, each with the features of a subgroup."""
        found, weights = [], []
        for site in np.unique(sites):
            X = np.hstack([design[feature] for feature in chosen[str(site)]])
            own = test[sites[test] == site]
            score = log_hazards(X, ranks, train)[own]
            found.append(concordance(score, ranks[own], np.ones(len(own)), int(0.75 * BINS)))
            weights.append(len(own))
        return float(np.average(found, weights=weights))

    results = {}
    for size in SIZES:
        if size >= len(design):
            continue
        values = [reached(ours(table, train, size))]
        for choose in PEERS.values():
            chosen = choose(design, ranks, train, size)
            values.append(reached({str(site): chosen for site in np.unique(sites)}))
        results[size] = values
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=900)
    parser.add_argument("--out", type=Path, default=OUTPUT)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.draws)
    tasks = list(product(TABLES, ROWS, seeds))
    tasks = [(t, n, s) for t, n, s in tasks if not (t == "gbsg" and n == 600)]
    with ProcessPoolExecutor(given.jobs) as pool:
        found = dict(zip(tasks, pool.map(one, tasks, chunksize=1), strict=True))
    with given.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        for table, rows, size in product(TABLES, ROWS, SIZES):
            lines = [
                found[table, rows, seed].get(size) for seed in seeds if (table, rows, seed) in found
            ]
            lines = [line for line in lines if line is not None]
            if lines:
                means = (f"{m:.4f}" for m in np.mean(lines, axis=0))
                line = (table, rows, size, len(lines), *means)
                writer.writerow(line)
                print(*line)


if __name__ == "__main__":
    main()
