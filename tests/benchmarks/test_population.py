import os

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.common import draws
from benchmarks.common.draws import SOURCES, Source
from benchmarks.common.units import finished
from benchmarks.population import experiment as population
from benchmarks.population.differences import WHAT, mean_addition, trial
from benchmarks.population.experiment import PopulationBench, held, ranked
from misfeat.completion.completer_data import CompletedScores
from tests.benchmarks.conftest import rows_of
from tests.completion.coded import drawn_cohorts

GENERATED = "similarity 100, 4 subgroups"


@pytest.fixture(autouse=True)
def small_source(small_tables, monkeypatch):
    small = Source(drawn_cohorts(n_features=5, n_rows=2000))
    monkeypatch.setitem(SOURCES, "attrition", lambda _: small)


@pytest.mark.slow
def test_a_run_writes_every_draw_and_goes_on_where_it_was(tmp_path):
    told = []
    settings = {"tables": (GENERATED, "attrition"), "rows": (60,), "sizes": (2,)}
    lines = PopulationBench(**settings, shares=(0, 0.4), seeds=(1,)).run(tmp_path, told.append)
    draws_made = rows_of(tmp_path / "draws.csv")
    assert len(draws_made) == 2 * 2 * 3
    assert {row["method"] for row in draws_made} == {"sample", "above_chance", "population"}
    assert all(0 <= float(row["share"]) <= 1 for row in draws_made if row["table"] == GENERATED)
    with_intervals = [row for row in draws_made if row["recorded"]]
    assert {r["table"] for r in with_intervals} == {GENERATED}
    assert {r["method"] for r in with_intervals} == {"above_chance", "population"}
    assert all(bool(r["predicted"]) == (float(r["hidden"]) > 0) for r in with_intervals)
    assert len(rows_of(tmp_path / "means.csv")) == len(draws_made)
    assert (tmp_path / "share.svg").read_text().startswith("<?xml")
    assert "| 0.4 | **population**" in (tmp_path / "page.md").read_text()
    assert any(line.startswith(f"{GENERATED:28}") for line in lines)
    PopulationBench(**settings, shares=(0, 0.4), seeds=(1, 2)).run(tmp_path, told.append)
    assert "4 of 8 pieces of work were done before." in told
    again = rows_of(tmp_path / "draws.csv")
    assert [row for row in again if row["seed"] == "1"] == draws_made
    assert len(again) == 2 * len(draws_made)


@pytest.mark.slow
def test_figures_are_the_same_in_several_processes(tmp_path, monkeypatch):
    # Processes start anew, so that they see the tables as they are, not those of this test.
    monkeypatch.setattr(draws, "ROWS_TO_DRAW_FROM", 20_000)
    monkeypatch.setattr(draws, "FEATURES", 12)
    found = []
    for jobs in (1, 2):
        place = tmp_path / str(jobs)
        told = []
        bench = PopulationBench((GENERATED,), (60,), (0, 0.2), (1,), sizes=(1,), n_jobs=jobs)
        bench.run(place, told.append)
        found.append((place / "draws.csv").read_text())
        assert told[-1].startswith("[2/2")
    assert found[0] == found[1]


def test_shares_are_of_the_truly_best_sets_whose_truth_is_known():
    truth = np.array([[5.0, 4, 3, 2, 1, 0, np.nan]])
    assert ranked(truth, truth)["share"] == 1
    score = np.array([[0.0, 1, 2, 3, 4, 5, 9]])
    assert ranked(truth, score)["share"] == pytest.approx((4 + 3 + 2 + 1) / 15)
    assert ranked(truth, score)["ndcg"] < 1


def test_coverage_is_counted_apart_for_recorded_predicted_and_best_sets():
    truth = np.arange(24.0).reshape(2, 12) / 24 + 0.1
    predicted = np.zeros((2, 12), dtype=bool)
    predicted[:, :4] = True
    low = np.where(predicted, truth + 0.1, truth - 0.1)  # predicted sets are missed
    found = CompletedScores(np.zeros((12, 2)), truth, low, truth + 0.2, predicted, predicted)
    figures = held(truth, found, exact=True)
    assert figures["recorded"] == 1
    assert figures["predicted"] == 0
    assert figures["best"] == pytest.approx(8 / 10)
    assert figures["width"] == pytest.approx((0.3 * 8 + 0.1 * 4) / 12 / truth.mean())
    assert held(truth, found, exact=False)["width"] is None


def test_the_command_prints_a_summary_and_takes_the_folder_of_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("MISFEAT_DATA", "elsewhere")
    out = tmp_path / "bench"
    arguments = ["--tables", GENERATED, "--rows", "60", "--hide", "0,0.4", "--seeds", "1"]
    more = ["--sizes", "2", "--out", str(out), "--data", str(tmp_path)]
    result = CliRunner().invoke(app, ["population", *arguments, *more])
    assert result.exit_code == 0, result.output
    assert "above_chance" in result.stdout
    assert "[2/2" in result.stderr
    assert os.environ["MISFEAT_DATA"] == str(tmp_path)
    assert len(rows_of(out / "draws.csv")) == 6
    quiet = CliRunner().invoke(app, ["population", *arguments, *more, "--quiet"])
    assert quiet.stderr == ""


def test_results_of_older_code_are_not_taken(tmp_path, monkeypatch):
    told = []
    for code in ("before", "after", "after"):
        monkeypatch.setattr(population, "code_of_estimates", lambda code=code: code)
        PopulationBench((GENERATED,), (60,), (0,), (1,), sizes=(1,)).run(tmp_path, told.append)
    assert [line for line in told if "done before" in line] == [
        "1 of 1 pieces of work were done before."
    ]
    assert len(finished(tmp_path / "work.jsonl")) == 2


def test_a_trial_says_whether_every_interval_holds_and_can_be_repeated():
    held = trial(100, 200, seed=1)
    assert set(held) == set(WHAT)
    assert trial(100, 200, seed=1) == held


def test_the_mean_addition_of_three_features_is_the_shapley_value():
    scores = {"": 0.0, "a": 1.0, "b": 2.0, "c": 4.0, "ab": 3.0, "ac": 7.0, "bc": 6.0, "abc": 10.0}

    def truth(*features):
        return scores["".join(sorted(features))]

    # Orders abc, acb, bac, cab, bca, cba: what a adds in each.
    expected = (1 + 1 + 1 + 3 + 4 + 4) / 6
    assert mean_addition("a", "abc", truth) == pytest.approx(expected)
    total = sum(mean_addition(name, "abc", truth) for name in "abc")
    assert total == pytest.approx(10.0)
