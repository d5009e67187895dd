"""The same as `regions.py` for R²: whether subgroups that borrow from their own region gain.

    python benchmarks/many/regions_r2.py > benchmarks/many/regions_r2.txt

Tables of 8 regions with 6 hospitals each (40, 150 and 800 rows), six normal features that go
together, a fifth of them not recorded, a linear target; sets of three. Coefficients differ between
hospitals of a region with a standard deviation of 0.15, and between regions as said. No setting was
chosen on these tables.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from misfeat import Coding, SubgroupSelector

SEEDS = range(100, 106)
REGIONAL = (0.0, 0.2, 0.5)
FEATURES, SIZE, BEST, LOCAL, HIDE, REGIONS = 6, 3, 3, 0.15, 0.2, 8
ROWS = (40, 40, 150, 150, 800, 800)
SETS = [list(members) for members in combinations(range(FEATURES), SIZE)]


def hospitals(seed: int, regional: float) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """A table, and R² of every set in every hospital's population."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(FEATURES, FEATURES))
    shared = mixed @ mixed.T + 2.0 * np.eye(FEATURES)
    shared /= np.sqrt(np.outer(np.diag(shared), np.diag(shared)))
    whole = rng.normal(0.0, 0.4, FEATURES) * (rng.random(FEATURES) < 0.6)
    frames, truth = [], {}
    for region in range(REGIONS):
        of_region = whole + rng.normal(0.0, regional, FEATURES)
        for number, rows in enumerate(ROWS):
            own = of_region + rng.normal(0.0, LOCAL, FEATURES)
            values = rng.normal(size=(rows, FEATURES)) @ np.linalg.cholesky(shared).T
            frame = pd.DataFrame(values, columns=[f"f{j}" for j in range(FEATURES)])
            frame.loc[:, rng.random(FEATURES) < HIDE] = np.nan
            frame["region"], frame["hospital"] = f"r{region}", f"h{region}.{number}"
            frame["y"] = values @ own + rng.normal(size=rows)
            frames.append(frame)
            truth[f"h{region}.{number}"] = _explained(shared, own)
    return pd.concat(frames, ignore_index=True), truth


def _explained(shared: np.ndarray, own: np.ndarray) -> np.ndarray:
    found = []
    for members in SETS:
        with_target = shared[members] @ own
        slope = np.linalg.solve(shared[np.ix_(members, members)], with_target)
        found.append(with_target @ slope / (own @ shared @ own + 1.0))
    return np.array(found)


def measured(table: pd.DataFrame, truth: dict[str, np.ndarray], groups: list[str]) -> np.ndarray:
    """By rows of hospitals: mean error, share of the best sets captured, intervals that hold."""
    left_out = sorted({"region", "hospital"} - set(groups))
    selector = SubgroupSelector(
        groups, size=SIZE, measure="r2", coding=Coding(min_rows=1), n_jobs=1
    )
    scores = selector.fit(table.drop(columns=left_out), "y").scores()
    names = scores["subgroup"].str.extract(r"hospital=(\S+)")[0]
    found: dict[int, list[tuple[float, float, float]]] = {rows: [] for rows in ROWS}
    for name, own in scores.groupby(names, sort=False):
        told = truth[str(name)]
        looks_best = np.argsort(-own["score"].to_numpy(), kind="stable")[:BEST]
        share = float(told[looks_best].sum() / np.sort(told)[-BEST:].sum())
        held = float(((own["low"] <= told) & (told <= own["high"])).mean())
        error = float(np.abs(own["score"] - told).mean())
        found[ROWS[int(str(name)[-1])]].append((error, share, held))
    return np.array([np.mean(values, axis=0) for values in found.values()])


def main() -> None:
    """Print a line for every difference between regions and number of rows."""
    print("all subgroups alike / own region first; means of", len(SEEDS), "tables")
    print(" differ  rows          mean error   top 3 captured   intervals that hold")
    for regional in REGIONAL:
        every = []
        for seed in SEEDS:
            table, truth = hospitals(seed, regional)
            groups = (["hospital"], ["region", "hospital"])
            every.append([measured(table, truth, one) for one in groups])
        for rows, alike, nested in zip((40, 150, 800), *np.mean(every, axis=0), strict=True):
            print(
                f"{regional:7.1f} {rows:5}   {alike[0]:7.4f} / {nested[0]:.4f}"
                f"    {alike[1]:.3f} / {nested[1]:.3f}           {alike[2]:.2f} / {nested[2]:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
