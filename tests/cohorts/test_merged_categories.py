from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.merged_categories import (
    by_target,
    count_by_class,
    cross_fitted,
    random_folds,
)
from misfeat.reading.coders import collapse
from tests.cohorts.tables import audit

GROUPS = 5
N = 3000


def drawn(n: int, n_values: int, spread: float, seed: int):
    """Rows of one feature, a column with many values and a target; shares differ by `spread`."""
    rng = np.random.default_rng(seed)
    values = rng.choice(n_values, n, p=rng.dirichlet(np.full(n_values, 0.7)))
    odds = rng.normal(0, spread, n_values)[values] - 1.0
    target = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    other = rng.integers(3, size=n)
    bases = [4, n_values + 2, 3]
    return collapse([other, values, target], np.ones(n, dtype=np.int64), bases), bases


def above_chance(table: np.ndarray) -> float:
    joint = table / table.sum()
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    told = (joint[joint > 0] * np.log2((joint / np.maximum(expected, 1e-300))[joint > 0])).sum()
    filled = (table.sum(axis=1) > 0).sum()
    return float(told - (filled - 1) * (table.shape[1] - 1) / (2 * table.sum() * np.log(2)))


def scored(n: int, n_values: int, spread: float, seed: int) -> tuple[float, float]:
    """What cross-fitted groups score, and what they would if they were learned from all rows."""
    rows, bases = drawn(n, n_values, spread, seed)
    counts = count_by_class(rows.codes[1], rows.codes[-1], rows.weights, (n_values, 2))
    merger = by_target(counts, GROUPS)
    shape = n_values, 2
    found = cross_fitted(rows, 1, bases, merger, shape, [0, 1, 2], rows.codes[-1])
    fitted = count_by_class(found.codes[1], found.codes[-1], found.weights, (GROUPS + 1, 2))
    naive = np.zeros((GROUPS + 1, 2), dtype=np.int64)
    np.add.at(naive, merger.learn(counts), counts)
    return above_chance(fitted), above_chance(naive)


def test_five_hundred_values_that_tell_nothing_score_nothing_above_chance():
    scores = np.array([scored(5000, 500, 0.0, seed)[0] for seed in range(30)])
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    assert abs(scores.mean()) < 3 * error + 1e-4
    assert np.abs(scores).max() < 0.005


def test_groups_that_were_learned_from_the_rows_that_they_score_would_be_off():
    fitted, naive = scored(5000, 300, 0.7, 0)
    assert fitted < 0.8 * naive


def test_groups_lie_in_the_order_of_their_targets():
    counts = np.array([[90, 10], [10, 90], [50, 50], [88, 12], [12, 88]])
    assert by_target(counts, 3).learn(counts).tolist() == [0, 2, 1, 0, 2]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_every_row_is_random_folds_once_and_folds_are_equally_large(weights):
    folds = random_folds(np.array(weights))
    assert sum(folds).tolist() == weights
    sizes = [fold.sum() for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_very_many_rows_are_random_folds_without_writing_them_down():
    folds = random_folds(np.array([10**12, 3, 10**9]))
    assert sum(folds).tolist() == [10**12, 3, 10**9]
    assert all(abs(fold[0] / (10**12 / 5) - 1) < 1e-3 for fold in folds)


def towns(spread: float, n_towns: int = 80) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    town = rng.choice(n_towns, N, p=rng.dirichlet(np.ones(n_towns)))
    odds = rng.normal(0, spread, n_towns)[town]
    return pl.DataFrame(
        {
            "town": [f"town {one:02d}" for one in town],
            "x": rng.integers(3, size=N),
            "site": rng.choice(["a", "b"], N),
            "y": (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(int),
        }
    )


def test_values_that_tell_are_merged_by_what_they_tell_and_it_is_said():
    cohorts = build_cohorts(towns(1.5), "y")
    assert cohorts.weights.sum() == N
    found = audit(cohorts, "town")
    assert found.treatment == "5 groups of 70 values, by the target, and other"
    assert found.categories[0].startswith("town ")
    assert found.categories[0].endswith("values)")
    assert any("'town' has 79 values" in note for note in cohorts.notes)


def test_values_that_tell_nothing_are_left_out_with_a_note_unless_asked_for():
    cohorts = build_cohorts(towns(0.0), "y")
    assert audit(cohorts, "town").role == "left out"
    assert "town" not in cohorts.features
    assert any("read={'town': 'text'} keeps it" in note for note in cohorts.notes)
    kept = build_cohorts(towns(0.0), "y", coding=Coding(read={"town": "text"}))
    assert audit(kept, "town").treatment == "8 most frequent values and other"


def test_many_values_that_tell_come_out_on_top_and_noise_does_not():
    noise = np.random.default_rng(0).choice([f"n{i}" for i in range(200)], N)
    table = towns(1.5).with_columns(noise=pl.Series(noise))
    selector = SubgroupSelector(size=1, coding=Coding(read={"noise": "text"})).fit(table, "y")
    scores = {row["features"][0]: row["score"] for row in selector.scores().to_dicts()}
    assert max(scores, key=scores.get) == "town"
    assert scores["noise"] < 0.1 * scores["town"]


def test_values_with_few_rows_each_are_merged_by_how_frequent_they_are():
    table = pl.DataFrame({"town": [f"t{i // 4:02d}" for i in range(60)], "y": [0, 1, 1] * 20})
    cohorts = build_cohorts(table, "y", coding=Coding(max_categories=4))
    assert audit(cohorts, "town").categories == ("t00", "t01", "t02", "other")
    assert any("'town' has 15 values: 3 most frequent" in note for note in cohorts.notes)


GRADES = [f"g{i}" for i in (3, 1, 2, *range(4, 16))]
HOLD_CATEGORIES = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame(
        {"g": pl.Series(frame["g"].tolist(), dtype=pl.Enum(GRADES)), "y": frame["y"].tolist()}
    ),
    "pyarrow": pa.Table.from_pandas,
    "duckdb": duckdb.from_df,
}


@pytest.mark.parametrize("holder", HOLD_CATEGORIES)
def test_categories_keep_their_order_in_codes_and_labels(holder):
    def treated(n_grades: int):
        values = [GRADES[i % n_grades] for i in range(300)]
        grades = pd.Categorical(values, categories=GRADES, ordered=True)
        frame = pd.DataFrame({"g": grades, "y": [0, 1] * 150})
        return audit(build_cohorts(HOLD_CATEGORIES[holder](frame), "y"), "g")

    few, many = treated(4), treated(15)
    assert few.categories == ("g3", "g1", "g2", "g4")
    assert few.taken_for == "category, in order"
    assert many.categories == ("g3 to g2", "g4 to g6", "g7 to g9", "g10 to g12", "g13 to g15")


def test_classes_and_subgroups_keep_the_order_of_categories():
    y = pd.Categorical(["low", "mid", "high"] * 20, categories=["low", "mid", "high"], ordered=True)
    table = pd.DataFrame({"x": [0, 1] * 30, "y": y})
    assert build_cohorts(table, "y").classes == ("low", "mid", "high")
    assert build_cohorts(table, "x", groups="y").seen == ("y=low", "y=mid", "y=high")


def test_the_order_of_columns_does_not_matter():
    table = towns(1.5).with_columns(other=pl.Series(towns(1.0, 60)["town"].reverse()))
    forth = build_cohorts(table, "y", coding=Coding(read={"other": "text"}))
    back = build_cohorts(
        table.select(reversed(table.columns)), "y", coding=Coding(read={"other": "text"})
    )
    for column in ("town", "other"):
        assert audit(forth, column) == audit(back, column)
        codes = [found.codes[found.features.index(column)] for found in (forth, back)]
        counts = [
            np.bincount(line * 2 + found.target_codes, weights=found.weights)
            for line, found in zip(codes, (forth, back), strict=True)
        ]
        assert (counts[0] == counts[1]).all()


@pytest.mark.parametrize("holder", ["pandas", "mapping"])
def test_categories_of_anything_keep_their_order(holder):
    rng = np.random.default_rng(0)
    values = rng.normal(size=300)
    cut = pd.cut(values, [-9, -1, 0, 9])
    table = pd.DataFrame({"x": cut, "y": (values > 0).astype(int)})
    assert build_cohorts(table, "y").categories == (("(-9, -1]", "(-1, 0]", "(0, 9]"),)
    others = pd.DataFrame({"z": rng.integers(0, 2, 300)})
    rows = others if holder == "pandas" else {"z": others["z"].to_numpy()}
    assert build_cohorts(rows, cut).classes == ("(-9, -1]", "(-1, 0]", "(0, 9]")


def test_values_that_tell_about_a_number_are_merged_by_its_classes():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 600)
    amount = rng.normal(size=40)[city] * 0.7 + rng.normal(size=600)
    table = {"city": [f"c{one}" for one in city], "price": rng.normal(size=600), "y": amount}
    assert build_cohorts(table, "y").features == ("city", "price")


def test_texts_that_hardly_come_again_are_left_out():
    rng = np.random.default_rng(0)
    high, low = rng.integers(90, 130, 400), rng.integers(50, 70, 400)
    table = {
        "pressure": [f"{a}/{b} mm" for a, b in zip(high, low, strict=True)],
        "x": rng.integers(0, 3, 400),
        "y": rng.integers(0, 2, 400),
    }
    treated = {one.column: one.treatment for one in build_cohorts(table, "y").columns}
    assert treated["pressure"] == "most of its texts occur once or twice"
