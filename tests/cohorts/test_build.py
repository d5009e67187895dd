from __future__ import annotations

import datetime as dt
import logging
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.datasets import load_readmission


def table(n: int = 60, **columns) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    base = {
        "site": np.array(["a", "b", "c"] * (n // 3), dtype=object),
        "x": rng.integers(3, size=n),
        "z": rng.integers(2, size=n),
        "y": rng.integers(2, size=n),
    }
    return {**base, **columns}


# --- what comes out ---------------------------------------------------------------------------


def test_weights_count_the_rows_of_the_table_and_rows_are_distinct_within_a_cohort():
    data = table()
    cohorts = build_cohorts(data, "y", groups="site")
    for cohort in cohorts:
        site = cohort.name.removeprefix("site=")
        assert cohort.size == np.sum(data["site"] == site)
        rows = np.vstack([cohort.codes, cohort.target])
        assert rows.shape[1] == np.unique(rows, axis=1).shape[1]
        for row, weight in zip(rows.T, cohort.weights, strict=True):
            x, z, y = row
            held = (data["site"] == site) & (data["x"] == x) & (data["z"] == z) & (data["y"] == y)
            assert held.sum() == weight


def test_one_cohort_of_all_rows_without_groups():
    assert build_cohorts(table(), "y").names == ("all rows",)


def test_the_paper_example_has_four_subgroups_and_their_gaps():
    patients = load_readmission()
    with pytest.warns(MisfeatWarning, match="ethnicity=Caucasian & age>40"):
        cohorts = build_cohorts(patients.columns, patients.target, groups=patients.groups)
    assert cohorts.names == tuple(
        f"ethnicity={e} & {a}" for e, a in product(["Asian", "Caucasian"], ["age<=40", "age>40"])
    )
    assert cohorts.missing_features("ethnicity=Asian & age<=40") == (
        "blood_pressure",
        "cholesterol",
    )
    assert cohorts.missing_features("ethnicity=Asian & age>40") == ()


def test_equal_cohorts_are_equal_and_others_are_not():
    data = table()
    cohorts = build_cohorts(data, "y", groups="site")
    assert cohorts.equals(build_cohorts(data, "y", groups="site"))
    changed = {**data, "x": np.roll(data["x"], 1)}
    assert not cohorts.equals(build_cohorts(changed, "y", groups="site"))


def test_an_unknown_subgroup_is_named_with_those_that_exist():
    with pytest.raises(MisfeatError, match="no subgroup 'site=z'; there are 'site=a'"):
        build_cohorts(table(), "y", groups="site")["site=z"]


# --- subgroups --------------------------------------------------------------------------------


def test_cuts_make_readable_names_in_order():
    data = table(age=np.arange(60))
    cohorts = build_cohorts(data, "y", groups={"age": [25, 40]})
    assert cohorts.names == ("age<=25", "25<age<=40", "age>40")
    assert [cohort.size for cohort in cohorts] == [26, 15, 19]
    assert "age" not in cohorts.features


def test_dates_can_be_cut():
    days = np.array(["2024-01-01", "2024-06-01"] * 30, dtype="datetime64[D]")
    cohorts = build_cohorts(table(day=days), "y", groups={"day": [dt.date(2024, 3, 1)]})
    assert cohorts.names == ("day<=2024-03-01", "day>2024-03-01")


def test_values_can_be_merged_under_a_name():
    merged = build_cohorts(table(), "y", groups={"site": {"b": "B", "*": "other"}})
    assert merged.names == ("site=B", "site=other")
    assert [cohort.size for cohort in merged] == [20, 40]
    kept = build_cohorts(table(), "y", groups={"site": {"a": "ab", "b": "ab"}})
    assert kept.names == ("site=ab", "site=c")


def test_numbers_can_be_merged_too():
    cohorts = build_cohorts(table(), "y", groups={"x": {0: "low", "*": "high"}})
    assert cohorts.names == ("x=low", "x=high")


def test_named_predicates_make_two_subgroups_each():
    data = table(age=np.arange(60))
    cohorts = build_cohorts(data, "y", groups={"senior": "age > 40", "first": "site == 'a'"})
    assert cohorts.names == (
        "not senior & not first",
        "not senior & first",
        "senior & not first",
        "senior & first",
    )
    assert {"age", "site"}.isdisjoint(cohorts.features)


def test_a_column_in_a_mapping_without_a_rule_is_taken_by_value():
    assert build_cohorts(table(), "y", groups={"site": None}).names[0] == "site=a"


def test_rows_with_a_missing_group_value_form_a_subgroup_or_go_and_are_counted(caplog):
    data = table()
    data["site"][:5] = None
    caplog.set_level(logging.INFO, logger="misfeat")
    own = build_cohorts(data, "y", groups="site")
    assert own.names[-1] == "site is missing"
    assert own["site is missing"].size == 5
    assert "5 rows with a missing group value form subgroups of their own." in caplog.messages
    dropped = build_cohorts(data, "y", groups="site", coding=Coding(missing_groups="drop"))
    assert "site is missing" not in dropped.names
    assert dropped.weights.sum() == 55
    assert "5 rows with a missing group value are dropped." in caplog.messages


def test_small_subgroups_are_merged_or_left_out_and_named_in_the_notes():
    data = table()
    data["site"][:3] = ["d", "e", "e"]
    merged = build_cohorts(data, "y", groups="site", coding=Coding(min_rows=3))
    assert merged.names == ("site=a", "site=b", "site=c", "other")
    assert merged["other"].size == 3
    assert "site=d (1), site=e (2)" in merged.notes[0]
    dropped = build_cohorts(
        data, "y", groups="site", coding=Coding(min_rows=3, small_groups="drop")
    )
    assert dropped.names == ("site=a", "site=b", "site=c")
    assert dropped.weights.sum() == 57
    assert "left out: site=d (1), site=e (2)" in dropped.notes[0]


def test_a_merged_subgroup_that_is_still_small_is_warned_about():
    data = table()
    data["site"][:2], data["y"][:2] = "d", [0, 1]
    with pytest.warns(MisfeatWarning, match="still fewer than min_rows=5"):
        build_cohorts(data, "y", groups="site", coding=Coding(min_rows=5))


def test_dropping_every_subgroup_is_refused():
    with pytest.raises(MisfeatError, match="Every subgroup has fewer than min_rows=100"):
        build_cohorts(table(), "y", groups="site", coding=Coding(min_rows=100, small_groups="drop"))


# --- features ---------------------------------------------------------------------------------


def report(cohorts, column):
    return next(r for r in cohorts.columns if r.column == column)


def test_columns_with_few_values_are_taken_as_they_are():
    cohorts = build_cohorts(table(rate=np.array([0.5, 1.0, 2.0] * 20)), "y", groups="site")
    assert report(cohorts, "rate").categories == ("0.5", "1", "2")


def test_numbers_with_many_values_are_binned_over_all_cohorts_together():
    values = np.concatenate([np.arange(30), np.arange(100, 130)])
    data = table(v=values + 0.5, site=np.repeat(["a", "b"], 30).astype(object))
    cohorts = build_cohorts(data, "y", groups="site", coding=Coding(bins=4))
    assert report(cohorts, "v").edges == (14.5, 29.5, 114.5)
    uniform = build_cohorts(data, "y", groups="site", coding=Coding(bins=2, binning="uniform"))
    assert report(uniform, "v").edges == (65,)


def test_cut_points_of_a_column_are_the_users():
    cohorts = build_cohorts(table(v=np.arange(60) + 0.5), "y", coding=Coding(bins={"v": [10, 20]}))
    assert report(cohorts, "v").categories == ("<=10", "(10, 20]", ">20")
    assert report(cohorts, "v").treatment == "given cut points"


def test_text_with_many_values_keeps_the_most_frequent():
    towns = np.array([f"t{i // 4:02d}" for i in range(60)], dtype=object)
    cohorts = build_cohorts(table(town=towns), "y", coding=Coding(max_categories=4))
    assert report(cohorts, "town").categories == ("t00", "t01", "t02", "other")


@pytest.mark.parametrize(
    "values",
    [
        np.array([f"p{i}" for i in range(60)], dtype=object),
        np.arange(60),
        np.random.default_rng(0).permutation(10**6)[:60],
        np.arange(1000.0, 1060.0),
    ],
)
def test_identifiers_are_left_out_unless_bins_are_asked_for(values):
    if values.dtype == object:
        cohorts = build_cohorts(table(i=values), "y")
    else:
        with pytest.warns(MisfeatWarning, match="'i' is left out as an identifier.*bins={'i': 5}"):
            cohorts = build_cohorts(table(i=values), "y")
        assert "i" in build_cohorts(table(i=values), "y", coding=Coding(bins={"i": 3})).features
    assert report(cohorts, "i").treatment == "identifier"
    assert any("'i' is left out" in note for note in cohorts.notes)


def test_measurements_are_no_identifiers():
    values = np.random.default_rng(0).random(60)
    assert "v" in build_cohorts(table(v=values), "y").features


def test_constant_columns_are_left_out_but_a_flag_that_is_only_ever_set_is_not():
    only_yes = np.array(["yes", None, None] * 20, dtype=object)
    cohorts = build_cohorts(table(same=np.ones(60), set=only_yes), "y")
    assert report(cohorts, "same").treatment == "constant"
    assert report(cohorts, "set").role == "feature"


def test_a_column_whose_type_cannot_be_scored_is_left_out():
    frame = pl.DataFrame(table()).with_columns(pl.Series("parts", [[1, 2]] * 60))
    assert report(build_cohorts(frame, "y"), "parts").treatment == "its type cannot be scored"


def test_infinite_values_fall_into_the_outer_bins():
    values = np.arange(60) + 0.5
    values[[0, -1]] = [-np.inf, np.inf]
    assert "v" in build_cohorts(table(v=values), "y").features
    with pytest.raises(MisfeatError, match="'v' holds infinite values"):
        build_cohorts(table(v=values), "y", coding=Coding(binning="uniform"))


# --- missing values ---------------------------------------------------------------------------


def with_gap(share: float) -> dict[str, np.ndarray]:
    """Feature g is missing in this share of site a, and never elsewhere."""
    data = table(g=np.random.default_rng(1).integers(2, size=60).astype(float))
    in_a = np.flatnonzero(data["site"] == "a")
    data["g"][in_a[: round(share * len(in_a))]] = np.nan
    return data


def test_a_feature_is_systematically_missing_from_the_threshold_on():
    assert build_cohorts(with_gap(0.95), "y", groups="site").missing_features("site=a") == ("g",)
    assert build_cohorts(with_gap(0.90), "y", groups="site").missing_features("site=a") == ()
    lower = build_cohorts(with_gap(0.90), "y", groups="site", coding=Coding(missing_threshold=0.9))
    assert lower.missing_features("site=a") == ("g",)


def test_what_is_left_of_a_systematically_missing_feature_is_not_used():
    cohorts = build_cohorts(with_gap(0.95), "y", groups="site")
    g = cohorts.features.index("g")
    assert (cohorts["site=a"].codes[g] == -1).all()
    assert (cohorts["site=b"].codes[g] >= 0).all()
    assert cohorts.categories[g] == ("0", "1")


def test_sporadic_missing_values_are_a_category_or_left_unrecorded():
    own = build_cohorts(with_gap(0.5), "y", groups="site")
    g = own.features.index("g")
    assert own.categories[g] == ("0", "1", "missing")
    assert own["site=a"].weights[own["site=a"].codes[g] == 2].sum() == 10
    available = build_cohorts(
        with_gap(0.5), "y", groups="site", coding=Coding(sporadic="available")
    )
    assert available.categories[g] == ("0", "1")
    assert available["site=a"].weights[available["site=a"].codes[g] == -1].sum() == 10


def test_a_value_called_missing_does_not_clash_with_missing_values():
    column = np.array(["missing", None, "x"] * 20, dtype=object)
    cohorts = build_cohorts(table(c=column), "y")
    assert cohorts.categories[cohorts.features.index("c")] == ("missing", "x", "(missing)")


def test_codes_of_the_user_mean_missing_where_they_say():
    data = table(g=np.array([0, 1, -9] * 20))
    everywhere = build_cohorts(data, "y", groups="site", coding=Coding(missing_values=-9))
    assert everywhere.missing_features("site=c") == ("g",)
    elsewhere = build_cohorts(data, "y", groups="site", coding=Coding(missing_values={"x": [-9]}))
    assert elsewhere.missing_features("site=c") == ()


def test_a_code_that_no_whole_number_equals_is_harmless():
    data = table()
    assert build_cohorts(data, "y", coding=Coding(missing_values=[0.5])).equals(
        build_cohorts(data, "y")
    )
    assert build_cohorts(pl.DataFrame(data), "y", coding=Coding(missing_values=[0.5])).equals(
        build_cohorts(pl.DataFrame(data), "y")
    )


def test_heart_has_the_gaps_that_its_hospitals_left(heart_path):
    plain = build_cohorts(heart_path, "num", groups="site")
    assert [plain.missing_features(name) for name in plain.names] == [(), *[("ca",)] * 3]
    coded = build_cohorts(
        heart_path, "num", groups="site", coding=Coding(missing_values={"chol": [0]})
    )
    assert coded.missing_features("site=switzerland") == ("chol", "ca")


# --- the target -------------------------------------------------------------------------------


def test_rows_without_a_target_are_dropped_and_counted():
    data = table(y=np.array([0.0, 1.0, np.nan] * 20))
    cohorts = build_cohorts(data, "y")
    assert cohorts.weights.sum() == 40
    assert "20 rows without a value of the target 'y' are dropped." in cohorts.notes


def test_a_target_of_many_numbers_is_binned_and_classes_are_not():
    numbers = build_cohorts(table(y=np.arange(60.0) * 1.5), "y", coding=Coding(bins=3))
    assert len(numbers.classes) == 3
    classes = build_cohorts(table(y=np.arange(60) % 15), "y")
    assert len(classes.classes) == 15


def test_the_target_may_be_an_array_a_series_or_a_list():
    data = table()
    y = data.pop("y")
    expected = build_cohorts({**data, "target": y}, "target")
    assert build_cohorts(data, y).equals(expected)
    assert build_cohorts(data, y.tolist()).equals(expected)
    frame = pd.DataFrame(data, index=np.arange(60)[::-1])
    assert build_cohorts(frame, pd.Series(y)).equals(expected)
    assert build_cohorts(pl.DataFrame(data), pl.Series(y)).equals(expected)
    assert build_cohorts(frame, y.astype(str)).codes.shape == expected.codes.shape


def test_a_target_given_as_values_never_takes_the_name_of_a_column():
    data = table()
    y = data.pop("y")
    assert build_cohorts({**data, "target": data["x"]}, y).target == "target_"


def test_arrays_have_numbered_columns():
    rng = np.random.default_rng(0)
    cohorts = build_cohorts(rng.integers(2, size=(20, 3)), rng.integers(2, size=20))
    assert cohorts.features == ("x0", "x1", "x2")
    assert build_cohorts([[0, 1], [1, 0]], [0, 1]).features == ("x0", "x1")


def test_progress_is_reported_from_start_to_end():
    seen = []
    build_cohorts(table(), "y", progress=lambda *step: seen.append(step))
    assert seen[0] == ("Reading columns", 0, 4)
    assert seen[-1] == ("Counting rows", 1, 1)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "arguments", "complaint"),
    [
        ({}, {"y": "yy"}, r"no column 'yy' \(asked for as the target\); did you mean 'y'"),
        ({}, {"y": "outcome"}, "it has 'site', 'x', 'z', 'y'"),
        ({}, {"groups": "sites"}, r"no column 'sites' \(asked for as groups\).*'site'"),
        ({}, {"groups": {"old": "age > 4"}}, "no column 'age'"),
        ({}, {"coding": Coding(missing_values={"chol": 0})}, "no column 'chol'.*missing_values"),
        ({}, {"coding": Coding(bins={"chol": 4})}, "no column 'chol'.*bins"),
        ({}, {"groups": ["site", "y"]}, "'y' is both the target and a group"),
        ({}, {"y": None}, "No target was given"),
        ({"y": np.full(60, np.nan)}, {}, "target 'y' is missing in every row"),
        ({"y": np.array([f"p{i}" for i in range(60)])}, {}, "target 'y' has a different value"),
        ({"u": np.arange(60)}, {"groups": "u"}, "'u' has a different value in nearly every row"),
        ({}, {"groups": {"site": [1, 2]}}, "'site' holds text values and cannot be cut at 1, 2"),
        ({}, {"groups": {"x": ["2024-01-01"]}}, "'x' holds integer values and cannot be cut"),
        ({}, {"groups": {"site": {"q": "Q"}}}, "names the value 'q', which does not occur"),
        ({}, {"groups": {"g": "x == 'a'"}}, "compares 'x', which holds integer values, with 'a'"),
        ({}, {"groups": {"g": "site > 1"}}, "compares 'site', which holds text values, with 1"),
        ({}, {"groups": {"g": "x == True"}}, "compares 'x'"),
        ({}, {"groups": 5}, "groups=5 defines no subgroups; use a column name, groups={'age'"),
        ({}, {"groups": ["site", 5]}, "groups=5 defines"),
        ({}, {"groups": {5: [1]}}, "groups={5: .* defines"),
        ({}, {"coding": Coding(sporadic="drop")}, "'drop' is unknown; use 'category' or"),
        ({}, {"coding": Coding(small_groups="x")}, "small_groups='x'"),
        ({}, {"coding": Coding(missing_groups="x")}, "missing_groups='x'"),
        ({}, {"coding": Coding(missing_threshold=0)}, "missing_threshold=0"),
        ({}, {"coding": Coding(max_categories=1)}, "max_categories=1"),
        ({}, {"coding": Coding(min_rows=0)}, "min_rows=0"),
        ({"x": np.zeros(3)}, {}, "columns differ in length: 'site' has 60, 'x' has 3"),
        ({"x": np.zeros((60, 2))}, {}, "Column 'x' has 2 dimensions"),
        ({3: np.zeros(60)}, {}, "3 is not"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(change, arguments, complaint):
    arguments = {"y": "y", **arguments}
    with pytest.raises(MisfeatError, match=complaint):
        build_cohorts({**table(), **change}, **arguments)


def test_dates_cannot_stand_in_a_predicate():
    days = np.array(["2024-01-01", "2024-06-01"] * 30, dtype="datetime64[D]")
    with pytest.raises(MisfeatError, match="reads 'day', which holds time values"):
        build_cohorts(table(day=days), "y", groups={"late": "day > 3"})


def test_all_rows_without_a_group_value_are_refused_when_such_rows_are_dropped():
    data = table(site=np.array([None] * 60))
    with pytest.raises(MisfeatError, match="Every row has a missing group value"):
        build_cohorts(data, "y", groups="site", coding=Coding(missing_groups="drop"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda empty: empty])
def test_a_table_without_rows_is_refused(make):
    empty = {name: column[:0] for name, column in table().items()}
    with pytest.raises(MisfeatError, match="no rows"):
        build_cohorts(make(empty), "y")


def test_duplicate_and_nameless_columns_are_refused():
    frame = pd.DataFrame(table())
    with pytest.raises(MisfeatError, match="two columns named 'x'"):
        build_cohorts(frame.rename(columns={"z": "x"}), "y")
    with pytest.raises(MisfeatError, match=r"one is 7 \(int\)"):
        build_cohorts(frame.rename(columns={"z": 7}), "y")


def test_what_is_no_table_is_refused():
    with pytest.raises(MisfeatError, match="cannot be made of a set"):
        build_cohorts({1, 2}, "y")
    with pytest.raises(MisfeatError, match="1 dimension"):
        build_cohorts(np.arange(5), "y")


def test_a_target_that_would_predict_itself_is_refused():
    frame = pd.DataFrame(table())
    with pytest.raises(MisfeatError, match="'y' is also a column of X"):
        build_cohorts(frame, frame["y"])


def test_a_target_of_another_length_is_refused():
    frame = pd.DataFrame(table()).drop(columns="y")
    with pytest.raises(MisfeatError, match=r"y has shape \(3,\), but X has 60 rows"):
        build_cohorts(frame, [0, 1, 0])


def test_a_lazy_table_takes_its_target_by_name_only():
    with pytest.raises(MisfeatError, match="must be the name of a column"):
        build_cohorts(pl.DataFrame(table()).lazy(), np.zeros(60))


def test_a_target_that_is_constant_in_a_cohort_is_warned_about():
    data = table()
    data["y"][data["site"] == "b"] = 1
    with pytest.warns(MisfeatWarning, match="single value in the subgroup 'site=b'"):
        cohorts = build_cohorts(data, "y", groups="site")
    assert "site=b" in cohorts.names


@pytest.mark.parametrize("column", [np.full(60, np.nan), np.r_[np.full(58, np.nan), 1.0, 2.0]])
def test_a_feature_that_is_missing_in_every_cohort_is_left_out_with_a_warning(column):
    with pytest.warns(MisfeatWarning, match="'empty' is missing in every subgroup"):
        cohorts = build_cohorts(table(empty=column), "y")
    assert "empty" not in cohorts.features
    assert report(cohorts, "empty").role == "left out"


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(MisfeatWarning) as caught:
        build_cohorts(table(empty=np.full(60, np.nan)), "y")
    assert caught[0].filename == __file__


def test_a_group_with_too_many_values_must_be_cut():
    ids = np.repeat(np.arange(1500), 2)
    with pytest.raises(MisfeatError, match="more than 1,000 distinct values"):
        build_cohorts({"g": ids, "x": ids % 2, "y": ids % 3}, "y", groups="g")
    with pytest.raises(MisfeatError, match="a type that cannot define subgroups"):
        build_cohorts(pl.DataFrame({"g": [[1], [2]], "x": [0, 1], "y": [0, 1]}), "y", groups="g")


def test_a_target_of_a_type_that_cannot_be_scored_is_refused():
    with pytest.raises(MisfeatError, match="target 'y' has a type that cannot be scored"):
        build_cohorts(pl.DataFrame({"x": [0, 1], "y": [[1], [2]]}), "y")


def test_many_distinct_values_cannot_be_taken_as_they_are(monkeypatch):
    monkeypatch.setattr("misfeat.cohorts.columns.DISTINCT_LIMIT", 20)
    towns = np.array([f"t{i // 2}" for i in range(60)], dtype=object)
    assert report(build_cohorts(table(t=towns), "y"), "t").treatment == "identifier"
    with pytest.raises(MisfeatError, match="more than 20 distinct values"):
        build_cohorts(table(y=towns), "y")
    numbers = build_cohorts(table(t=np.arange(60)), "y")
    assert report(numbers, "t").role == "feature"


# --- what groups may be -------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [np.array(["site"]), pd.Index(["site"]), ("site",)], ids=repr)
def test_groups_may_be_named_in_an_array_or_an_index(groups):
    assert build_cohorts(table(), "y", groups=groups).equals(
        build_cohorts(table(), "y", groups="site")
    )


@pytest.mark.parametrize(
    "groups",
    [
        pd.Series(table()["site"]),
        pl.Series(table()["site"].tolist()),
        pd.DataFrame({"site": table()["site"]}),
        np.arange(60),
        np.array([["site"]]),
    ],
    ids=["series", "polars", "frame", "numbers", "two dimensions"],
)
def test_values_of_rows_are_sent_to_fit(groups):
    with pytest.raises(MisfeatError, match=r"pass the subgroup of every row to fit\(X, y") as error:
        build_cohorts(table(), "y", groups=groups)
    assert len(str(error.value)) < 150


@pytest.mark.parametrize(
    "groups",
    [
        ["site", "site"],
        ["z", {"site": None}, "site"],
        [{"x": [1]}, {"x": [1]}],
        [{"old": "x > 1"}, {"old": "x > 0"}],
        table()["site"],
        table()["site"].tolist(),
    ],
    ids=["name", "rule", "cuts", "predicate", "array of rows", "list of rows"],
)
def test_what_is_named_twice_in_groups_is_refused(groups):
    with pytest.raises(MisfeatError, match=r"twice; name it once\. The subgroup of every row"):
        build_cohorts(table(), "y", groups=groups)


def test_one_column_may_be_cut_and_named():
    assert build_cohorts(table(), "y", groups=["z", {"z": [0]}]).names == (
        "z=0 & z<=0",
        "z=1 & z>0",
    )


# --- many names in messages ---------------------------------------------------------------------


def test_long_lists_of_subgroups_are_cut_short():
    n = 400
    data = {"g": np.arange(n) // 2, "x": np.arange(n) % 3, "y": np.arange(n) % 2}
    cohorts = build_cohorts(data, "y", groups="g")
    with pytest.raises(MisfeatError, match="'g=9' and 190 more"):
        cohorts.position("g=none")
    with pytest.raises(MisfeatError, match=r"g=9 \(2\) and 190 more\. Lower it"):
        build_cohorts(data, "y", groups="g", coding=Coding(min_rows=3, small_groups="drop"))
    with pytest.raises(MisfeatError, match=r"the values are .* and 190 more"):
        build_cohorts(data, "y", groups={"g": {"no": "other"}})


def test_one_warning_names_all_subgroups_with_a_constant_target():
    data = table(y=np.where(table()["site"] == "a", np.arange(60) % 2, 1))
    with pytest.warns(MisfeatWarning) as caught:
        build_cohorts(data, "y", groups="site")
    (warning,) = caught
    assert "single value in the subgroups 'site=b', 'site=c'; every score" in str(warning.message)
