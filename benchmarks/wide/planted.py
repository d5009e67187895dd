"""Planted sets in wide tables: how many a search finds, how long it takes, and what it states.

    python benchmarks/wide/planted.py [--seeds 101 102 103] [--strengths 0.5] [--search]

Each table has 2,000 features, 20,000 rows in 4 subgroups, a tenth of the features hidden in every
subgroup, and 15 planted sets: 5 pairs and 5 triples whose features tell alone, too, and 5 pairs
that explain only together. A planted set is found where all its features are on the shortlist, so
that the search can reach it. Seeds 1 to 9 served to choose constants. The output is kept in
planted.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from unittest import mock

import numpy as np
from made import SINGLES, STRENGTH, TOGETHER, WideTable, drawn_again, wide_table

from misfeat import Coding, SubgroupSelector
from misfeat.cohorts import build_cohorts
from misfeat.estimation.shortlist import shortlist
from misfeat.fit_steps import MOST_FEATURES
from misfeat.information.mutual_info import joint_mutual_info, target_entropies

OUTPUT = Path(__file__).with_suffix(".csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103, 104])
    parser.add_argument("--strengths", type=float, nargs="+", default=[STRENGTH])
    parser.add_argument("--search", action="store_true", help="only search, do not fit")
    parser.add_argument("--out", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    _warm_up()
    lines = []
    for strength in asked.strengths:
        for seed in asked.seeds:
            lines.append(_measured(seed, strength, search=asked.search))
            print(lines[-1], flush=True)
    with asked.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


def _measured(seed: int, strength: float, *, search: bool) -> dict[str, object]:
    table = wide_table(seed, strength=strength)
    began, worked = time.perf_counter(), time.process_time()
    if search:
        cohorts = build_cohorts(table.columns, "y", groups="site")
        cohorts, found = shortlist(cohorts, MOST_FEATURES, n_jobs=-1)
    else:
        selector = SubgroupSelector("site", size=3, n_jobs=-1).fit(table.columns, "y")
        cohorts, found = selector.cohorts_, selector.selection_.shortlist
    took, cpu = time.perf_counter() - began, time.process_time() - worked
    assert found is not None
    kept = set(cohorts.features)
    line: dict[str, object] = {"seed": seed, "strength": strength}
    for size, kind in ((2, SINGLES), (3, SINGLES), (2, TOGETHER)):
        own = [one for one in table.planted if len(one.members) == size and one.kind == kind]
        held = sum(set(one.names) <= kept for one in own)
        line[f"{size} {kind}"] = f"{held}/{len(own)}"
    line["kept"] = len(kept)
    line["no room for"] = found.outstanding
    line["pairs"] = found.pairs
    line["tells"] = _tells(table)
    line["timed"] = "search" if search else "fit"
    line["cpu s"], line["wall s"] = round(cpu), round(took)
    return line


def _tells(table: WideTable) -> str:
    """From the least to the most that a planted set tells of the target in 200,000 other rows."""
    features = sorted({member for one in table.planted for member in one.members})
    place = {feature: at for at, feature in enumerate(features)}
    cohorts = build_cohorts(drawn_again(table, features, 200_000, 0), "y")
    told = [
        joint_mutual_info(
            cohorts["all rows"],
            np.array([sorted(place[member] for member in one.members)]),
            above_chance=True,
        )[0]
        for one in table.planted
    ]
    least, most = (100 * end / target_entropies(cohorts)[0] for end in (min(told), max(told)))
    return f"{least:.1f}-{most:.1f} %"


def _warm_up() -> None:
    """Compile the kernels on a small table, so that they are not timed."""
    small = wide_table(0, n_features=60, n_rows=2000, pairs=1, pairs_together=1, triples=1)
    with mock.patch("misfeat.fit_steps.MOST_FEATURES", 30):
        SubgroupSelector("site", size=3, coding=Coding(max_sets=20_000), n_jobs=-1).fit(
            small.columns, "y"
        )


if __name__ == "__main__":
    main()
