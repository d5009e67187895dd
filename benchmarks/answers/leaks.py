"""How often are columns that know the target named, and what is named in clean tables?

    MISFEAT_DATA=... python -m benchmarks.answers.leaks

Into 20 tables of each kind, generated ones and rows drawn from real ones, four columns are planted,
one at a time: a copy of the target, a copy in which 2 % of the rows hold another class, a number of
many values that orders the classes (it is cut into five equally full bins before anyone looks), and
a number that is missing exactly where the target is its last class. Prints, and writes to
``leaks.csv``, in how many tables each was named, and in how many another column was. Then prints,
and writes to ``leaks_clean.csv``, what is named in the real tables as they are, all rows of them,
and the largest share of the target that a single feature tells there.

The limits of the rules were chosen with the seven tables of `REAL`, and draws of seeds below 20, in
view. Draws here have other seeds, and the tables of `UNSEEN`, which scikit-learn ships, were looked
at only afterwards.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import sklearn.datasets

from benchmarks.common.output import write_csv
from misfeat import datasets
from misfeat.answers.leaks import leaks, missing_patterns, rows_by_class, share_of_target
from misfeat.answers.redundant_features import duplicates
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.cohort_data import is_gap
from misfeat.datasets import Dataset, make_cohorts
from misfeat.exceptions import MisfeatError

TABLES = 20
SEEDS = range(1000, 1000 + TABLES)
UNSEEN = ("iris", "wine", "breast_cancer")
ROWS = {"diabetes130": 5000, "*": 1000}
"""Rows that are drawn; a subgroup of one table is rare."""
ERRORS = 0.02
REAL = ("heart", "mobile", "attrition", "loan", "nhanes", "adult", "diabetes130")
GENERATED = {"similarity 20": (8, 200, 20), "similarity 1000": (3, 300, 1000)}


def codes_of(target):
    return np.unique(target, return_inverse=True)[1]


def copy(target, rng):  # noqa: ARG001
    return codes_of(target)


def copy_with_errors(target, rng):
    codes = codes_of(target)
    n_classes = codes.max() + 1
    other = (codes + rng.integers(1, n_classes, len(codes))) % n_classes
    return np.where(rng.random(len(codes)) < ERRORS, other, codes)


def ordering_number(target, rng):
    return 100.0 * codes_of(target) + rng.random(len(target))


def missing_in_last_class(target, rng):
    codes = codes_of(target)
    return np.where(codes == codes.max(), np.nan, rng.normal(size=len(codes)))


PLANTED = (copy, copy_with_errors, ordering_number, missing_in_last_class)


def named_in(columns, data):
    coding = Coding(bins=data.bins)
    cohorts = build_cohorts(columns, data.target, groups=data.groups, coding=coding)
    found = [*leaks(cohorts), *missing_patterns(cohorts)]
    return {name for caution in found for name in caution.columns}


def drawn(name, data, rng):
    target = np.asarray(data.columns[data.target], dtype=object)
    recorded = np.flatnonzero([value is not None and value == value for value in target])
    rows = rng.choice(recorded, min(ROWS.get(name, ROWS["*"]), len(recorded)), replace=False)
    return {name: np.asarray(values)[rows] for name, values in data.columns.items()}


def generated(shape, seed):
    n_cohorts, n_rows, similarity = shape
    return make_cohorts(n_cohorts, n_rows, 8, similarity=similarity, hide=0.2, random_state=seed)


def counted(name, tables):
    hits = dict.fromkeys((plant.__name__ for plant in PLANTED), 0)
    others = 0
    for seed, (data, columns) in enumerate(tables):
        rng = np.random.default_rng([SEEDS[0] + seed, 1])
        for plant in PLANTED:
            planted = plant(columns[data.target], rng)
            named = named_in({**columns, "planted": planted}, data)
            hits[plant.__name__] += "planted" in named
            others += bool(named - {"planted"})
    return {"table": name, "tables": seed + 1, **hits, "another column": others}


def largest_single(cohorts):
    tables = []
    for feature, categories in enumerate(cohorts.categories):
        recorded = ~is_gap(cohorts, feature)
        tables.append(rows_by_class(cohorts, cohorts.codes[feature], recorded, len(categories)))
    tables = [table.sum(axis=0) for table in tables]
    shares = [share_of_target(table).share for table in tables]
    best = int(np.argmax(shares))
    return cohorts.features[best], round(shares[best], 3)


def _columns_of(cautions):
    return "; ".join(" and ".join(caution.columns) for caution in cautions) or "none"


def unseen(name):
    table = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
    columns = {column: table[column].to_numpy() for column in table}
    return Dataset(name, columns, "target", None, "From scikit-learn.")


def as_it_is(name, data):
    coding = Coding(bins=data.bins)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups, coding=coding)
    feature, share = largest_single(cohorts)
    return {
        "table": name,
        "rows": int(cohorts.weights.sum()),
        "leaks": _columns_of(leaks(cohorts)),
        "missing patterns": _columns_of(missing_patterns(cohorts)),
        "duplicates": _columns_of(duplicates(cohorts)),
        "most telling feature": feature,
        "its share": share,
    }


def real_tables():
    for name in REAL:
        try:
            yield name, getattr(datasets, f"load_{name}")()
        except MisfeatError as error:
            print(f"Without {name}: {error}")


def main():
    rows, clean = [], []
    for name, shape in GENERATED.items():
        made = [generated(shape, seed) for seed in SEEDS]
        rows.append(counted(name, [(data, data.columns) for data in made]))
        print(rows[-1], flush=True)
    for name, data in real_tables():
        draws = [(data, drawn(name, data, np.random.default_rng(seed))) for seed in SEEDS]
        rows.append(counted(f"{name}, drawn", draws))
        clean.append(as_it_is(name, data))
        print(rows[-1], clean[-1], sep="\n", flush=True)
    clean += [as_it_is(f"{name} (unseen)", unseen(name)) for name in UNSEEN]
    print(*clean[-len(UNSEEN) :], sep="\n")
    write_csv(rows, Path(__file__).with_suffix(".csv"))
    write_csv(clean, Path(__file__).with_name("leaks_clean.csv"))


if __name__ == "__main__":
    main()
