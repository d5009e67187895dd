"""How many of the truly ten best sets a search finds, where all sets can be scored, too.

    MISFEAT_DATA=... python benchmarks/wide/top_ten.py

Real tables with shuffled copies of their own columns beside them, up to 60 features, the features
of the diabetes table as they are, and generated ones. Sets of 3. The limit is a quarter or a
twentieth of all sets, so that a twentieth or a hundredth of them is left after the screening.
``found`` is the share of the ten best sets of every subgroup that the screened answer also has
among its ten best; ``captured`` is what its ten best tell, over what the ten best of all sets tell,
both by the scores of the whole lattice. The output is kept in top_ten.csv.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from made import wide_table

from misfeat import Coding, SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTPUT = Path(__file__).with_suffix(".csv")
ROWS, FEATURES, SIZE, K = 12_000, 60, 3, 10
SHARES = (4, 20)


def main() -> None:
    lines = []
    for name, frame, groups, target in _tables():
        lines += list(_measured(name, frame, groups, target))
        print(*lines[-len(SHARES) :], sep="\n", flush=True)
    with OUTPUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


def _measured(
    name: str, frame: pd.DataFrame, groups: Any, target: str
) -> Iterator[dict[str, object]]:
    whole = SubgroupSelector(groups, size=SIZE, k=K, coding=Coding(max_sets=None), n_jobs=-1).fit(
        frame, target
    )
    n_sets = len(whole.cohorts_) * sum(
        len(whole.selection_.completed(m).subsets) for m in range(1, SIZE + 1)
    )
    best = {(one.subgroup, one.features): one.score for one in whole.best_sets()}
    for share in SHARES:
        limit = n_sets // share
        found = SubgroupSelector(groups, size=SIZE, k=K, coding=Coding(max_sets=limit), n_jobs=-1)
        found.fit(frame, target)
        shown = [(one.subgroup, one.features) for one in found.best_sets()]
        yield {
            "table": name,
            "rows": len(frame),
            "subgroups": len(whole.cohorts_),
            "features": len(whole.selection_.feature_names),
            "kept": len(found.selection_.feature_names),
            "found": round(sum(one in best for one in shown) / len(best), 3),
            "captured": round(sum(whole.score_of(*one) for one in shown) / sum(best.values()), 3),
            "best tells": round(float(np.mean([one.share for one in whole.best_sets(k=1)])), 3),
        }


def _tables() -> Iterator[tuple[str, pd.DataFrame, Any, str]]:
    folder = Path(os.environ["MISFEAT_DATA"])
    rng = np.random.default_rng(0)

    def read(name: str) -> pd.DataFrame:
        frame = pd.read_csv(folder / name, keep_default_na=False)
        return frame.sample(min(ROWS, len(frame)), random_state=0).reset_index(drop=True)

    adult = read("adult.csv.gz").drop(columns=["fnlwgt", "educational-num"], errors="ignore")
    yield "adult", _widened(adult, ["age", "gender"], "income", rng), ["gender"], "income"
    attrition = read("attrition.csv.gz")
    groups: Any = ["Gender", {"Age": [40]}]
    yield "attrition", _widened(attrition, ["Age", "Gender"], "Attrition", rng), groups, "Attrition"
    mobile = read("mobile.csv.gz")
    yield "mobile", _widened(mobile, ["dual_sim"], "price_range", rng), "dual_sim", "price_range"
    diabetes = read("diabetes130.csv.gz").drop(columns=["encounter_id", "patient_nbr"])
    yield "diabetes130", diabetes, "race", "readmitted"
    for seed in (201, 202):
        made = wide_table(seed, 50, 6000, pairs=2, pairs_together=2, triples=2)
        yield f"planted, seed {seed}", pd.DataFrame(made.columns), "site", "y"


def _widened(
    frame: pd.DataFrame, groups: list[str], target: str, rng: np.random.Generator
) -> pd.DataFrame:
    """The same with shuffled copies of its features, as many as it takes."""
    features = [name for name in frame.columns if name not in (*groups, target)]
    copies = {}
    for number in range(max(FEATURES - len(features), 0)):
        name = features[number % len(features)]
        copies[f"{name} shuffled {number}"] = rng.permutation(frame[name].to_numpy())
    return pd.concat([frame, pd.DataFrame(copies)], axis=1)


if __name__ == "__main__":
    main()
