"""How often an effect is found, beside Bonferroni's correction.

    python -m benchmarks.answers.power [--runs 200] [--jobs 16]

`significance` on generated tables, beside a test of every set on its own: a gamma distribution with
the moments that 300 permutations give, which is right for few rows, where the chi-square is not.
Writes power.csv beside this file. Whether p-values are right without an effect, says
`python -m benchmarks.validity.null_tables`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from benchmarks.common.output import write_csv
from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.information.permuted_scores import permutations_of
from misfeat.runtime.threads import Work

EFFECTS = {"one": (0.4, 0.55), "pair": (0.5, 0.7), "three": (0.3, 0.4), "triple": (0.7, 1.0)}
"""Strengths of one feature, of two that inform only together, of three, and of three together."""


def generated(seed, n_rows=300, n_features=10, n_subgroups=4, effect=None, strength=0.0):
    """Features of 2 to 6 values; a target of two classes that some of them inform about."""
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


def power_run(effect, strength, seed):
    """Whether an effect is found at the level of 5 %: by the maximum, and set by set."""
    table = generated(seed, 300, 12, 1, effect, strength)
    selector = SubgroupSelector(size=3, random_state=seed, n_jobs=1).fit(table, "y")
    by_maximum = (
        significance_tests(selector.selection_, permutations=199).subgroups[0].p_value <= 0.05
    )
    cohort = next(iter(selector.cohorts_))
    permuted = permutations_of(cohort, 3, seed=np.random.SeedSequence([seed, 1]))
    scores = 2 * cohort.size * permuted.scores(0, 301, Work(1))
    mean, variance = scores[1:].mean(axis=0), scores[1:].var(axis=0, ddof=1)
    p = stats.gamma.sf(scores[0], mean**2 / variance, scale=variance / mean)
    return by_maximum, len(p) * np.nanmin(p) <= 0.05


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    parallel = Parallel(n_jobs=asked.jobs, batch_size=1)
    rows = []
    for effect, strengths in EFFECTS.items():
        for strength in strengths:
            runs = parallel(
                delayed(power_run)(effect, strength, 10_000 + s) for s in range(asked.runs)
            )
            by_maximum, by_set = np.mean(runs, axis=0)
            found = {"maximum": f"{by_maximum:.3f}", "bonferroni": f"{by_set:.3f}"}
            rows.append({"effect": effect, "strength": strength, **found})
            print(rows[-1], flush=True)
    write_csv(rows, Path(__file__).with_suffix(".csv"))


if __name__ == "__main__":
    main()
