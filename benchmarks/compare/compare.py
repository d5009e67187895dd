"""misfeat beside peers in one run: three features a subgroup, judged by what they truly tell.

    python -m venv peers && peers/bin/pip install -e . -r benchmarks/compare/requirements.txt
    peers/bin/python benchmarks/compare/compare.py

Rows are drawn from every subgroup of generated tables, whose populations are known, and of Adult
(where MISFEAT_DATA is set), whose other rows stand for the population. Features are hidden from
subgroups. Peers know neither subgroups nor gaps: they are given the rows and the recorded features
of one subgroup at a time; miceforest fills the gaps of all subgroups first, and the set that tells
most in the filled rows is taken. compare.csv beside this script has a line for every choice,
`write_page.py` makes the tables of the page from it.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from peers import OF_ONE_SUBGROUP, SIZE, best_scored, filled, logistic
from sklearn.metrics import roc_auc_score

from benchmarks.common.datasets import load_adult
from misfeat import Coding, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.datasets.population import random_mask
from misfeat.information import joint_mutual_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Truth = Callable[[str, tuple[str, ...]], float]

OUT = Path(__file__).with_name("compare.csv")
ROWS, HIDDEN = (200, 1000), 0.3
FEATURES = 10
FIELDS = ("table", "rows", "seed", "subgroup", "method", "features", "told", "best", "best_of_all")


def generated(rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, Truth]:
    data = make_cohorts(
        n_rows=rows, n_features=FEATURES, strength=0.5, hide=HIDDEN, random_state=seed
    )
    table = pd.DataFrame(data.columns).rename(columns={data.groups: "group", data.target: "y"})
    table["group"] = f"{data.groups}=" + table["group"].astype(str)
    return table, table.iloc[:0], data.true_score


def adult(rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, Truth]:
    """Rows drawn from every subgroup of Adult with features hidden, and all other rows."""
    data = load_adult()
    cohorts = build_cohorts(
        data.columns, data.target, groups=data.groups, coding=Coding(bins=data.bins)
    )
    rng = np.random.default_rng(seed)
    hidden = random_mask(len(cohorts), len(cohorts.features), HIDDEN, rng)
    drawn, others = [], []
    for number, (cohort, gaps) in enumerate(zip(cohorts, hidden, strict=True)):
        codes = np.repeat(cohort.codes, cohort.weights, axis=1).T
        whole = pd.DataFrame(codes, columns=cohorts.features)
        whole = whole.assign(group=f"s{number}", y=np.repeat(cohort.target, cohort.weights))
        whole = whole.iloc[rng.permutation(len(whole))]
        others.append(whole.iloc[rows:])
        part = whole.iloc[:rows].copy()
        part[[name for name, gap in zip(cohorts.features, gaps, strict=True) if gap]] = np.nan
        drawn.append(part)
    rest = pd.concat(others)
    kept = build_cohorts(rest, "y", groups="group", coding=Coding(max_categories=50))

    def told(subgroup: str, features: tuple[str, ...]) -> float:
        numbers = np.array([sorted(kept.features.index(one) for one in features)])
        cohort = kept[f"group={subgroup}"]
        return float(joint_mutual_info(cohort, numbers, above_chance=True)[0])

    return pd.concat(drawn), rest, told


def choices(table: pd.DataFrame) -> Iterator[tuple[str, str, list[str], float]]:
    """Method, subgroup, the features it chooses there, and CPU seconds."""
    features = [name for name in table if name not in ("group", "y")]
    table = table.reset_index(drop=True)
    begun = time.process_time()
    selector = SubgroupSelector("group", size=SIZE, k=1).fit(table, "y")
    best = {one.subgroup: list(one.features) for one in best_sets(selector.selection_)}
    everything = selector.scores()
    recorded = everything[everything["source"] == "recorded"]
    seconds = (time.process_time() - begun) / len(best)
    for subgroup, rows in table.groupby("group"):
        own = recorded[recorded["subgroup"] == f"group={subgroup}"]
        yield "misfeat", subgroup, list(own.loc[own["score"].idxmax(), "features"]), seconds
        yield "misfeat, unrecorded too", subgroup, best[f"group={subgroup}"], seconds
        rows = rows.reset_index(drop=True)
        X = rows[features].dropna(axis=1, how="all").astype(int)
        for name, choose in OF_ONE_SUBGROUP.items():
            begun = time.process_time()
            yield name, subgroup, choose(X, rows["y"].to_numpy()), time.process_time() - begun
        yield "rows as they are", subgroup, best_scored(X, rows["y"].to_numpy()), 0.0
    begun = time.process_time()
    whole = filled(table[[*features, "y"]].astype(dict.fromkeys(features, "category")))
    seconds = (time.process_time() - begun) / table["group"].nunique()
    for subgroup in table["group"].unique():
        here = whole[(table["group"] == subgroup).to_numpy()]
        X, y = here[features].astype(int), here["y"].to_numpy()
        recorded_here = table[table["group"] == subgroup][features].notna().any()
        yield "miceforest, unrecorded too", subgroup, best_scored(X, y), seconds
        yield "miceforest", subgroup, best_scored(X.loc[:, recorded_here], y), seconds


def judged(name: str, rows: int, seed: int) -> Iterator[dict[str, object]]:
    table, rest, truth = {"generated": generated, "adult": adult}[name](rows, seed)
    features = [one for one in table if one not in ("group", "y")]
    best, best_of_all, known = {}, {}, {}
    for subgroup, own in table.groupby("group"):
        recorded = own[features].columns[own[features].notna().any()]
        told = {one: truth(subgroup, one) for one in combinations(features, SIZE)}
        known[subgroup] = told
        best[subgroup] = max(told[one] for one in combinations(recorded, SIZE))
        best_of_all[subgroup] = max(told.values())
    for method, subgroup, chosen, seconds in choices(table):
        chosen = sorted(chosen, key=features.index)
        line = dict(zip(FIELDS, (name, rows, seed, subgroup, method), strict=False))
        line |= {"features": " ".join(chosen), "told": known[subgroup][tuple(chosen)]}
        line |= {"best": best[subgroup], "best_of_all": best_of_all[subgroup]}
        yield line | {"auc": auc(table, rest, subgroup, chosen), "seconds": seconds}


def auc(table: pd.DataFrame, rest: pd.DataFrame, subgroup: str, chosen: list[str]) -> float | None:
    """Of a logistic regression on the chosen features of the drawn rows, on the other rows."""
    own, other = table[table["group"] == subgroup], rest[rest["group"] == subgroup]
    if not len(other) or own[chosen].isna().any(axis=None):
        return None
    model = logistic().fit(own[chosen], own["y"])
    return float(roc_auc_score(other["y"], model.predict_proba(other[chosen])[:, 1]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", default="generated,adult")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with asked.out.open("w", newline="", encoding="utf-8") as file:
        lines = csv.DictWriter(file, [*FIELDS, "auc", "seconds"])
        lines.writeheader()
        draws = product(
            range(1000, 1000 + asked.seeds),
            asked.tables.split(","),
            map(int, asked.rows.split(",")),
        )
        for seed, name, rows in draws:
            for line in judged(name, rows, seed):
                digits = {k: round(v, 4) for k, v in line.items() if isinstance(v, float)}
                lines.writerow(line | digits)
            file.flush()
            print(f"{name}, {rows} rows, seed {seed}", flush=True)


if __name__ == "__main__":
    main()
