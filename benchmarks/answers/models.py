"""Do models reach on other rows what `answer` says they reach on rows left out?

    MISFEAT_DATA=... python -m benchmarks.answers.models

Rows are drawn from tables of two classes; `answer` recommends features and says what a model with
them reaches, with its interval. The same kind of model (one-hot codes, scikit-learn's logistic
regression) is fitted to all drawn rows, and judged by those that were not drawn: the truth to hold
it against. Numbers come in bins that both sides are given, so that only choice and fit are
compared. Beside it is what cross-validation says of the same set when it was chosen with all rows,
and what is said of all features, of which none was chosen. Prints means, and writes
``models.csv``, a line for each draw, subgroup and model.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.common.output import mean_rows, write_csv
from benchmarks.field.tables import BINS, drawn, rows_of, together
from misfeat import MisfeatWarning, SubgroupSelector
from misfeat.answers.performance import model_performance

TABLES = (
    *("adult", "attrition", "churn", "coil2000", "crashes", "credit_g", "diabetes130", "magic"),
    *("mushroom", "spambase", "tic_tac_toe", "voters"),
)
ROWS, SEEDS, SIZE = (200, 500), (3001, 3002, 3003), 3
KINDS = ("recommended, chosen with all rows", "recommended, chosen anew", "all")
TARGET, GROUPS = "class of row", "subgroup of row"


def lines_of(table, n_rows, seed):
    fit, test = drawn(table, rows_of(table, n_rows), seed)
    if len(np.unique(fit[0].y)) > 2:
        return
    whole = together(fit)
    edges = [np.unique(np.quantile(c, np.arange(1, BINS) / BINS)) for c in whole.values.T]
    columns = {
        name: codes.astype(str)
        for name, codes in zip(whole.names, codes_of(whole, edges), strict=True)
    }
    columns |= {TARGET: whole.y.astype(str), GROUPS: np.char.add("s", whole.subgroup.astype(str))}
    selector = SubgroupSelector(GROUPS, size=SIZE, random_state=0).fit(columns, TARGET)
    place = {name: number for number, name in enumerate(whole.names)}
    for answer in selector.answer():
        if not answer.models:
            continue
        number = int(answer.subgroup.removeprefix(f"{GROUPS}=s")) if len(fit) > 1 else 0
        told = model_performance(selector.selection_, answer.subgroup, answer.features)
        models = zip(KINDS, (told, answer.models[0], answer.models[-1]), strict=True)
        for kind, model in models:
            members = [place[name] for name in model.features]
            reached = auc(fit[number], test[number], members, edges)
            about = {"table": table, "rows": n_rows, "seed": seed, "subgroup": number, "of": kind}
            said = {"said": model.value, "low": model.low, "high": model.high}
            held = model.low <= reached <= model.high
            yield about | said | {"reached": reached, "held": held}


def codes_of(table, edges):
    """Bins of numbers, the least value apart where it is frequent; categories as they are."""
    return [
        np.searchsorted(own, column, side="left") if numeric else column.astype(np.int64)
        for column, own, numeric in zip(table.values.T, edges, table.numeric, strict=True)
    ]


def auc(fit, test, members, edges):
    known, other = ([codes_of(rows, edges)[f] for f in members] for rows in (fit, test))
    train, judged = (
        np.hstack([np.equal.outer(c, np.unique(k)) for c, k in zip(codes, known, strict=True)])
        for codes in (known, other)
    )
    model = LogisticRegression(max_iter=1000).fit(train, fit.y)
    return roc_auc_score(test.y, model.predict_proba(judged)[:, 1])


def main():
    rows = []
    for table in TABLES:
        for n_rows in ROWS:
            for seed in SEEDS:
                if rows_of(table, n_rows) is not None:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", MisfeatWarning)
                        rows += lines_of(table, n_rows, seed)
        write_csv(rows, Path(__file__).with_name("models.csv"))
    for line in mean_rows(rows, ("rows", "of"), ("said", "reached", "held")):
        print({name: round(v, 3) if isinstance(v, float) else v for name, v in line.items()})


if __name__ == "__main__":
    main()
