"""Planted sets in wide tables: how many a search finds, how long it takes, and what it states.

    python benchmarks/wide/planted.py [--seeds 101 102 103] [--strengths 0.5]

Each table has 2,000 features, 20,000 rows in 4 subgroups, a tenth of the features hidden in every
subgroup, and 15 planted sets: 5 pairs and 5 triples whose features tell alone, too, and 5 pairs
that tell only together. A planted set is found where all its features are kept, so that the lattice
of the answer holds it. Seeds 1 to 9 served to choose constants. The output is kept in planted.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np
from made import SINGLES, STRENGTH, TOGETHER, WideTable, wide_table

from misfeat import Coding, SubgroupSelector

OUTPUT = Path(__file__).with_suffix(".csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--strengths", type=float, nargs="+", default=[STRENGTH])
    parser.add_argument("--out", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    _warm_up()
    lines = []
    for strength in asked.strengths:
        for seed in asked.seeds:
            lines.append(_measured(seed, strength))
            print(lines[-1], flush=True)
    with asked.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, lines[0])
        writer.writeheader()
        writer.writerows(lines)


def _measured(seed: int, strength: float) -> dict[str, object]:
    table = wide_table(seed, strength=strength)
    began, worked = time.perf_counter(), time.process_time()
    selector = SubgroupSelector("site", size=3, n_jobs=-1).fit(table.columns, "y")
    took, cpu = time.perf_counter() - began, time.process_time() - worked
    found = selector.selection_
    screened = found.screened
    assert screened is not None
    kept = set(found.feature_names)
    line: dict[str, object] = {"seed": seed, "strength": strength}
    for size, kind in ((2, SINGLES), (3, SINGLES), (2, TOGETHER)):
        own = [one for one in table.planted if len(one.members) == size and one.kind == kind]
        held = sum(set(one.names) <= kept for one in own)
        line[f"{size} {kind}"] = f"{held}/{len(own)}"
    line["kept"] = len(kept)
    line["no room for"] = screened.telling
    line["looked at"] = "; ".join(f"{one.sets}/{one.of}" for one in screened.looked)
    line["at most"] = round(float((screened.at_most / found.book.measure.whole).max()), 3)
    line["tells"] = _tells(table, selector)
    line["cpu s"], line["wall s"] = round(cpu), round(took)
    return line


def _tells(table: WideTable, selector: SubgroupSelector) -> str:
    """From the least to the most that a planted set that was found tells, over the subgroups."""
    found = selector.selection_
    shares = []
    for one in table.planted:
        if set(one.names) <= set(found.feature_names):
            told = [found.score_of(name, one.names) for name in found.cohorts.names]
            shares.append(float(np.mean(told / found.book.measure.whole)))
    return f"{100 * min(shares):.1f}-{100 * max(shares):.1f} %" if shares else ""


def _warm_up() -> None:
    """Compile the kernels on a small table, so that they are not timed."""
    small = wide_table(0, n_features=60, n_rows=2000, pairs=1, pairs_together=1, triples=1)
    SubgroupSelector("site", size=3, coding=Coding(max_sets=20_000), n_jobs=-1).fit(
        small.columns, "y"
    )


if __name__ == "__main__":
    main()
