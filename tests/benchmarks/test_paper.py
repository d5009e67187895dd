from __future__ import annotations

import csv
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.common.tables import PAPER_TABLES, BenchTable
from benchmarks.paper import experiment as experiments
from benchmarks.paper.experiment import PaperBench, score_from_scratch
from benchmarks.paper.plan import PAPERS_METHODS, Plan
from benchmarks.paper.results import Finding, Results, findings, mean_drop
from misfeat.datasets import load_loan
from misfeat.information import level_mutual_info
from tests.completion.coded import drawn_cohorts

TINY = Plan(
    tables=("mobile", "SD1, formula 1"),
    seeds=(1,),
    shares=(0.2, 0.5),
    budgets=(0.5,),
    epochs=2,
    n_rows=300,
    features=(9, 10),
    subgroups=(2, 3),
    timed_budgets=(0.5, 1.0),
)


def small_table(seed):
    return BenchTable(drawn_cohorts(seed, n_features=6, n_rows=300))


@pytest.fixture
def little_is_timed(monkeypatch):
    """What is timed is small, and timed once."""
    small = {"TIMED_RUNS": 1, "TIMED_FEATURES": 9, "TIMED_SUBGROUPS": 2}
    for name, value in small.items():
        monkeypatch.setattr(experiments, name, value)


@pytest.mark.slow
@pytest.mark.usefixtures("little_is_timed")
def test_a_run_writes_every_table_and_figure_and_goes_on_where_it_was(tmp_path, monkeypatch):
    for name in TINY.tables:
        monkeypatch.setitem(PAPER_TABLES, name, small_table)
    told = []
    PaperBench(TINY, n_jobs=1, device="cpu").run(tmp_path, told.append)
    pages = ("table_4", "figures_3_to_5", "figure_6", "figure_7", "figure_8", "figure_9")
    for name in pages:
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
        assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
        with (tmp_path / f"{name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 1
    with (tmp_path / "table_4.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == set(TINY.methods)
    assert {row["dataset"] for row in rows} == {"mobile", "SD1"}
    text = (tmp_path / "page.md").read_text()
    assert "reproduced" in text
    pictures = [(tmp_path / f"{name}.svg").read_text() for name in pages]
    assert sum("/" in line and "]" in line for line in told) > 30
    PaperBench(TINY, n_jobs=1, device="cpu").run(tmp_path, told.append)
    assert "pieces of work were done before" in told[-2]
    assert text == (tmp_path / "page.md").read_text()
    assert pictures == [(tmp_path / f"{name}.svg").read_text() for name in pages]


@pytest.mark.slow
@pytest.mark.usefixtures("little_is_timed")
def test_tables_that_are_not_at_hand_are_left_out_with_a_word(tmp_path, monkeypatch):
    monkeypatch.delenv("MISFEAT_DATA", raising=False)
    monkeypatch.setitem(PAPER_TABLES, "SD1, formula 1", small_table)
    monkeypatch.setitem(PAPER_TABLES, "loan", lambda _: load_loan())
    told = []
    plan = replace(TINY, tables=("loan", "SD1, formula 1"), methods=PAPERS_METHODS, epochs=2)
    PaperBench(plan, n_jobs=1, device="cpu").run(tmp_path, told.append)
    assert told[0].startswith("Without loan: 'loan.csv.gz' is needed, but MISFEAT_DATA is not set")
    text = (tmp_path / "page.md").read_text()
    assert "| SD1, randwalk |" in text
    assert (tmp_path / "figures_3_to_5.svg").exists()


def test_a_score_from_scratch_is_the_same_score():
    (cohort, *_) = drawn_cohorts(n_features=4, n_rows=300)
    shared = level_mutual_info(cohort, 2, 2)[0]
    assert score_from_scratch(cohort, np.array([0, 1])) == pytest.approx(shared[0], abs=1e-12)
    rows = np.repeat(np.arange(len(cohort.weights)), cohort.weights)
    joint = cohort.codes[0][rows] * 100 + cohort.codes[3][rows]
    truth = mutual_info_score(joint, cohort.target[rows])
    assert score_from_scratch(cohort, np.array([0, 3])) == pytest.approx(truth, abs=1e-12)


def test_the_command_refuses_an_unknown_device_before_it_works(tmp_path):
    arguments = ["paper", "--device", "tpu", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "--device 'tpu' is unknown" in result.stderr
    assert not (tmp_path / "out").exists()


FIGURES = ("ndcg_5", "ndcg_10", "precision_5", "precision_10", "ndcg_5_all", "captured_5",
           "relative_error", "seconds")  # fmt: skip


def completion(table, method, hidden, value, seed=1):
    about = {"experiment": "completion", "table": table, "seed": seed, "hidden": hidden}
    return {**about, "method": method, **dict.fromkeys(FIGURES, value)}


@pytest.fixture
def results():
    values = dict(zip(PAPERS_METHODS, (0.8, 0.6, 0.4, 0.2), strict=True))
    rows = [
        completion(table, method, hidden, value * (1 - hidden if method == "knn" else 1), seed)
        for table in ("mobile", "SD1, formula 1", "SD1, formula 2, with noise")
        for method, value in values.items()
        for hidden in (0.2, 0.3)
        for seed in (1, 2)
        if table == "mobile" or hidden == 0.2
    ]
    for budget in (0.2, 0.8):
        for sampler, distance in (("randwalk", 0.3), ("arbitrary", budget)):
            rows.append({"experiment": "sampling", "table": "mobile", "seed": 1, "budget": budget,
                         "sampler": sampler, "distance": distance})  # fmt: skip
    for level, accuracy in ((2, 0.7), (3, 0.9), (4, 0.8), (5, 0.95)):
        for method, value in (("paper", accuracy), ("transfer", 1.0)):
            rows.append({"experiment": "closure", "table": "mobile", "seed": 1, "level": level,
                         "method": method, "accuracy": value})  # fmt: skip
    for varied in ("features", "subgroups", "hidden", "budget"):
        for value in (1, 2):
            about = {"features": 10, "subgroups": 4, "hidden": 0.2, "budget": 0.6, varied: value}
            for method, seconds in (("paper", 1.0), ("knn", value), ("transfer", 0.1)):
                rows.append({"experiment": "timing", "varied": varied, **about, "method": method,
                             "seconds": seconds, "machine": "2 CPU threads"})  # fmt: skip
    for value in (10, 12):
        for method, seconds in (("shared", 1.0), ("from scratch", 5.0 * value)):
            rows.append({"experiment": "precomputation", "varied": "features", "features": value,
                         "subgroups": 4, "method": method, "seconds": seconds,
                         "machine": "2 CPU threads"})  # fmt: skip
    return Results(rows)


def test_the_drop_is_relative_to_the_step_before(results):
    drops = {row["method"]: row["ndcg_5"] for row in results.drops()}
    assert drops["paper"] == pytest.approx(0)
    assert drops["knn"] == pytest.approx((0.8 - 0.7) / 0.8)
    assert mean_drop([0.8, 0.6, 0.3]) == pytest.approx((0.25 + 0.5) / 2)
    assert math.isnan(mean_drop([0.0, 0.1]))
    assert math.isnan(mean_drop([0.5]))


def test_claims_are_held_against_figures(results):
    found = {finding.claim: finding for finding in findings(results)}

    def verdict(text):
        (claim,) = [claim for claim in found if text in claim]
        return found[claim].verdict

    assert verdict("more effective than knn on real tables") == "reproduced"
    assert verdict("loses less than knn") == "reproduced"
    assert verdict("RANDWALK") == "not reproduced"  # at one budget of two
    assert verdict("Upward closure") == "reproduced in part"  # one step of three goes down
    assert verdict("faster than knn") == "reproduced"
    assert verdict("does not grow with the number of subgroups") == "not reproduced"
    assert verdict("three times as fast") == "not reproduced"
    assert verdict("Sharing entropies") == "reproduced"
    assert Finding("", 0, 2, "").verdict == "not reproduced"
