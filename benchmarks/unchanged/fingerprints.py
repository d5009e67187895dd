"""Fingerprints of scores, intervals and rankings, to tell whether a change of the code moved a bit.

Every completer answers for heart, mobile, attrition, loan and the two tables of the demonstration;
a line holds the SHA-256 of what it answered, every float to its last bit. Compiled sums differ
between kinds of processors, so fingerprints compare on one machine only:

    git stash; python benchmarks/unchanged/fingerprints.py before.csv
    git stash pop; python benchmarks/unchanged/fingerprints.py after.csv
    diff before.csv after.csv

The tables other than heart need MISFEAT_DATA (docs/data.md).
"""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sums of several threads may differ in a bit

import numpy as np

from misfeat import SubgroupSelector
from misfeat.completion import IterativeCompleter, MLPCompleter, MultiplexCompleter, PaperCompleter
from misfeat.datasets import (
    as_in_paper,
    load_attrition,
    load_heart,
    load_loan,
    load_mobile,
    load_nhanes,
)
from misfeat.datasets.hiding import random_mask
from misfeat.demo.clinics import clinics

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
    generated = clinics()
    yield "clinics", generated.columns, generated.target, generated.groups, 5
    survey = load_nhanes()
    yield "survey", survey.columns, survey.target, survey.groups, survey.bins


def completers():
    """Every completer, and the largest size it is asked for; the slow ones learn less."""
    for name in ("auto", "transfer", "interactions", "gain", "add", "drop", "mode"):
        yield name, name, 3
    yield "knn", "knn", 2
    yield "markov_blanket", "markov_blanket", 2
    yield "iterative", IterativeCompleter(imputations=2, sweeps=2, rounds=1), 2
    yield "mlp", MLPCompleter(epochs=40, device="cpu"), 2
    yield "multiplex", MultiplexCompleter(steps=30, masks=4, rounds=1, device="cpu"), 2
    yield "paper", PaperCompleter(epochs=40, device="cpu"), 2


def selectors():
    for table, columns, target, groups, bins in tables():
        for name, completer, size in completers():
            for m in {2, size}:
                new = selector(groups, m, bins, completer=completer)
                yield f"{table},{name},size {m}", new.fit(columns, target)
        half = selector(groups, 2, bins, completer="auto", budget=0.5)
        yield f"{table},auto,size 2 with half the budget", half.fit(columns, target)
        bounds = selector(groups, 2, bins, completer="auto", confidence=None)
        yield f"{table},auto,size 2 with certain bounds", bounds.fit(columns, target)
        if table in ("heart", "survey"):
            r2 = selector(groups, 2, bins, completer="auto", measure="r2")
            yield f"{table},auto,size 2 of r2", r2.fit(columns, target)


def selector(groups, size, bins, **settings):
    return SubgroupSelector(
        groups, size=size, k=20, bins=bins, random_state=0, n_jobs=-1, **settings
    )


def fingerprint(frame):
    """The digest of a frame, every float to its last bit."""
    digest = hashlib.sha256()
    for column in frame.columns:
        for value in frame[column].tolist():
            digest.update((value.hex() if isinstance(value, float) else repr(value)).encode())
    return digest.hexdigest()[:16]


def main(path):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["table", "completer", "asked", "scores", "top_k", "worth", "validation"])
        for name, fitted in selectors():
            learns = name.split(",")[1] in ("mlp", "multiplex", "paper", "iterative", "knn")
            found = [
                fingerprint(fitted.scores()),
                fingerprint(fitted.top_k()),
                fingerprint(fitted.worth_collecting()),
                "" if learns else fingerprint(fitted.validate(rounds=1)),
            ]
            lines.writerow([*name.split(","), *found])
            file.flush()


if __name__ == "__main__":
    main(sys.argv[1])
