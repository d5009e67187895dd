import csv

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from benchmarks.common.tables import PAPER_TABLES, BenchTable
from benchmarks.paper import experiment as experiments
from benchmarks.paper.experiment import PaperBench, score_from_scratch
from benchmarks.paper.plan import Plan
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


def test_a_score_from_scratch_is_the_same_score():
    (cohort, *_) = drawn_cohorts(n_features=4, n_rows=300)
    shared = level_mutual_info(cohort, 2, 2)[0]
    assert score_from_scratch(cohort, np.array([0, 1])) == pytest.approx(shared[0], abs=1e-12)
    rows = np.repeat(np.arange(len(cohort.weights)), cohort.weights)
    joint = cohort.codes[0][rows] * 100 + cohort.codes[3][rows]
    truth = mutual_info_score(joint, cohort.target[rows])
    assert score_from_scratch(cohort, np.array([0, 3])) == pytest.approx(truth, abs=1e-12)
