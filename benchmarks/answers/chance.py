"""Whether p-values are right, and how often an effect is found.

    python -m benchmarks.answers.chance [--runs 500] [--jobs 16]

Without an effect: tables that are generated, and real ones whose target is shuffled within
subgroups (Attrition where MISFEAT_DATA names its folder). P-values should be uniform. With an
effect: how often `significance` finds it, beside a test of every set on its own (a gamma
distribution with the moments that 300 deals give, which is right for few rows, where the chi-square
is not) with Bonferroni's correction. Prints two tables and writes them to chance.csv and power.csv
beside this file.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from benchmarks.common.datasets import load_attrition
from benchmarks.common.output import write_csv
from misfeat import SubgroupSelector
from misfeat.answers.significance import significance_tests
from misfeat.datasets import load_heart
from misfeat.information.permutation import permutations_of
from misfeat.runtime.threads import Work

LEVELS = (0.01, 0.05, 0.1, 0.5)
EFFECTS = {"one": (0.4, 0.55), "pair": (0.5, 0.7), "three": (0.3, 0.4), "triple": (0.7, 1.0)}
"""Strengths of one feature, of two that tell only together, of three, and of three together."""


def generated(seed, n_rows=300, n_features=10, n_subgroups=4, effect=None, strength=0.0):
    """Features of 2 to 6 values; a target of two classes that some of them tell about, or none."""
    rng = np.random.default_rng([seed, n_rows])
    n = n_rows * n_subgroups
    values = [rng.integers(0, rng.integers(2, 7), n) for _ in range(n_features)]
    odd = [2.0 * (column % 2) - 1.0 for column in values]
    scaled = [(column - column.mean()) / column.std() for column in values]
    told = {
        None: 0.0,
        "one": scaled[0],
        "pair": odd[0] * odd[1],
        "three": scaled[0] + scaled[1] + scaled[2],
        "triple": odd[0] * odd[1] * odd[2],
    }[effect]
    y = rng.random(n) < 1 / (1 + np.exp(-strength * np.broadcast_to(told, n)))
    columns = {f"f{j}": column for j, column in enumerate(values)}
    return {**columns, "site": np.repeat(np.arange(n_subgroups), n_rows), "y": y.astype(int)}


def shuffled(data, group, seed, most=400):
    """A real table, at most some rows of a subgroup, whose target is shuffled within subgroups."""
    rng = np.random.default_rng(seed)
    columns = {name: np.asarray(values) for name, values in data.columns.items()}
    labels = columns[group].astype(str)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == one))[:most] for one in np.unique(labels)]
    )
    columns = {name: values[rows] for name, values in columns.items()}
    target, labels = columns[data.target].copy(), labels[rows]
    for one in np.unique(labels):
        target[labels == one] = rng.permutation(target[labels == one])
    return {**columns, data.target: target}


def tables():
    """Where nothing tells: how a table is made, its target, what tells subgroups apart, size."""
    found = {
        "generated, 300 rows": (generated, "y", "site", 3),
        "generated, 2,000 rows": (lambda seed: generated(seed, 2000, 8, 2), "y", "site", 2),
    }
    heart = load_heart()
    found["heart.csv, shuffled"] = (lambda s: shuffled(heart, "site", s), "num", "site", 3)
    if "MISFEAT_DATA" in os.environ:
        staff = load_attrition()
        found["Attrition, shuffled"] = (
            lambda s: shuffled(staff, "Gender", s),
            staff.target,
            "Gender",
            2,
        )
    return found


def null_run(table, seed, permutations):
    """P-values of all subgroups, and how often the target was dealt out."""
    make, target, group, size = tables()[table]
    selector = SubgroupSelector(group, size=size, random_state=seed, n_jobs=1)
    found = significance_tests(
        selector.fit(make(seed), target).selection_, permutations=permutations
    )
    return [(one.p_value, one.permutations) for one in found.subgroups]


def power_run(effect, strength, seed):
    """Whether an effect is found at the level of 5 %: by the maximum, and set by set."""
    table = generated(seed, 300, 12, 1, effect, strength)
    selector = SubgroupSelector(size=3, random_state=seed, n_jobs=1).fit(table, "y")
    by_maximum = (
        significance_tests(selector.selection_, permutations=199).subgroups[0].p_value <= 0.05
    )
    cohort = next(iter(selector.cohorts_))
    deals = permutations_of(cohort, 3, seed=np.random.SeedSequence([seed, 1]))
    scores = 2 * cohort.size * deals.scores(0, 301, Work(1))
    mean, variance = scores[1:].mean(axis=0), scores[1:].var(axis=0, ddof=1)
    p = stats.gamma.sf(scores[0], mean**2 / variance, scale=variance / mean)
    return by_maximum, len(p) * np.nanmin(p) <= 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--power-runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    parallel = Parallel(n_jobs=asked.jobs, batch_size=1)
    rows = []
    for table in tables():
        runs = parallel(delayed(null_run)(table, seed, 999) for seed in range(asked.runs))
        p = np.array([one for run in runs for one, _ in run if not np.isnan(one)])
        dealt = np.mean([one for run in runs for _, one in run])
        below = {f"p <= {level}": f"{np.mean(p <= level):.4f}" for level in LEVELS}
        rows.append({"table": table, "tests": len(p), **below, "deals": f"{dealt:.0f}"})
        print(rows[-1], flush=True)
    here = Path(__file__).parent
    write_csv(rows, here / "chance.csv")
    rows = []
    for effect, strengths in EFFECTS.items():
        for strength in strengths:
            runs = parallel(
                delayed(power_run)(effect, strength, 10_000 + s) for s in range(asked.power_runs)
            )
            by_maximum, by_set = np.mean(runs, axis=0)
            found = {"maximum": f"{by_maximum:.3f}", "bonferroni": f"{by_set:.3f}"}
            rows.append({"effect": effect, "strength": strength, **found})
            print(rows[-1], flush=True)
    write_csv(rows, here / "power.csv")


if __name__ == "__main__":
    main()
