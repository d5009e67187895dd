"""Do 90 % intervals hold where a feature informs in some subgroups only?

    python -m benchmarks.validity.intervals [--jobs 2] [--tables 150] [--kinds half …]

Six flags in six subgroups of 300 rows, independent given a target of two classes, so that what a
set explains is known exactly; a quarter of the features are hidden. ``alike``: all subgroups share
the strength of every feature; ``half``: every feature informs in half of the subgroups, alike
there, and not at all in the others; ``few``: in one of six; ``unlike``: strengths are drawn for
every subgroup; ``large``: the same, and one subgroup is 100 times larger. ``intervals.csv`` has how
often intervals of recorded and predicted sets hold the truth, and how wide they are against it.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from misfeat import SubgroupSelector
from misfeat.exceptions import MisfeatWarning

KINDS = ("alike", "half", "few", "unlike", "large")
BY_LOT = {f"lot .{tenths}": tenths / 10 for tenths in (5, 7, 9)}  # it informs this probably
SIZES = (1, 3)
N, ROWS, HIDDEN = 6, 300, 0.25
FIRST_SEED = 60_000  # other tables than those that settings were chosen on
OUTPUT = Path(__file__).with_suffix(".csv")
HEAD = ("kind", "size", "source", "tables", "intervals", "held", "too low", "width")


def strengths(kind: str, rng: np.random.Generator) -> Any:
    """Log odds ratios of a flag and the target, by subgroup and feature."""
    shared = np.tile(rng.uniform(0.5, 2.0, N) * rng.choice([-1, 1], N), (N, 1))
    if kind == "alike":
        return shared
    if kind in ("half", "few"):
        some = np.arange(N)[:, None] < (N // 2 if kind == "half" else 1)
        return np.where(rng.permuted(np.tile(some, (1, N)), axis=0), shared, 0.0)
    if kind in BY_LOT:
        return np.where(rng.random((N, N)) < BY_LOT[kind], shared, 0.0)
    return rng.normal(0.0, 1.2, (N, N))


def true_score(odds: Any, base: Any, share: float) -> float:
    """I(S; Y) in nats of flags that are independent given the target."""
    likely = 1 / (1 + np.exp(-(base[:, None] + odds[:, None] * np.array([-0.5, 0.5]))))
    classes, found = np.array([1 - share, share]), 0.0
    for cell in product((0, 1), repeat=len(odds)):
        flags = np.array(cell)[:, None]
        joint = classes * np.where(flags == 1, likely, 1 - likely).prod(axis=0)
        found += float((joint * np.log(joint / (joint.sum() * classes))).sum())
    return found


def drawn(kind: str, seed: int) -> tuple[pd.DataFrame, Any, Any, Any, Any]:
    """A table, what is true of it, and which features are hidden where."""
    rng = np.random.default_rng(seed)
    odds, base, shares = strengths(kind, rng), rng.normal(0, 0.7, N), rng.uniform(0.25, 0.6, N)
    # Every feature is hidden in up to three subgroups.
    hidden = np.array([rng.permutation(N) < rng.binomial(3, 2 * HIDDEN) for _ in range(N)]).T
    parts = []
    for g in range(N):
        n = ROWS * (100 if kind == "large" and g == 0 else 1)
        y = rng.random(n) < shares[g]
        likely = 1 / (1 + np.exp(-(base[:, None] + odds[g][:, None] * (y - 0.5))))
        x = (rng.random((N, n)) < likely).astype(float)
        x[hidden[g]] = np.nan
        part = pd.DataFrame(x.T, columns=[f"x{i}" for i in range(N)])
        parts.append(part.assign(site=f"s{g}", y=y.astype(int)))
    return pd.concat(parts, ignore_index=True), odds, base, shares, hidden


def checked(kind: str, seed: int) -> list[tuple[int, str, bool, bool, float]]:
    """Of all sets of one table: size, source, whether the truth is held, or above, and width."""
    warnings.simplefilter("ignore", MisfeatWarning)
    table, odds, base, shares, _ = drawn(kind, seed)
    selector = SubgroupSelector("site", size=max(SIZES), k=1, n_jobs=1).fit(table, "y")
    found = []
    for size in SIZES:
        for row in selector.scores(size=size).to_dict("records"):
            g = int(row["subgroup"].removeprefix("site=s"))
            members = [int(name[1:]) for name in row["features"]]
            truth = true_score(odds[g][members], base[members], shares[g])
            held = row["low"] - 1e-12 <= truth <= row["high"] + 1e-12
            width = row["high"] - row["low"]
            found.append((size, row["source"], bool(held), bool(truth > row["high"]), width))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", type=int, default=150)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    asked = parser.parse_args()
    seeds, lines = range(FIRST_SEED, FIRST_SEED + asked.tables), []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for kind in asked.kinds:
            tables = pool.map(partial(checked, kind), seeds, chunksize=5)
            found = [one for table in tables for one in table]
            for size, source in product(SIZES, ("recorded", "predicted")):
                own = np.array([one[2:] for one in found if one[:2] == (size, source)], dtype=float)
                means = (f"{one:.3f}" for one in own.mean(axis=0))
                lines.append((kind, size, source, asked.tables, len(own), *means))
                print(*lines[-1], sep="\t", flush=True)
    if tuple(asked.kinds) != KINDS:
        sys.exit()
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *lines])


if __name__ == "__main__":
    main()
