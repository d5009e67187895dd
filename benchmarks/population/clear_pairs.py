"""Do pairs that `interactions` calls synergy or redundancy interact as it says?

    python benchmarks/population/clear_pairs.py

All pairs of eight features in four subgroups that were drawn from known populations, a quarter of
the features hidden; benchmarks/population/clear_pairs.csv holds how many pairs were called clear,
and the share of these whose true interaction has the sign that was said.
"""

from __future__ import annotations

import csv
from pathlib import Path

from misfeat import SubgroupSelector
from misfeat.answers.feature_contributions import pair_interactions
from misfeat.datasets import make_cohorts

SIMILARITIES, ROWS, SEEDS = (20, 100, 1000), (200, 600, 2000, 10_000), range(900, 908)
SIGN = {"synergy": 1, "redundancy": -1}
HEAD = ("rows", "pairs", "synergy", "right", "redundancy", "right")


def main() -> None:
    rows = [line(n_rows) for n_rows in ROWS]
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows])
    for row in [HEAD, *rows]:
        print(*row, sep="\t")


def line(n_rows: int) -> list[object]:
    pairs = [pair for s in SIMILARITIES for seed in SEEDS for pair in told(s, n_rows, seed)]
    found: list[object] = [n_rows, len(pairs)]
    for kind, sign in SIGN.items():
        called = [true for said, true in pairs if said == kind]
        right = sum(true * sign > 0 for true in called) / max(len(called), 1)
        found += [len(called), f"{right:.2f}"]
    return found


def told(similarity: float, n_rows: int, seed: int) -> list[tuple[str, float]]:
    """What was said of every pair, and what is true."""
    data = make_cohorts(4, n_rows, 8, similarity=similarity, hide=0.25, random_state=seed)
    selector = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    return [
        (
            pair.kind,
            data.true_score(pair.subgroup, (pair.feature, pair.other))
            - data.true_score(pair.subgroup, (pair.feature,))
            - data.true_score(pair.subgroup, (pair.other,)),
        )
        for pair in pair_interactions(selector.selection_)
    ]


if __name__ == "__main__":
    main()
