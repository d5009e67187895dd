"""Weights held against known populations: coverage of intervals, and how often chance is found.

    samples.py --seed 201 --seeds 16 --repeats 20 --only coverage --jobs 16
    samples.py --seed 301 --seeds 16 --repeats 20 --only null --jobs 16

write coverage.csv and null.csv beside this file (a few minutes of 16 cores). A population of
400,000 rows in four subgroups is drawn, samples are taken with unequal probabilities, and weights
are one over these. Sampling goes

    by lot       the probability has nothing to do with any column,
    by feature   one value of a feature is drawn ever more often than the next,
    by case      one class of the target is drawn three times as often as the other.

Coverage: the share of the 90 % intervals, over all sets of one and two features, that hold the
score of the population. Null: in populations in which no feature tells anything, how often the test
of all sets finds something all the same, p <= 0.05.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from misfeat import SubgroupSelector
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.cohorts import build_cohorts
from misfeat.information.measures import MutualInformation

POPULATION = 400_000
SUBGROUPS = 4
FEATURES = 5
FOLDER = Path(__file__).parent
SCHEMES = ("by lot", "by feature", "by case")


def population(rng, told):
    """Features of two to five values, of which some tell about a target of two classes."""
    group = rng.integers(0, SUBGROUPS, POPULATION)
    columns = {"group": group}
    strength = told * rng.normal(0.0, 0.8, (SUBGROUPS, FEATURES))
    score = rng.normal(-0.5, 0.5, SUBGROUPS)[group]
    for feature in range(FEATURES):
        values = 2 + feature % 4
        shares = rng.dirichlet(np.full(values, 4.0), SUBGROUPS)
        edges = np.cumsum(shares, axis=1)[group]
        code = (rng.random(POPULATION)[:, None] > edges[:, :-1]).sum(axis=1)
        columns[f"x{feature}"] = code
        score += strength[group, feature] * (code - (values - 1) / 2)
    columns["y"] = (rng.random(POPULATION) < 1 / (1 + np.exp(-score))).astype(int)
    return columns


def sampled(columns, n_rows, scheme, rng):
    """Rows of a sample, about so many a subgroup, and their weights."""
    likely = np.exp(rng.normal(0.0, 0.6, POPULATION))
    if scheme == "by feature":
        likely = 2.0 ** columns["x3"] * np.exp(rng.normal(0.0, 0.2, POPULATION))
    elif scheme == "by case":
        likely = 1.0 + 2.0 * columns["y"]
    by_group = np.bincount(columns["group"], weights=likely)[columns["group"]]
    likely = np.minimum(likely * (n_rows / by_group), 1.0)
    rows = np.flatnonzero(rng.random(POPULATION) < likely)
    table = {name: column[rows] for name, column in columns.items()}
    return table | {"weight": 1.0 / likely[rows]}


def truth_of(columns):
    """The score of every set of one or two features in every subgroup of the population."""
    cohorts = build_cohorts(columns, "y", groups="group")
    measure = MutualInformation(cohorts)
    by_group = [measure.of_levels(i, 1, 2, 1) for i in range(SUBGROUPS)]
    return [np.array(one) for one in zip(*by_group, strict=True)]


def coverage(scheme, n_rows, weighted, seed, repeats):
    rng = np.random.default_rng([seed, SCHEMES.index(scheme), n_rows])
    held = total = size = 0
    off = []
    for _ in range(repeats):
        columns = population(rng, told=1.0)
        truth = truth_of(columns)
        table = sampled(columns, n_rows, scheme, rng)
        weight = "weight" if weighted else None
        table = table if weighted else {k: v for k, v in table.items() if k != "weight"}
        selector = SubgroupSelector(groups="group", size=2)
        selector.fit(table, "y", sample_weight=weight)
        for m, known in enumerate(truth, start=1):
            found = selector.selection_.completed(m)
            inside = (found.low <= known) & (known <= found.high)
            held += inside.sum()
            total += inside.size
            off.append(np.mean(found.score - known))
        cohorts = selector.cohorts_
        worth = cohorts.weights if cohorts.effective is None else cohorts.effective
        size += worth.sum() / cohorts.weights.sum()
    return held / total, size / repeats, float(np.mean(off))


def false_alarms(scheme, n_rows, seed, repeats):
    rng = np.random.default_rng([seed, 9, SCHEMES.index(scheme), n_rows])
    found = tests = 0
    for _ in range(repeats):
        table = sampled(population(rng, told=0.0), n_rows, scheme, rng)
        selector = SubgroupSelector(groups="group", size=2)
        selector.fit(table, "y", sample_weight="weight")
        p_values = [
            one.p_value
            for one in significance_tests(selector.selection_, permutations=199).subgroups
        ]
        found += sum(p <= 0.05 for p in p_values)
        tests += len(p_values)
    return found, tests


def write(name, header, lines):
    with (FOLDER / name).open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        for line in lines:
            out.writerow(line)
            file.flush()
            print(*line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--only", choices=["coverage", "null"])
    parser.add_argument("--jobs", type=int, default=2)
    told = parser.parse_args()
    parallel = Parallel(told.jobs)

    def by_seed(function, *about):
        seeds = range(told.seed, told.seed + told.seeds)
        return np.array(
            parallel(delayed(function)(*about, seed, told.repeats) for seed in seeds), dtype=float
        )

    def covered():
        for scheme in SCHEMES:
            for n_rows in (300, 1000, 3000):
                for weighted in (True, False):
                    found = by_seed(coverage, scheme, n_rows, weighted)
                    held, size, off = found.mean(axis=0)
                    yield scheme, n_rows, weighted, f"{size:.2f}", f"{held:.3f}", f"{off:.5f}"

    def alarmed():
        for scheme in SCHEMES:
            for n_rows in (300, 1000):
                found, tests = by_seed(false_alarms, scheme, n_rows).sum(axis=0)
                yield scheme, n_rows, int(tests), f"{found / tests:.3f}"

    header = ["sampling", "rows", "weighted", "effective share", "coverage", "mean error"]
    if told.only != "null":
        write("coverage.csv", header, covered())
    if told.only != "coverage":
        write("null.csv", ["sampling", "rows", "tests", "p <= 0.05"], alarmed())


if __name__ == "__main__":
    main()
