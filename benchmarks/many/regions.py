"""Whether subgroups that borrow from their own region first come nearer the truth.

    python benchmarks/many/regions.py > benchmarks/many/regions.txt

Tables of 8 or 3 regions with 6 hospitals each (60, 200 and 1,000 rows), a fifth of the features not
recorded, sets of three of 8 features (`generated.py`). Coefficients differ between hospitals of a
region with a standard deviation of 0.2, and between regions as said. The same subgroups once told
apart by region and hospital, which nest, and once by hospital alone, where all borrow from all.
Settings were chosen with seeds 0 to 9; these are seeds from 100 on.
"""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
from generated import Hospitals, hospitals

from misfeat import Coding, SubgroupSelector

SEEDS = range(100, 110)
REGIONAL = (0.0, 0.2, 0.4, 0.8)
REGIONS = (8, 3)
SIZE, BEST = 3, 5


def measured(made: Hospitals, groups: list[str]) -> dict[int, np.ndarray]:
    """By rows of hospitals: mean error, share of the best sets captured, intervals that hold."""
    selector = SubgroupSelector(groups, size=SIZE, coding=Coding(min_rows=1), n_jobs=1)
    left_out = sorted({"region", "hospital"} - set(groups))
    scores = selector.fit(made.table.drop(columns=left_out), "ill").scores()
    names = scores["subgroup"].str.extract(r"hospital=(\S+)")[0]
    found: dict[int, list[tuple[float, float, float]]] = {}
    for name, own in scores.groupby(names, sort=False):
        truth = made.truth[str(name)]
        error = float(np.abs(own["score"] - truth).mean())
        looks_best = np.argsort(-own["score"].to_numpy(), kind="stable")[:BEST]
        share = float(truth[looks_best].sum() / np.sort(truth)[-BEST:].sum())
        held = float(((own["low"] <= truth) & (truth <= own["high"])).mean())
        found.setdefault(made.n_rows[str(name)], []).append((error, share, held))
    return {rows: np.mean(values, axis=0) for rows, values in sorted(found.items())}


def main(seeds: range) -> None:
    """Print a line for every difference between regions and number of rows."""
    print("all subgroups alike / own region first; means of", len(seeds), "tables")
    print("regions  differ   rows          mean error   top 5 captured   intervals that hold")
    for n_regions, regional in product(REGIONS, REGIONAL):
        every = []
        for seed in seeds:
            made = hospitals(seed, regional=regional, n_regions=n_regions)
            alike = measured(made, ["hospital"])
            nested = measured(made, ["region", "hospital"])
            every.append([(alike[rows], nested[rows]) for rows in alike])
        for rows, (alike, nested) in zip((60, 200, 1000), np.mean(every, axis=0), strict=True):
            print(
                f"{n_regions:7} {regional:7.1f} {rows:6,}   {alike[0]:7.4f} / {nested[0]:.4f}"
                f"    {alike[1]:.3f} / {nested[1]:.3f}           {alike[2]:.2f} / {nested[2]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(range(int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else SEEDS)
