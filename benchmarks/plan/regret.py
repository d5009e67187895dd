"""Does following `plan` gain as much for its cost as knowing the truth would?

    python benchmarks/plan/regret.py [SEED ...]

Rows are drawn from large tables, features are hidden from a third of the subgroups, and a plan is
made and followed until a budget is spent. What was gained is then held against the scores of the
whole table, or of the population where it is known. Beside it: single features ranked by their
gain, single features ranked by gain for cost, and a greedy choice that knows the truth. Rows of
``regret.csv`` are means over draws; ``probabilities.csv`` gathers steps by the probability that was
said. Real tables need `MISFEAT_DATA`.
"""

from __future__ import annotations

import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from misfeat import SubgroupSelector
from misfeat.answers.recording_plan import LEAST_SHARE
from misfeat.datasets import load_heart, make_cohorts
from misfeat.exceptions import MisfeatWarning

SIZE, HIDDEN = 3, 5
ROWS = {"heart": (80,), "waves": (200, 600), "voters": (200, 600), "crashes": (200, 500)}
USUAL_ROWS = (200, 1000)
SEEDS = range(1, 9)
TABLES = ("heart", "waves", "adult", "crashes", "voters", "generated alike", "generated unlike")
EDGES = np.linspace(0.0, 1.0, 11)
BUDGETS = (2.0, 5.0, 15.0)
WAYS = ("plan", "by gain", "by gain for cost")
REAL = {
    "adult": ("adult.csv.gz", "income", "race", "fnlwgt", "educational-num"),
    "waves": ("waves.csv.gz", "pid7", "year", "rownames"),
    "crashes": ("crashes.csv.gz", "dead", "dvcat", "rownames", "caseid", "weight"),
    "voters": ("voters.csv.gz", "votetrump", "state", "rownames", "uid"),
}
"""Files, targets, groups, and columns to leave out."""
HERE = Path(__file__).parent


def main() -> None:
    seeds = [int(seed) for seed in sys.argv[1:]] or list(SEEDS)
    work = [(t, n, s) for t in TABLES for n in ROWS.get(t, USUAL_ROWS) for s in seeds]
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        results = list(chain.from_iterable(pool.map(one_draw, *zip(*work, strict=True))))
    draws = pd.DataFrame([row for row in results if "budget" in row])
    means = draws.groupby(["table", "rows", "budget"], sort=False)[[*WAYS]].mean().round(3)
    means.to_csv(HERE / "regret.csv")
    print(means, draws[[*WAYS]].mean().round(3), sep="\n")
    steps = pd.DataFrame([row for row in results if "said" in row])
    steps["tenth"] = np.clip(np.digitize(steps["said"], EDGES) - 1, 0, 9)
    held = steps.groupby("tenth").agg(
        steps=("said", "size"), said=("said", "mean"), came_true=("true", "mean")
    )
    held.round(3).to_csv(HERE / "probabilities.csv")
    print(held.round(3))


def one_draw(table: str, n_rows: int, seed: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore", MisfeatWarning)
    data, target, group, truth = source(table, seed if table.startswith("generated") else 0)
    rng = np.random.default_rng([seed, n_rows])
    drawn = data.groupby(group).sample(n_rows, random_state=int(rng.integers(2**31)))
    features = [name for name in data.columns if name not in (target, group)]
    names = sorted(drawn[group].unique())
    hidden = {}
    for name in rng.choice(names, max(1, len(names) // 3), replace=False):
        own = drawn[group] == name
        recorded = [f for f in features if drawn.loc[own, f].notna().any()]
        hidden[name] = set(rng.choice(recorded, min(HIDDEN, len(recorded) - SIZE), replace=False))
    for feature in set().union(*hidden.values()):
        lacking = [name for name, own in hidden.items() if feature in own]
        drawn[feature] = drawn[feature].where(~drawn[group].isin(lacking))
    fitted = SubgroupSelector(group, size=SIZE).fit(drawn, target)
    features = fitted.selection_.feature_names
    hidden = {name: own & set(features) for name, own in hidden.items()}
    costs = {f: float(rng.choice([1, 2, 5])) for f in features}
    known = {name: Truth(truth, f"{group}={name}", hidden[name]) for name in hidden}
    steps = fitted.plan(costs=costs)
    worths = fitted.worth_collecting(costs=costs)
    of_group = lambda name: type(names[0])(name.removeprefix(f"{group}="))  # noqa: E731
    ways = {
        "by gain": _singles(worths.sort_values("gain", ascending=False), of_group),
        "by gain for cost": _singles(
            worths.sort_values("gain_per_cost", ascending=False), of_group
        ),
    }
    # Of what a table never recorded itself the truth is not known: nobody may buy it.
    only_hidden = {
        f: {f"{group}={n}": costs[f] if f in hidden.get(n, ()) else 1e12 for n in names}
        for f in features
    }
    ways = {way: [(n, f) for n, f in s if f <= hidden.get(n, set())] for way, s in ways.items()}
    rows: list[dict[str, Any]] = []
    for budget in BUDGETS:
        most = followed(oracle(known, costs, budget), known, costs, budget)
        if most > 0:
            within = fitted.plan(costs=only_hidden, budget=budget)
            ways["plan"] = [
                (of_group(s), set(f))
                for s, f in zip(within["subgroup"], within["features"], strict=True)
            ]
            shares = {way: 1 - followed(ways[way], known, costs, budget) / most for way in WAYS}
            rows.append({"table": table, "rows": n_rows, "seed": seed, "budget": budget, **shares})
    usual = np.mean([costs[f] for own in hidden.values() for f in own])
    done: dict[Any, set[str]] = {name: set() for name in hidden}
    for step in steps.itertuples():
        name = of_group(step.subgroup)
        if not set(step.features) <= hidden.get(name, set()):
            continue
        gain = known[name].best(done[name] | set(step.features)) - known[name].best(done[name])
        done[name] |= set(step.features)
        least = LEAST_SHARE * known[name].whole * step.cost / usual
        rows.append({"table": table, "said": step.probability, "true": float(gain >= least)})
    return rows


def _singles(worths: pd.DataFrame, of_group: Any) -> list[tuple[Any, set[str]]]:
    return [(of_group(s), {f}) for s, f in zip(worths["subgroup"], worths["feature"], strict=True)]


class Truth:
    """The true scores of a subgroup, and the best of them by what of the hidden is recorded."""

    def __init__(self, scores: pd.DataFrame, subgroup: str, hidden: set[str]) -> None:
        own = scores[scores["subgroup"] == subgroup]
        self.whole = float(own["whole"].iloc[0])
        self._sets = [
            (hidden & set(f), s) for f, s in zip(own["features"], own["score"], strict=True)
        ]
        self.hidden = hidden
        self._best: dict[frozenset[str], float] = {}
        for part, score in self._sets:
            key = frozenset(part)
            self._best[key] = max(score, self._best.get(key, 0.0))

    def best(self, recorded: set[str]) -> float:
        """The highest score once some hidden features are recorded."""
        return max((s for part, s in self._best.items() if part <= recorded), default=0.0)


def followed(
    steps: list[tuple[Any, set[str]]],
    known: dict[Any, Truth],
    costs: dict[str, float],
    budget: float,
) -> float:
    """What steps gain, in their order, each that the rest of the budget covers."""
    done: dict[Any, set[str]] = {name: set() for name in known}
    spent = 0.0
    for name, features in steps:
        if name not in known:
            continue
        cost = sum(costs[f] for f in features - done[name])
        if spent + cost <= budget:
            done[name] |= features
            spent += cost
    return sum(known[name].best(done[name]) - known[name].best(set()) for name in known)


def oracle(
    known: dict[Any, Truth], costs: dict[str, float], budget: float
) -> list[tuple[Any, set[str]]]:
    """The bundles that truly gain most for their cost, one after the other."""
    done: dict[Any, set[str]] = {name: set() for name in known}
    steps: list[tuple[Any, set[str]]] = []
    spent = 0.0
    while True:
        offers = []
        for name, truth in known.items():
            left = sorted(truth.hidden - done[name])
            for size in (1, 2, 3):
                for bundle in map(set, combinations(left, size)):
                    cost = sum(costs[f] for f in bundle)
                    gain = truth.best(done[name] | bundle) - truth.best(done[name])
                    if spent + cost <= budget and gain > 0:
                        offers.append((gain / cost, name, bundle, cost))
        if not offers:
            return steps
        _, name, bundle, cost = max(offers, key=lambda offer: offer[0])
        steps.append((name, bundle))
        done[name] |= bundle
        spent += cost


@cache
def source(table: str, seed: int) -> tuple[pd.DataFrame, str, str, pd.DataFrame]:
    """A large table, its target and groups, and the true scores of its sets."""
    if table.startswith("generated"):
        return _generated(1000 if table.endswith(" alike") else 30, seed)
    if table == "heart":
        data, target, group = pd.DataFrame(load_heart().columns), "num", "site"
    else:
        file, target, group, *left_out = REAL[table]
        folder = Path(os.environ.get("MISFEAT_DATA", "data"))
        data = pd.read_csv(folder / file).drop(columns=left_out).dropna(subset=[target, group])
    largest = data[group].value_counts()
    needed = 1.2 * max(ROWS.get(table, USUAL_ROWS))
    data = data[data[group].isin(largest.index[largest > needed][:12])]
    full = SubgroupSelector(group, size=SIZE).fit(data, target)
    scores = full.scores()
    scores = scores[scores["source"] == "recorded"]
    scores = scores.assign(whole=scores["score"] / scores["share"])
    return data, target, group, scores[["subgroup", "features", "score", "whole"]]


def _generated(similarity: float, seed: int) -> tuple[pd.DataFrame, str, str, pd.DataFrame]:
    made = make_cohorts(9, 4000, 10, similarity=similarity, hide=0.0, random_state=seed)
    data, group = pd.DataFrame(made.complete), "cohort"
    features = [f for f in data.columns if f not in (made.target, group)]
    rows = []
    for name, population in made.populations.items():
        shares = data.loc[data[group] == name.removeprefix("cohort="), made.target]
        shares = shares.value_counts(normalize=True)
        whole = float(-(shares * np.log(shares)).sum())
        for numbers in combinations(range(len(features)), SIZE):
            score = population.mutual_info(numbers)
            named = tuple(features[i] for i in numbers)
            rows.append({"subgroup": name, "features": named, "score": score, "whole": whole})
    return data, made.target, group, pd.DataFrame(rows)


if __name__ == "__main__":
    main()
