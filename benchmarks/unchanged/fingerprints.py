"""Fingerprints of scores, intervals and rankings, to tell whether a change of the code moved a bit.

Every completer answers for heart, mobile, attrition, loan and the two tables of the demonstration;
a line holds the SHA-256 of what it answered, every float to its last bit. Compiled sums differ
between kinds of processors, so fingerprints compare on one machine only:

    git stash; python benchmarks/unchanged/fingerprints.py before.csv
    git stash pop; python benchmarks/unchanged/fingerprints.py after.csv
    diff before.csv after.csv

Scores are those of the rows as they are (`estimate="sample"`). What is worth collecting and what
validation says are other answers since scores tell about the population; so are those of R², which
is predicted from covariances, and those of the demonstration's tables, which are others.

Words after the file's name keep only the lines that hold one of them, such as "heart," or ",knn,".

The tables other than heart need MISFEAT_DATA (docs/reference/data.md).
"""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sums of several threads may differ in a bit

import numpy as np

from benchmarks.common.datasets import load_attrition, load_loan, load_mobile
from benchmarks.common.nhanes import load_nhanes
from benchmarks.common.tables import as_in_paper
from benchmarks.completers import IterativeCompleter, completer_of
from misfeat import Coding, SubgroupSelector
from misfeat.completion import MLPCompleter, MultiplexCompleter, PaperCompleter
from misfeat.datasets import load_heart, make_cohorts
from misfeat.datasets.population import random_mask

HIDDEN = 0.3
"""The share of features that is hidden from the tables that lack nothing."""


def subgroup_of(data):
    """The number of every row's subgroup, for the tables that features are hidden from."""
    columns = data.columns
    if data.name == "mobile":
        return columns["dual_sim"].astype(int)
    if data.name == "loan":
        return np.select([columns["Grade"] == "B", columns["Grade"] == "C"], [0, 1], 2)
    bands = np.digitize(columns["Age"].astype(float), [25, 40, 50], right=True)
    return 2 * bands + (columns["Gender"] == "Male")


def with_hidden(data, features):
    """The same table, from which every subgroup lost some features."""
    number = subgroup_of(data)
    mask = random_mask(int(number.max()) + 1, len(features), HIDDEN, np.random.default_rng(1))
    columns = dict(data.columns)
    for place, feature in enumerate(features):
        values = columns[feature].astype(object)
        values[mask[number, place]] = None
        columns[feature] = values
    return columns


def tables():
    heart = load_heart()
    yield "heart", heart.columns, heart.target, heart.groups, 5
    for load in (load_mobile, load_loan, load_attrition):
        data = as_in_paper(load())
        grouped = {"mobile": ["dual_sim"], "loan": ["Grade"], "attrition": ["Age", "Gender"]}
        used = {data.target, *grouped[data.name]}
        features = [name for name in data.columns if name not in used]
        yield data.name, with_hidden(data, features), data.target, data.groups, data.bins
    generated = make_cohorts(
        n_cohorts=4,
        n_rows=3000,
        n_features=8,
        feature_names=(
            "glucose",
            "ecg",
            "weight",
            "smoking",
            "pressure",
            "lipids",
            "kidney",
            "sleep",
        ),
        cohort_names=("North", "East", "South", "West"),
        group="clinic",
        target="illness",
        similarity=300,
        hide=0.3,
        random_state=0,
    )
    yield "clinics", generated.columns, generated.target, generated.groups, 5
    survey = load_nhanes()
    yield "survey", survey.columns, survey.target, survey.groups, survey.bins


def completers():
    """Every completer, and the largest size it is asked for; the slow ones learn less."""
    for name in ("auto", "transfer", "interactions", "gain", "add", "drop", "mode"):
        yield name, completer_of(name), 3
    yield "knn", "knn", 2
    yield "markov_blanket", "markov_blanket", 2
    yield "iterative", IterativeCompleter(imputations=1, sweeps=1, rounds=1, max_rows=500), 2
    yield "mlp", MLPCompleter(epochs=40, device="cpu"), 2
    yield "multiplex", MultiplexCompleter(steps=30, masks=4, rounds=1, device="cpu"), 2
    yield "paper", PaperCompleter(epochs=40, device="cpu"), 2


def questions():
    """A name for every line, and what gives the fitted selector."""
    for table, columns, target, groups, bins in tables():
        new = partial(fitted, columns, target, groups, bins)
        for name, completer, size in completers():
            for m in sorted({2, size}):
                yield f"{table},{name},size {m}", partial(new, m, completer=completer)
        yield f"{table},auto,size 2 with half the budget", partial(new, 2, budget=0.5)
        yield f"{table},auto,size 2 with certain bounds", partial(new, 2, confidence=None)
        if table in ("heart", "survey"):
            yield f"{table},auto,size 2 of r2", partial(new, 2, measure="r2")


def fitted(columns, target, groups, bins, size, **settings):
    settings = {"estimate": "sample", "random_state": 0, "n_jobs": -1, **settings}
    selector = SubgroupSelector(groups, size=size, k=20, coding=Coding(bins=bins), **settings)
    return selector.fit(columns, target)


def as_before(frame):
    """Scores with the columns and words of when before.csv was made."""
    source = frame["source"].replace({"recorded": "exact"})
    return frame.drop(columns=["share", "observed"]).assign(source=source)


def fingerprint(frame):
    """The digest of a frame, every float to its last bit."""
    digest = hashlib.sha256()
    for column in frame.columns:
        for value in frame[column].tolist():
            digest.update((value.hex() if isinstance(value, float) else repr(value)).encode())
    return digest.hexdigest()[:16]


def main(path, *words):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["table", "completer", "asked", "scores", "top_k", "worth", "validation"])
        for name, fit in questions():
            if words and not any(word in name for word in words):
                continue
            selector = fit()
            learns = name.split(",")[1] in ("mlp", "multiplex", "paper", "iterative", "knn")
            found = [
                fingerprint(as_before(selector.scores())),
                fingerprint(as_before(selector.top_k())),
                fingerprint(selector.worth_collecting()),
                "" if learns else fingerprint(selector.validate(rounds=1)),
            ]
            lines.writerow([*name.split(","), *found])
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
