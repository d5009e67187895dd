"""Columns of text with many values, and categories with an order, in every library."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.holders import HOLDERS
from tests.cohorts.tables import audit

N = 3000


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
    found = audit(cohorts, "town")
    assert found.treatment == "5 groups of 70 values, by what they tell, and other"
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


@pytest.mark.parametrize("holder", HOLDERS)
def test_every_library_merges_the_same(holder):
    expected = build_cohorts(towns(1.5), "y", groups="site")
    assert build_cohorts(HOLDERS[holder](towns(1.5)), "y", groups="site").equals(expected)


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


def test_sentences_are_left_out_as_free_text():
    words = ["late", "paid", "called", "customer", "again", "no", "reply", "since"]
    rng = np.random.default_rng(0)
    notes = [" ".join(rng.choice(words, 6)) for _ in range(N)]
    cohorts = build_cohorts(towns(1.5).with_columns(remark=pl.Series(notes)), "y")
    assert audit(cohorts, "remark").treatment == "free text"
    assert any("'remark' is left out: free text" in note for note in cohorts.notes)


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
