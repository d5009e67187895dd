"""Does the default coding of many values choose sets as good as coarser and finer ones do?

    python benchmarks/tables/codings.py --out benchmarks/tables/codings.csv FOLDER ...

Ten real tables with columns of many values, found in the folders by their names. Of each a draw of
1,000 rows, and one of up to 8,000, is fitted with the default, with at most 5 and with at most 40
categories; the best set of two and of three features is judged on the rows that are left, by the
share of the target's entropy that boosted trees or a logistic regression with splines, whichever is
better, tell out of sample from the raw columns of the set (five folds, at most 12,000 rows). A line
for each draw and size; ``--summary`` prints means.
"""

import argparse
import csv
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, SplineTransformer, StandardScaler

from misfeat import Coding, SubgroupSelector

HEAD = ("table", "seed", "rows", "size", "default", "at most 5", "at most 40", "set by default")
CODINGS = (Coding(), Coding(max_categories=5), Coding(max_categories=40))
SEEDS, SIZES, DRAWN, MOST_JUDGED = (11, 12, 13), (2, 3), (1_000, 8_000), 12_000
N_FOLDS = 5
MOST_VALUES = 250  # Of a column of the judge; rarer ones are one value


class Table(NamedTuple):
    """A file, its target, and the columns that say the same in other words."""

    file: str
    target: str
    without: tuple[str, ...] = ()


TABLES = {
    "adult": Table("adult.csv.gz", "income", ("fnlwgt",)),
    "attrition": Table("attrition.csv.gz", "Attrition"),
    "diabetes130": Table("diabetes130.csv.gz", "readmitted", ("encounter_id", "patient_nbr")),
    "voters": Table("voters.csv.gz", "votetrump", ("uid", "rownames")),
    "waves": Table("waves.csv.gz", "pid7", ("uid", "rownames")),
    "rotterdam": Table("rotterdam.csv.gz", "death", ("pid", "rownames", "rtime", "recur", "dtime")),
    "churn": Table("churn.tsv.gz", "target"),
    "coil2000": Table("coil2000.tsv.gz", "target"),
    "VerbAgg": Table("VerbAgg.csv", "r2", ("Unnamed: 0", "resp", "id")),
    "Males": Table("Males.csv", "union", ("Unnamed: 0", "nr")),
}


def read(name: str, folders: list[Path]) -> tuple[pd.DataFrame, "pd.Series[Any]"]:
    """The features of a table, and its target, where it is known."""
    table = TABLES[name]
    file = next(found for folder in folders for found in sorted(folder.rglob(table.file)))
    read = pd.read_csv(file, sep=None if ".tsv" in file.name else ",", engine="python")
    read = read[read[table.target].notna()].reset_index(drop=True)
    return read.drop(columns=[table.target, *table.without], errors="ignore"), read[table.target]


def told(features: pd.DataFrame, target: "pd.Series[Any]") -> float:
    """The share of the entropy that the columns tell out of sample, by the better model."""
    texts = make_column_selector(dtype_exclude="number")
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value",
        unknown_value=np.nan,
        encoded_missing_value=np.nan,
        max_categories=MOST_VALUES,
    )
    trees = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        l2_regularization=10.0,
        categorical_features=range(len(texts(features))),
        random_state=0,
    )
    values = make_pipeline(SimpleImputer(strategy="median"), SplineTransformer(), StandardScaler())
    flags = OneHotEncoder(handle_unknown="ignore", max_categories=MOST_VALUES)
    judges = [
        make_pipeline(make_column_transformer((codes, texts), remainder="passthrough"), trees),
        make_pipeline(
            make_column_transformer((flags, texts), remainder=values),
            LogisticRegression(C=0.3, max_iter=300),
        ),
    ]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    shares = target.value_counts(normalize=True).to_numpy()
    losses = [
        log_loss(target, cross_val_predict(one, features, target, cv=folds, method="predict_proba"))
        for one in judges
    ]
    return 1 + min(losses) / float(shares @ np.log(shares))


def lines_of(folders: list[Path], unit: tuple[str, int, int]) -> list[tuple[Any, ...]]:
    """The lines of one draw."""
    warnings.simplefilter("ignore")
    name, seed, n_rows = unit
    features, target = read(name, folders)
    order = np.random.default_rng(seed).permutation(len(target))
    n_rows = min(n_rows, len(target) // 2)
    drawn, left = order[:n_rows], order[n_rows:][:MOST_JUDGED]
    known = target.iloc[left].map(target.iloc[left].value_counts()) >= 2 * N_FOLDS
    left = left[known.to_numpy()]
    lines: list[tuple[Any, ...]] = []
    judged: dict[tuple[str, ...], float] = {}
    for size in SIZES:
        sets = []
        for coding in CODINGS:
            fitted = SubgroupSelector(size=size, coding=coding, confidence=None, n_jobs=1)
            fitted.fit(features.iloc[drawn], target.iloc[drawn].astype(str))
            best = fitted.top_k(k=1)["features"].iloc[0]
            sets.append(tuple(best))
        for one in {*sets} - {*judged}:
            judged[one] = told(features.iloc[left][[*one]], target.iloc[left].astype(str))
        figures = (f"{judged[one]:.4f}" for one in sets)
        lines.append((name, seed, n_rows, size, *figures, ", ".join(sets[0])))
    return lines


def summarize(path: Path) -> None:
    """Print the means over seeds, and by how much the default falls short of the better coding."""
    means = pd.read_csv(path).groupby(["table", "rows", "size"])[list(HEAD[4:7])].mean()
    means["short by"] = means[list(HEAD[5:7])].max(axis=1) - means["default"]
    print(means.round(3).to_string())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".csv"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    if asked.summary:
        summarize(asked.out)
        sys.exit()
    units = list(product(TABLES, SEEDS, DRAWN))
    with (
        asked.out.open("w", newline="", encoding="utf-8") as out,
        ProcessPoolExecutor(asked.jobs) as pool,
    ):
        writer = csv.writer(out)
        writer.writerow(HEAD)
        for lines in pool.map(partial(lines_of, asked.folders), units):
            writer.writerows(lines)
            out.flush()
    summarize(asked.out)


if __name__ == "__main__":
    main()
