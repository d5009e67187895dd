"""Weights through the estimator: copies, samples, routing, saving, and what answers say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.pipeline import make_pipeline

from misfeat import SubgroupSelector
from misfeat.answers.set_cells import explanation
from misfeat.answers.top_sets import best_sets
from misfeat.exceptions import MisfeatError
from tests.cli.commands import run
from tests.cohorts.tables import effective_size
from tests.reading.holders import HOLDERS, as_rows

N_ROWS = 600


def make_table() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    site = rng.choice(["a", "b", "c"], N_ROWS)
    x, v, number = rng.integers(0, 3, N_ROWS), rng.integers(0, 4, N_ROWS), rng.normal(size=N_ROWS)
    told = x + (site == "a") * v + rng.normal(size=N_ROWS) > 1.5
    return pl.DataFrame(
        {
            "site": site,
            "x": x,
            "v": np.where(site == "b", None, v).tolist(),
            "number": number,
            "y": told.astype(int),
            "weight": rng.gamma(2.0, size=N_ROWS),
            "times": rng.integers(0, 4, N_ROWS),
        }
    )


TABLE = make_table()
FEATURES = ["site", "x", "v", "number", "y"]


def fitted(table: Any, weight: Any = None, **params: Any) -> SubgroupSelector:
    selector = SubgroupSelector(groups="site", size=2, k=3, **params)
    return selector.fit(table, "y", sample_weight=weight)


@pytest.fixture(scope="module")
def weighted() -> SubgroupSelector:
    return fitted(TABLE.drop("times"), "weight")


@pytest.mark.parametrize("holder", ["pandas", "polars", "duckdb", "arrays"])
@pytest.mark.parametrize("measure", ["mutual_info", "r2"])
def test_a_frequency_of_two_is_the_row_twice(holder: str, measure: str) -> None:
    copies = TABLE.select(FEATURES)[np.repeat(np.arange(N_ROWS), TABLE["times"].to_numpy())]
    once = HOLDERS[holder](TABLE.drop("weight"))
    found = fitted(once, "times", weights="frequency", measure=measure)
    expected = fitted(HOLDERS[holder](copies), measure=measure)
    for question in ("top_k", "scores", "worth_collecting", "subgroups_"):
        one, other = (getattr(run, question) for run in (found, expected))
        rows = [as_rows(part() if callable(part) else part) for part in (one, other)]
        assert len(rows[0]) == len(rows[1])
        for left, right in zip(*rows, strict=True):
            for name, value in left.items():
                told = right[name]
                is_number = isinstance(told, float)
                assert value == (pytest.approx(told, abs=1e-9) if is_number else told)


def test_shares_of_sampling_weights_are_those_of_copies() -> None:
    rows = TABLE.drop("weight").with_columns(number=pl.col("number").round().clip(-1, 1))
    copies = rows.select(FEATURES)[np.repeat(np.arange(N_ROWS), rows["times"].to_numpy())]
    found = as_rows(fitted(rows, "times", estimate="sample").scores())
    expected = as_rows(fitted(copies, estimate="sample").scores())
    pairs = [
        (one["observed"], other["observed"]) for one, other in zip(found, expected, strict=True)
    ]
    told = [pair for pair in pairs if pair[0] is not None]
    np.testing.assert_allclose(*np.array(told).T, atol=1e-12)


def test_weights_make_intervals_wider() -> None:
    rng = np.random.default_rng(0)
    uneven = np.exp(rng.normal(size=N_ROWS))
    even, wide = (fitted(TABLE.select(FEATURES), w) for w in (None, uneven))
    width = [
        np.median([row["high"] - row["low"] for row in as_rows(s.scores())]) for s in (even, wide)
    ]
    assert width[1] > 1.1 * width[0]


def test_subgroups_and_cells_hold_rows_of_the_table_and_weighted_shares(
    weighted: SubgroupSelector,
) -> None:
    for row in as_rows(weighted.subgroups_):
        own = TABLE.filter(pl.col("site") == row["subgroup"].removeprefix("site="))
        w = own["weight"].to_numpy()
        assert row["rows"] == len(w)
        assert row["effective_rows"] == pytest.approx(effective_size(w, own["y"]))
    (first, *_) = explanation(weighted.selection_, "site=a", ["x"]).cells
    own = TABLE.filter((pl.col("site") == "a") & (pl.col("x") == int(first.values[0])))
    assert first.rows == len(own)
    share = {one.label: one.share for one in first.shares}["1"]
    w, y = own["weight"].to_numpy(), own["y"].to_numpy()
    assert share == pytest.approx((w * y).sum() / w.sum(), rel=1e-9)


def test_weighted_answers_come_back_from_a_folder(
    weighted: SubgroupSelector, tmp_path: Path
) -> None:
    weighted.save(tmp_path / "run")
    again = SubgroupSelector.load(tmp_path / "run")
    assert again.cohorts_.equals(weighted.cohorts_)
    assert as_rows(again.top_k()) == as_rows(weighted.top_k())


def test_cases_drawn_more_often_are_not_taken_for_less_information() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.integers(2, size=60_000), rng.integers(3, size=60_000)
    y = (rng.random(60_000) < 0.005 * 6**x).astype(int)
    cases, controls = np.flatnonzero(y == 1)[:300], np.flatnonzero(y == 0)[:300]
    drawn = np.append(cases, controls)
    weight = np.where(y[drawn] == 1, y.sum(), (1 - y).sum()) / 300
    whole = SubgroupSelector(size=1, k=1).fit({"x": x, "z": z, "y": y}, "y").top_k()
    table = {"x": x[drawn], "z": z[drawn], "y": y[drawn]}
    selector = SubgroupSelector(size=1, k=1).fit(table, "y", sample_weight=weight)
    (best,), (truth,) = as_rows(selector.top_k()), as_rows(whole)
    assert best["features"] == truth["features"] == ["x"]
    assert best["share"] == pytest.approx(truth["share"], rel=0.25)
    assert best["low"] > 0.3 * truth["score"]
    (row,) = as_rows(selector.subgroups_)
    assert row["effective_rows"] > 4 * row["rows"]


def test_a_design_widens_the_effective_size() -> None:
    rng = np.random.default_rng(1)
    school = rng.integers(0, 40, 2000)
    ill = rng.random(40)[school] > rng.random(2000)
    table = {"school": school, "x": rng.integers(0, 3, 2000), "y": ill.astype(int)}
    table["z"] = rng.integers(0, 3, 2000)
    found = SubgroupSelector(size=1, design={"cluster": "school"}).fit(table, "y")
    (row,) = as_rows(found.subgroups_)
    assert row["rows"] == 2000
    assert row["effective_rows"] < 400
    assert found.cohorts_.features == ("x", "z")


@pytest.mark.parametrize("completer", ["knn", "markov_blanket"])
def test_completers_that_count_rows_take_no_weights(completer: str) -> None:
    with pytest.raises(MisfeatError, match="takes no weights; use completer='transfer'"):
        fitted(TABLE.drop("times"), "weight", completer=completer).top_k()


@pytest.mark.slow
def test_weights_may_be_routed() -> None:
    X, y = TABLE.select("x", "v", "number").to_pandas(), TABLE["y"].to_numpy()
    w = TABLE["weight"].to_numpy()
    with sklearn.config_context(enable_metadata_routing=True):
        selector = SubgroupSelector(size=1).set_fit_request(sample_weight=True)
        made = make_pipeline(selector).fit(X, y, sample_weight=w)
    alone = SubgroupSelector(size=1).fit(X, y, sample_weight=w)
    assert as_rows(made[0].top_k()) == as_rows(alone.top_k())
    assert alone.n_features_in_ == 3
    assert made[0].cohorts_.effective is not None


@pytest.mark.slow
def test_the_first_screen_says_what_rows_are_worth(
    weighted: SubgroupSelector, capsys: pytest.CaptureFixture[str]
) -> None:
    weighted.show()
    told = " ".join(capsys.readouterr().out.split())
    worth = round(sum(row["effective_rows"] for row in as_rows(weighted.subgroups_)))
    rows = f"600 rows, which inform as much as {worth} drawn at random."
    assert f"Rows are weighted by weight: {rows}" in told
    weighted.show(subgroup="site=a")
    assert "Rows are weighted by weight: " in " ".join(capsys.readouterr().out.split())


def test_frequencies_are_said_to_be_rows(capsys: pytest.CaptureFixture[str]) -> None:
    fitted(TABLE.drop("weight"), "times", weights="frequency").show()
    told = " ".join(capsys.readouterr().out.split())
    assert f"Rows are weighted by times: {TABLE['times'].sum()} rows in all." in told


def test_the_command_line_takes_weights_and_a_design(tmp_path: Path) -> None:
    file = tmp_path / "survey.csv"
    rows = TABLE.drop("times").with_columns(school=pl.Series(np.arange(N_ROWS) % 30))
    rows.write_csv(file)
    asked = ["--target", "y", "--by", "site", "--size", "1", "--weight", "weight"]
    asked += ["--design", "cluster=school", "--no-worth", "--json", "--quiet"]
    found = run("run", str(file), *asked)
    assert found.exit_code == 0, found.stderr
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    told = {line["subgroup"]: line for line in lines if line["kind"] == "subgroup"}
    selector = SubgroupSelector(groups="site", size=1, design={"cluster": "school"})
    selector.fit(rows, "y", sample_weight="weight")
    for row in as_rows(selector.subgroups_):
        assert told[row["subgroup"]]["effective_rows"] == pytest.approx(row["effective_rows"])
    whole = next(line for line in lines if line["kind"] == "answer")
    assert "Rows are weighted by weight and drawn by school" in whole["sentence"]


@pytest.mark.parametrize("holder", ["pandas", "polars", "duckdb", "arrays"])
def test_correlations_are_those_of_weighted_least_squares(holder: str) -> None:
    rows = TABLE.select("x", "number", "y", "weight")
    selector = SubgroupSelector(size=2, k=1, measure="r2", estimate="sample")
    (best,) = best_sets(selector.fit(HOLDERS[holder](rows), "y", sample_weight="weight").selection_)
    w, y = rows["weight"].to_numpy(), rows["y"].to_numpy()
    X = np.column_stack([np.ones(N_ROWS), rows["x"], rows["number"]])
    root = np.sqrt(w)[:, None]
    beta = np.linalg.lstsq(X * root, y * root[:, 0], rcond=None)[0]
    left, whole = y - X @ beta, y - np.average(y, weights=w)
    assert best.score == pytest.approx(1.0 - (w * left**2).sum() / (w * whole**2).sum(), abs=1e-9)


@pytest.mark.parametrize("factor", [1e-170, 1e160])
def test_weights_whose_squares_are_no_numbers_are_refused(factor: float) -> None:
    weights = np.arange(1, len(TABLE) + 1) * factor
    with pytest.raises(MisfeatError, match="whose square no number holds; divide all"):
        SubgroupSelector().fit(TABLE, "y", sample_weight=weights)


@pytest.mark.parametrize("total", [1e8, 1.2e9, 1e14])
def test_tests_of_few_lines_take_no_longer_however_often_each_occurs(total):
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 2, 40) for name in ("a", "b", "y")}
    table["n"] = np.full(40, int(total / 40))
    selector = SubgroupSelector(size=2, weights="frequency").fit(table, "y", sample_weight="n")
    assert selector.significance(permutations=19)["p_value"].tolist() == [0.05]
    assert [one.verdict for one in selector.answer()] == ["explained"]
    selector.validate()
