import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.tables import audit
from tests.reading.holders import HOLDERS

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


def test_the_most_frequent_values_are_kept_more_of_them_with_more_rows_and_it_is_said():
    for rows, kept in ((N, 39), (450, 8)):
        cohorts = build_cohorts(towns(1.5).head(rows), "y")
        assert audit(cohorts, "town").treatment == f"{kept} most frequent values and other"
        assert cohorts.weights.sum() == rows
        assert any(f"{kept} most frequent values and other. A larger" in n for n in cohorts.notes)
        assert any("All values of 'town' explain 0." in note for note in cohorts.notes)


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_codes_are_the_same_whatever_the_target_says(spread):
    table = towns(spread)
    shuffled = table.with_columns(y=table["y"].shuffle(seed=1))
    before, after = (build_cohorts(one, "y", groups="site") for one in (table, shuffled))
    assert before.features == after.features == ("town", "x")
    assert before.categories == after.categories
    for one, other in zip(before, after, strict=True):
        counts = [np.bincount(c.codes[0] * 3 + c.codes[1], c.weights) for c in (one, other)]
        assert (counts[0] == counts[1]).all()


@pytest.mark.slow
def test_text_of_many_values_that_explains_nothing_is_seldom_found_to_explain():
    p_values = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = {f"x{i}": rng.integers(0, 40, 300).astype(str).astype(object) for i in range(3)}
        table = {name: [f"v{value}" for value in values] for name, values in table.items()}
        selector = SubgroupSelector(size=2).fit(table, rng.integers(0, 2, 300))
        assert len(selector.cohorts_.features) == 3
        p_values.append(selector.significance(permutations=59)["p_value"][0])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.15


def loans(n: int) -> pd.DataFrame:
    """Loans whose rate depends on the sub-grade, which determines the grade."""
    rng = np.random.default_rng(0)
    grade = rng.choice(list("ABCDEFG"), n, p=[0.25, 0.3, 0.26, 0.14, 0.03, 0.01, 0.01])
    step = rng.integers(1, 6, n)
    rate = np.array([ord(one) - 65 for one in grade]) * 5 + step + rng.normal(0, 0.5, n)
    names = [f"{one}{two}" for one, two in zip(grade, step, strict=True)]
    month = rng.choice(["Jan-2018", "Feb-2018", "Mar-2018"], n)
    return pd.DataFrame({"grade": grade, "sub_grade": names, "month": month, "rate": rate})


@pytest.mark.parametrize("n_rows", [450, 5000])
def test_a_feature_that_another_determines_adds_nothing_to_it(n_rows):
    selector = SubgroupSelector(size=2).fit(loans(n_rows), "rate")
    scores = {frozenset(row.features): row.score for row in selector.scores().itertuples()}
    singles = SubgroupSelector(size=1).fit(loans(n_rows), "rate").scores()
    score = {row.features[0]: row.score for row in singles.itertuples()}
    assert score["sub_grade"] > 1.04 * score["grade"]
    assert scores[frozenset({"grade", "sub_grade"})] <= score["sub_grade"] + 0.02
    found = audit(selector.cohorts_, "sub_grade")
    assert found.taken_for == "category, in order"
    assert found.categories[0].startswith("A1")
    assert not any(label[0] != label[-2] for label in found.categories)


@pytest.mark.parametrize("holder", ["pandas", "polars", "duckdb"])
def test_bins_of_a_number_end_where_the_ranges_do_that_it_determines(holder, rng):
    age = rng.integers(18, 80, N)
    texts = np.array(["Less than 25", "25 - 45", "Greater than 45"])
    table = pl.DataFrame({"age": age, "age_cat": texts[(age >= 25) + 0 + (age > 45)]})
    table = table.with_columns(y=pl.Series((rng.random(N) * 80 < age).astype(int)))
    cohorts = build_cohorts(HOLDERS[holder](table), "y")
    assert {24, 45} <= {*audit(cohorts, "age").edges}
    assert audit(cohorts, "age_cat").categories == tuple(texts)
    both = np.unique(cohorts.codes, axis=1)
    assert len(np.unique(both[0])) == both.shape[1]


def test_rare_values_are_told_apart_by_what_they_determine(rng):
    town = rng.choice(60, N, p=rng.dirichlet(np.ones(60)))
    table = pd.DataFrame({"town": [f"t{one}" for one in town], "state": town % 3})
    cohorts = build_cohorts(table.assign(y=rng.integers(0, 2, N)), "y")
    found = audit(cohorts, "town")
    assert found.treatment == "39 most frequent values, and other by state"
    assert found.categories[-3:] == tuple(f"other, state={state}" for state in range(3))
    both = np.unique(cohorts.codes, axis=1)
    assert len(np.unique(both[0])) == both.shape[1]


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


ORDERED = {
    "ranges": ["<5", "5-10", "10+"],
    "ages": ["under 18", "18 to 64", "65 and over"],
    "intervals": ["[0-10)", "[10-20)", "[20-100)", "[100-110)"],
    "amounts": ["$0 - $9,999", "$10,000 - $19,999", "$20,000+"],
    "how often": ["never", "rarely", "sometimes", "often", "always"],
    "agreement": ["Strongly disagree", "Disagree", "Neutral", "Agree", "Don't know"],
    "amount": ["Low", "Medium", "High"],
    "severity": ["none", "mild", "moderate", "severe"],
    "stages": ["Stage 1", "Stage 2a", "Stage 2b", "Stage 4", "Stage 10"],
    "months": ["Jan", "Feb", "Mar", "Apr", "May", "Jun"],
    "weeks": [f"week {i}" for i in range(1, 25)],
    "sub-grades": [f"{letter}{i}" for letter in "ABCDEFG" for i in range(1, 6)],
}


@pytest.mark.parametrize("kind", ORDERED)
def test_texts_that_have_an_order_keep_it(kind):
    table = {"x": [*reversed(ORDERED[kind])] * 20, "y": [0, 1] * len(ORDERED[kind]) * 10}
    found = audit(build_cohorts(table, "y"), "x")
    assert found.taken_for == "category, in order"
    values = [value for label in found.categories for value in label.split(" to ", 1)]
    if kind in ("weeks", "sub-grades"):
        assert found.treatment == "5 bins in the order of the categories"
        assert values == sorted(values, key=ORDERED[kind].index)
    else:
        assert list(found.categories) == ORDERED[kind]


@pytest.mark.parametrize(
    "values",
    [["red", "green", "blue"], ["x", "i", "v"], ["3-1", "2-0", "0-0"], ["E11", "I10", "J4"]],
)
def test_texts_that_have_no_order_are_categories(values):
    table = {"x": values * 20, "y": [0, 1] * 10 * len(values)}
    assert audit(build_cohorts(table, "y"), "x").taken_for == "category"


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


def test_very_many_categories_in_order_are_merged_with_their_neighbours():
    names = [f"{i:04d}" for i in range(800)]
    grades = pd.Categorical(names[::-1] * 4, categories=names, ordered=True)
    cohorts = build_cohorts(pd.DataFrame({"g": grades, "y": [0, 1] * 1600}), "y")
    assert audit(cohorts, "g").categories[0] == "0000 to 0159"
    assert cohorts.codes.max() == 4


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
def test_categories_of_anything_keep_their_order(holder, rng):
    values = rng.normal(size=300)
    cut = pd.cut(values, [-9, -1, 0, 9])
    table = pd.DataFrame({"x": cut, "y": (values > 0).astype(int)})
    assert build_cohorts(table, "y").categories == (("(-9, -1]", "(-1, 0]", "(0, 9]"),)
    others = pd.DataFrame({"z": rng.integers(0, 2, 300)})
    rows = others if holder == "pandas" else {"z": others["z"].to_numpy()}
    assert build_cohorts(rows, cut).classes == ("(-9, -1]", "(-1, 0]", "(0, 9]")


def test_texts_that_hardly_come_again_are_left_out(rng):
    high, low = rng.integers(90, 130, 400), rng.integers(50, 70, 400)
    table = {
        "pressure": [f"{a}/{b} mm" for a, b in zip(high, low, strict=True)],
        "x": rng.integers(0, 3, 400),
        "y": rng.integers(0, 2, 400),
    }
    treated = {one.column: one.treatment for one in build_cohorts(table, "y").columns}
    assert treated["pressure"] == "most of its texts occur once or twice"
