from __future__ import annotations

import csv

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from typer.testing import CliRunner

from misfeat import MisfeatError
from misfeat.bench import draws
from misfeat.bench.downstream import (
    ALL,
    METHODS,
    DownstreamBench,
    chosen_by,
    judged,
    one_choice,
)
from misfeat.bench.draws import SOURCES, Source, draw_of
from misfeat.bench.estimates import estimated
from misfeat.bench.peers import PEERS
from misfeat.bench.units import finished
from misfeat.cli.app import app
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.features import hide_features
from misfeat.exceptions import MisfeatWarning

GENERATED = "similarity 100, 4 subgroups"
QUICK = ("sample", "population", "SelectKBest, pooled", "mRMR, each", ALL)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr(draws, "ROWS_TO_DRAW_FROM", 400)
    monkeypatch.setattr(draws, "FEATURES", 5)
    draws.source_of.cache_clear()
    yield
    draws.source_of.cache_clear()


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def expanded(cohort):
    codes = np.repeat(cohort.codes, cohort.weights, axis=1).T
    return codes, np.repeat(cohort.target, cohort.weights)


def test_figures_are_those_of_a_logistic_regression_of_every_row():
    draw = draw_of(SOURCES[GENERATED](1), 100, 1)
    (fit, *_), (test, *_) = draw.rows, draw.left
    found = judged(fit, test, (0, 2))
    columns = [
        np.hstack([codes[:, [f]] == np.arange(3) for f in (0, 2)]).astype(float)
        for codes in (expanded(fit)[0], expanded(test)[0])
    ]
    model = LogisticRegression(max_iter=1000).fit(columns[0], expanded(fit)[1])
    said, y = model.predict_proba(columns[1])[:, 1], expanded(test)[1]
    assert found["auc"] == pytest.approx(roc_auc_score(y, said), abs=1e-3)
    assert found["log_loss"] == pytest.approx(log_loss(y, said), abs=1e-3)


def test_one_class_alone_tells_nothing():
    table = {"a": [0, 1] * 10, "y": [0] * 10 + [0, 1] * 5, "site": ["p"] * 10 + ["q"] * 10}
    with pytest.warns(MisfeatWarning, match="a single value"):
        one, both = build_cohorts(table, "y", groups="site")
    assert judged(one, both, (0,))["auc"] == 0.5
    assert judged(one, both, (0,))["log_loss"] == pytest.approx(
        -0.5 * np.log(1 / 12) - 0.5 * np.log(11 / 12)
    )
    assert judged(both, one, (0,))["auc"] is None


def test_ours_are_the_best_sets_and_peers_choose_for_all_or_for_each():
    rows = draw_of(SOURCES[GENERATED](1), 100, 1).rows
    found = estimated("population", rows, 2)
    best = [tuple(found.subsets[row.argmax()]) for row in found.score]
    assert chosen_by("population", rows, (2,), 1)[2] == best
    pooled = chosen_by("SelectKBest, pooled", rows, (2,), 1)[2]
    assert len(set(pooled)) == 1
    X, y = (np.concatenate(parts) for parts in zip(*map(expanded, rows), strict=True))
    assert pooled[0] == PEERS["SelectKBest"](X, y, [2])[2]
    each = chosen_by("SelectKBest, each", rows, (2,), 1)[2]
    assert each == [PEERS["SelectKBest"](*expanded(cohort), [2])[2] for cohort in rows]
    assert chosen_by(ALL, rows, (2,), 1)[2] == [tuple(range(5))] * 4


def test_features_that_a_subgroup_never_recorded_are_not_chosen(monkeypatch):
    whole = SOURCES[GENERATED](1).cohorts
    mask = np.zeros(whole.missing.shape, dtype=bool)
    mask[1, 0] = True
    monkeypatch.setitem(SOURCES, GENERATED, lambda _: Source(hide_features(whole, mask)))
    for method in ("population", ALL):
        (found,) = one_choice(GENERATED, 100, 1, method, (2,))
        assert 0 < found["auc"] < 1
    with pytest.raises(MisfeatError, match="sizes: 5 is more than the features"):
        one_choice(GENERATED, 100, 1, ALL, (5,))


def test_a_run_writes_every_draw_and_goes_on_where_it_was(tmp_path):
    told = []
    settings = {"tables": (GENERATED,), "rows": (60, 100), "sizes": (1, 2), "seeds": (1,)}
    lines = DownstreamBench(**settings, methods=QUICK[:3]).run(tmp_path, told.append)
    made = rows_of(tmp_path / "draws.csv")
    assert len(made) == 2 * 3 * 2
    assert {(row["method"], row["size"]) for row in made} == {
        (method, size) for method in QUICK[:3] for size in "12"
    }
    assert all(0 < float(row["auc"]) <= 1 for row in made)
    assert lines[1].split()[:3] == ["AUC", "m=1", "n=60"]
    assert any("best peer in" in line for line in lines)
    DownstreamBench(**settings, methods=QUICK).run(tmp_path, told.append)
    assert "6 of 10 pieces of work were done before." in told
    again = rows_of(tmp_path / "draws.csv")
    assert [row for row in again if row["method"] in QUICK[:3]] == made
    assert len(finished(tmp_path / "work.jsonl")) == 10
    for name in ("auc", "log_loss"):
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
    assert "| **population** |" in (tmp_path / "page.md").read_text()


@pytest.mark.slow
def test_every_method_runs():
    for method in METHODS:
        rows = one_choice(GENERATED, 60, 1, method, (1,))
        assert [set(row) for row in rows] == [{"size", "auc", "log_loss"}]


def test_the_command_prints_a_summary(tmp_path):
    out = tmp_path / "bench"
    arguments = ["--tables", GENERATED, "--rows", "60", "--sizes", "2", "--seeds", "1"]
    more = ["--methods", ";".join(QUICK[:3]), "--out", str(out)]
    result = CliRunner().invoke(app, ["bench", "downstream", *arguments, *more])
    assert result.exit_code == 0, result.output
    assert "SelectKBest, pooled" in result.stdout
    assert "[3/3" in result.stderr
    assert len(rows_of(out / "draws.csv")) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tables", "moon"], "tables: 'moon' is unknown"),
        (["--methods", "magic"], "methods: 'magic' is unknown"),
        (["--sizes", "two"], "--sizes: 'two' is no whole number"),
        (["--sizes", ""], "sizes: give one at least"),
        (["--sizes", "0"], "sizes=0"),
        (["--seeds", "0"], "seeds: give one at least"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_one_line(options, message, tmp_path):
    usual = ["--tables", GENERATED, "--rows", "60", "--seeds", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, ["bench", "downstream", *usual, *options, "--quiet"])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
