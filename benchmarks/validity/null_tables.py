"""Tables of many kinds in which nothing explains the target: how often are p-values small?

    python -m benchmarks.validity.null_tables [--jobs 2] [--tables 1000] [--kinds "r2 normal 60" …]

Every kind is drawn so many times, fitted, and tested with 199 permutations as a user would; tables
with several subgroups give a p-value for each of them. ``null_tables.csv`` has the shares of
p-values of at most 0.05 and 0.01, which should be 0.035 to 0.065, and 0.02 at most. A kind beyond
these limits is marked; where a table has few different values, fewer p-values are small, for ties
count as reached. ``--effect 0.3`` adds so much of the first feature to numeric targets, for the
share of tables in which that is found, and leaves the file alone.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.weights.false_alarms import sample
from misfeat import SubgroupSelector
from misfeat.exceptions import MisfeatError, MisfeatWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    Generator = np.random.Generator
    Drawn = tuple[pd.DataFrame, np.ndarray[Any, np.dtype[np.float64]] | None]

OUTPUT = Path(__file__).with_suffix(".csv")
HEAD = ("kind", "tables", "p-values", "p <= 0.05", "p <= 0.01", "within limits")
FIRST_SEED = 70_000
PERMUTATIONS = 199
LOWEST, HIGHEST, HIGHEST_OF_FEW = 0.035, 0.065, 0.02


class Kind(NamedTuple):
    """How tables of a kind are drawn (with how large an effect), and how they are fitted."""

    draw: Callable[[Generator, float], Drawn]
    settings: dict[str, Any]


FAMILIES: dict[str, Callable[[Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "flags of 3 %": lambda rng, n: (rng.random(n) < 0.03).astype(float),
    "flags of 50 %": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "Poisson": lambda rng, n: rng.poisson(1.0, n).astype(float),
    "t2": lambda rng, n: rng.standard_t(2, n),
}
"""Features and targets of these distributions."""


def numbers(
    family: str, rows: int, rng: Generator, effect: float, weights: str = "", features: int = 6
) -> Drawn:
    """Features and a target of one distribution; weights by lot, by the target, or by a feature."""
    draw = FAMILIES[family]
    table = pd.DataFrame({f"x{i}": draw(rng, rows) for i in range(features)})
    table["y"] = draw(rng, rows) + effect * table["x0"]
    if not weights:
        return table, None
    if weights == "lot":
        return table, rng.lognormal(0.0, 1.0, rows)
    return table, np.where(table[weights] > table[weights].median(), 5.0, 1.0)


def classes(
    rows: int,
    rng: Generator,
    _: float,
    *,
    features: int = 6,
    n_classes: int = 2,
    subgroups: int = 1,
    column: str = "integers",
    gaps: str = "",
) -> Drawn:
    """A target of classes, in some subgroups, beside features of some kind."""
    site = rng.permutation(np.arange(rows) % subgroups)
    table = pd.DataFrame({"site": [f"s{one}" for one in site]})
    for i in range(features):
        if column == "integers":
            values: Any = rng.integers(0, rng.integers(2, 6), rows).astype(float)
        elif column == "skewed":
            values = rng.lognormal(0.0, 2.0, rows)
        else:
            values = np.array([f"v{one}" for one in rng.integers(40, size=rows)], dtype=object)
        if gaps == "blocks" and i < features // 2:
            values[site == i % subgroups] = np.nan
        elif gaps == "here and there":
            values[rng.random(rows) < 0.15] = np.nan
        table[f"x{i}"] = values
    shares = rng.dirichlet(np.full(n_classes, 5.0))
    table["y"] = [f"c{one}" for one in rng.choice(n_classes, rows, p=shares)]
    return table, None


def weighted(kind: str, rows: int, rng: Generator, _: float) -> Drawn:
    """Four flags and a rare class, with weights that depend on something."""
    return sample(kind, 1.0, rows, int(rng.integers(2**31)))


def kinds() -> dict[str, Kind]:
    """All kinds by name."""
    r2: dict[str, Any] = {"measure": "r2"}
    found = {
        f"r2 {family} {rows}": Kind(partial(numbers, family, rows), r2)
        for family in FAMILIES
        for rows in (60, 100, 300, 1000)
    }
    found["r2 lognormal 20000"] = Kind(partial(numbers, "lognormal", 20_000), r2)
    for weights in ("lot", "x0", "y"):
        for family in ("normal", "lognormal", "flags of 50 %"):
            draw = partial(numbers, family, 300, weights=weights)
            found[f"r2 {family} 300, weights by {weights}"] = Kind(draw, r2)
    for family in ("normal", "lognormal", "t2", "Poisson"):
        found[f"number {family} 300"] = Kind(partial(numbers, family, 300), {})
    for weights in ("lot", "feature", "outcome", "both", "clusters"):
        settings = {"design": {"cluster": "village"}} if weights == "clusters" else {}
        for rows in (300, 1000):
            drawn = partial(weighted, weights, rows)
            found[f"classes {rows}, weights by {weights}"] = Kind(drawn, settings)
    site = {"groups": "site"}
    several: dict[str, dict[str, Any]] = {
        "few rows": {"rows": 100},
        "skewed numbers": {"rows": 300, "column": "skewed"},
        "text of 40 values 300": {"rows": 300, "column": "text"},
        "text of 40 values 1000": {"rows": 1000, "column": "text"},
        "text of 40 values 5000": {"rows": 5000, "column": "text"},
        "3 classes": {"rows": 300, "n_classes": 3},
        "5 classes": {"rows": 500, "n_classes": 5},
        "10 classes": {"rows": 1000, "n_classes": 10},
        "40 features": {"rows": 500, "features": 40},
        "2 subgroups": {"rows": 600, "subgroups": 2},
        "10 subgroups": {"rows": 2000, "subgroups": 10},
        "small subgroups": {"rows": 250, "subgroups": 10},
        "missing blocks": {"rows": 1000, "subgroups": 4, "gaps": "blocks"},
        "gaps here and there": {"rows": 300, "gaps": "here and there"},
    }
    for name, asked in several.items():
        found[name] = Kind(partial(_classes, asked), site if "subgroups" in asked else {})
    return found


def _classes(asked: dict[str, Any], rng: Generator, effect: float) -> Drawn:
    table, weights = classes(rng=rng, _=effect, **asked)
    return (table if "subgroups" in asked else table.drop(columns="site")), weights


def p_values(name: str, effect: float, seed: int) -> list[float]:
    """The p-values of one table, one a subgroup; none where its target does not vary."""
    warnings.simplefilter("ignore", MisfeatWarning)
    kind = kinds()[name]
    table, weights = kind.draw(np.random.default_rng(seed), effect)
    if table["y"].nunique() < 2:
        return []
    selector = SubgroupSelector(size=2, n_jobs=1, random_state=seed, **kind.settings)
    try:
        selector.fit(table, "y", sample_weight=weights)
    except MisfeatError:  # all features are constant
        return []
    found = selector.significance(permutations=PERMUTATIONS)["p_value"].to_numpy()
    return [float(p) for p in found[~np.isnan(found)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--kinds", nargs="*", help="names, or how they begin; all by default")
    parser.add_argument("--effect", type=float, default=0.0)
    asked = parser.parse_args()
    chosen = [k for k in kinds() if not asked.kinds or any(map(k.startswith, asked.kinds))]
    seeds = range(FIRST_SEED, FIRST_SEED + asked.tables)
    lines: list[tuple[Any, ...]] = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name in chosen:
            found = list(pool.map(partial(p_values, name, asked.effect), seeds, chunksize=10))
            p = np.concatenate([np.array(one) for one in found])
            few, usual = (p <= 0.01).mean(), (p <= 0.05).mean()
            within = LOWEST <= usual <= HIGHEST and few <= HIGHEST_OF_FEW
            line = (name, asked.tables, len(p), f"{usual:.3f}", f"{few:.3f}", within)
            lines.append(line)
            print(*line, sep="\t", flush=True)
    if asked.effect or asked.kinds:
        sys.exit()
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *lines])


if __name__ == "__main__":
    main()
