"""Whether `compare` says "nothing changed" where nothing did, and finds what was planted.

    python -m benchmarks.answers.changes [--runs 40] [--planted-runs 25] [--jobs 2]

Nothing changed: two tables drawn from the same generated populations, and random halves of real
tables (where MISFEAT_DATA names their folder). Planted: in one subgroup of the second table, one
feature is shuffled ("removed"), shuffled in half of the rows ("weakened"), or takes a value of the
target's in some of the rows ("added"). Beside what `compare` says stands what the intervals that
the runs show would say, with the same correction for having looked at several sets. Seeds below
1,000 and the generated tables, Adult and Attrition with them served to choose the method; the
figures are of others. Prints two tables and writes them to changes.csv and planted.csv beside this
file.
"""

from __future__ import annotations

import argparse
import os
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from benchmarks.common.datasets import load_adult, load_attrition, load_diabetes130, load_loan
from benchmarks.common.output import write_csv
from misfeat import MisfeatWarning, SubgroupSelector
from misfeat.answers.run_comparison import (
    RECORDED,
    ExplainedShare,
    compare_selections,
    difference_of,
)
from misfeat.datasets import make_cohorts
from misfeat.lattice.levels import rank

LEVEL = 0.1
NORMAL_REACH = 1.6448536269514722
"""Standard deviations that an interval of 90 % reaches to either side."""
LOADERS = {
    "Attrition": load_attrition,
    "Adult": load_adult,
    "Loan": load_loan,
    "Diabetes-130": load_diabetes130,
}


class Table(NamedTuple):
    """How a pair of tables is drawn: of a generated population, or from a real table."""

    name: str
    rows: int
    second_rows: int
    size: int
    features: int = 8
    classes: int = 2
    similarity: float = 50.0
    hide: float = 0.0


NULL_TABLES = (
    Table("generated, 8 features", 300, 300, 2),
    Table("generated, 8 features", 2000, 2000, 2),
    Table("generated, 8 features", 2000, 200, 2),
    Table("generated, 12 features of 3 classes", 500, 500, 3, 12, 3),
    Table("generated, alike", 500, 500, 3, 10, 2, 1000.0),
    Table("generated, some features unrecorded", 500, 500, 2, 8, 2, 50.0, 0.3),
    Table("Attrition", 300, 300, 2),
    Table("Attrition", 1500, 1500, 3),
    Table("Adult", 500, 500, 2),
    Table("Adult", 3000, 3000, 2),
    Table("Loan", 500, 500, 2),
    Table("Diabetes-130", 1000, 1000, 2),
)
PLANTED_TABLES = (
    Table("generated, 8 features", 500, 500, 2),
    Table("generated, 8 features", 2000, 2000, 2),
    Table("Attrition", 1500, 1500, 2),
    Table("Adult", 3000, 3000, 2),
)
PLANTED = {"removed": 1.0, "weakened": 0.5, "added": 0.25}
"""The share of the rows that is changed."""
TELLING = {"Attrition": "Marital Status", "Adult": "education"}
SILENT = {"Attrition": "Employee Recognition", "Adult": "race"}
"""Features of real tables that tell something, and next to nothing."""
WHERE = {
    "Attrition": ("25<Age<=40 & Gender=Male", "Age", 25, 40, "Gender"),
    "Adult": ("30<age<=45 & gender=Male", "age", 30, 45, "gender"),
}
"""The subgroup of a real table in which a change is planted."""
SUBGROUPS = 6
"""Subgroups of generated tables; a real table has this many times the rows of one."""


def words(table):
    against = f" against {table.second_rows:,}" if table.second_rows != table.rows else ""
    return f"{table.name}, {table.rows:,}{against} rows"


def pair(table, seed):
    """Two tables of the same populations, the name of the target, and that of the groups."""
    rng = np.random.default_rng([seed, table.rows, table.second_rows])
    if table.name not in LOADERS:
        return generated(table, seed, rng)
    data = loaded(table.name)
    order = rng.permutation(data.n_rows)
    ends = SUBGROUPS * table.rows, SUBGROUPS * (table.rows + table.second_rows)
    ends = [min(end, data.n_rows * (place + 1) // 2) for place, end in enumerate(ends)]
    parts = order[: ends[0]], order[ends[0] : ends[1]]
    columns = {name: np.asarray(values) for name, values in data.columns.items()}
    tables = [{name: values[part] for name, values in columns.items()} for part in parts]
    return tables, data.target, data.groups


@cache
def loaded(name):
    return LOADERS[name]()


def generated(table, seed, rng):
    data = make_cohorts(
        SUBGROUPS,
        10,
        table.features,
        n_classes=table.classes,
        similarity=table.similarity,
        hide=table.hide,
        random_state=seed,
    )
    names = [name for name in data.columns if name not in (data.groups, data.target)]
    first_of = np.arange(SUBGROUPS) * 10
    hidden = np.array(
        [[np.isnan(float(data.columns[name][row])) for name in names] for row in first_of]
    )
    tables = []
    for n_rows in (table.rows, table.second_rows):
        drawn = [population.sample(n_rows, rng) for population in data.populations.values()]
        codes = np.concatenate([x for x, _ in drawn], axis=1).astype(float)
        codes[np.repeat(hidden, n_rows, axis=0).T] = np.nan
        tables.append(
            {
                data.groups: np.repeat([f"c{g + 1}" for g in range(SUBGROUPS)], n_rows),
                **dict(zip(names, codes, strict=True)),
                data.target: np.concatenate([y for _, y in drawn]),
            }
        )
    return tables, data.target, data.groups


def subgroup_rows(table, columns, groups):
    """The subgroup in which a change is planted, and its rows."""
    if table.name not in WHERE:
        return f"{groups}=c2", np.flatnonzero(columns[groups] == "c2")
    name, age, low, high, gender = WHERE[table.name]
    ages = np.asarray(columns[age], dtype=float)
    return name, np.flatnonzero((ages > low) & (ages <= high) & (columns[gender] == "Male"))


def plant(table, second, target, rows, kind, rng):
    """Change one feature of some rows of the second table; its name."""
    added = kind == "added"
    chosen = rows[rng.random(len(rows)) < PLANTED[kind]]
    feature = (SILENT if added else TELLING).get(table.name, "f8" if added else "f1")
    column = np.array(second[feature])
    if added:
        values, classes = np.unique(column[rows]), np.unique(second[target])
        column[chosen] = values[np.searchsorted(classes, second[target][chosen]) % len(values)]
    else:
        column[chosen] = column[rng.permutation(chosen)]
    second[feature] = column
    return feature


def fitted(table, columns, target, groups):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MisfeatWarning)
        selector = SubgroupSelector(groups, size=table.size, n_jobs=1)
        return selector.fit(columns, target).selection_


def by_shown_intervals(runs, changes):
    """Which sets changed, were the intervals that runs show all that is known."""
    found = []
    for one in changes:
        told = []
        for run in runs:
            cohort = run.cohorts.position(one.subgroup)
            members = sorted(run.feature_names.index(name) for name in one.features)
            scores, place = run.completed(len(members)), rank(np.array([members]))[0]
            score, low, high = (
                part[cohort, place] / run.set_scores.measure.whole[cohort]
                for part in (scores.score, scores.low, scores.high)
            )
            told.append(
                ExplainedShare(score, None, max(high - score, score - low) / NORMAL_REACH, RECORDED)
            )
        among = sum(other.subgroup == one.subgroup for other in changes)
        found.append(difference_of(*told)[1] * among <= LEVEL)
    return found


def null_run(table, drawn):
    """Of every subgroup: whether anything changed, by `compare` and by intervals of runs."""
    tables, target, groups = drawn
    runs = tuple(fitted(table, columns, target, groups) for columns in tables)
    found = compare_selections(*runs)
    shown = by_shown_intervals(runs, found.changes)
    lines = list(zip(found.changes, shown, strict=True))
    return [
        (
            bool(one.changed),
            any(changed for line, changed in lines if line.subgroup == one.subgroup),
        )
        for one in found.subgroups
        if one.sets
    ]


def planted_run(table, kind, seed, drawn):
    """What was said of the subgroup with a change: said, named, others named; and of the rest."""
    tables, target, groups = drawn
    rng = np.random.default_rng([seed, len(kind)])
    where, rows = subgroup_rows(table, tables[1], groups)
    feature = plant(table, tables[1], target, rows, kind, rng)
    runs = tuple(fitted(table, columns, target, groups) for columns in tables)
    found = compare_selections(*runs)
    shown = by_shown_intervals(runs, found.changes)
    own = [
        (line, changed)
        for line, changed in zip(found.changes, shown, strict=True)
        if line.subgroup == where
    ]
    (alone,) = [pair for pair in own if pair[0].features == (feature,)]
    return {
        "told": alone[0].second - alone[0].first,
        "said": any(line.changed for line, _ in own),
        "named": alone[0].changed,
        "others named": any(line.changed for line, _ in own if feature not in line.features),
        "quiet elsewhere": np.mean(
            [not one.changed for one in found.subgroups if one.subgroup != where]
        ),
        "said by intervals": any(changed for _, changed in own),
        "named by intervals": alone[1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--planted-runs", type=int, default=25)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    parallel = Parallel(n_jobs=asked.jobs, batch_size=1)
    seeds = range(asked.first_seed, asked.first_seed + asked.runs)
    planted = seeds[: asked.planted_runs]
    known = "MISFEAT_DATA" in os.environ
    rows = []
    for table in NULL_TABLES:
        if table.name in LOADERS and not known:
            continue
        found = parallel(delayed(null_run)(table, pair(table, seed)) for seed in seeds)
        said = np.array([one for run in found for one in run])
        quiet, by_intervals = 1 - said.mean(axis=0)
        rows.append(
            {
                "table": words(table),
                "size": table.size,
                "subgroups": len(said),
                "nothing changed": f"{quiet:.3f}",
                "by intervals of runs": f"{by_intervals:.3f}",
            }
        )
        print(rows[-1], flush=True)
    here = Path(__file__).parent
    write_csv(rows, here / "changes.csv")
    rows = []
    for table in PLANTED_TABLES:
        if table.name in LOADERS and not known:
            continue
        for kind in PLANTED:
            found = parallel(
                delayed(planted_run)(table, kind, seed, pair(table, seed)) for seed in planted
            )
            means = {name: f"{np.mean([one[name] for one in found]):.3f}" for name in found[0]}
            rows.append({"table": words(table), "planted": kind, **means})
            print(rows[-1], flush=True)
    write_csv(rows, here / "planted.csv")


if __name__ == "__main__":
    main()
