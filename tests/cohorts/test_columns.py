import datetime as dt

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.column_coding import cut_points, interval_labels, quantile_edges
from tests.cohorts.tables import audit, table


def test_numbers_with_many_values_are_binned_over_all_cohorts_together():
    values = np.concatenate([np.arange(30), np.arange(100, 130)])
    data = table(v=values + 0.5, site=np.repeat(["a", "b"], 30).astype(object))
    cohorts = build_cohorts(data, "y", groups="site", coding=Coding(bins=4))
    assert audit(cohorts, "v").edges == (14.5, 29.5, 114.5)


def test_cut_points_of_a_column_are_the_users():
    cohorts = build_cohorts(table(v=np.arange(60) + 0.5), "y", coding=Coding(bins={"v": [10, 20]}))
    assert audit(cohorts, "v").categories == ("<=10", "(10, 20]", ">20")
    assert audit(cohorts, "v").treatment == "given cut points"


@pytest.mark.parametrize(
    "values",
    [
        np.array([f"p{i}" for i in range(60)], dtype=object),
        np.arange(60),
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
    assert audit(cohorts, "i").treatment == "identifier"
    assert any("'i' is left out" in note for note in cohorts.notes)


def test_constant_columns_are_left_out_but_a_flag_that_is_only_ever_set_is_not():
    only_yes = np.array(["yes", None, None] * 20, dtype=object)
    cohorts = build_cohorts(table(same=np.ones(60), set=only_yes), "y")
    assert audit(cohorts, "same").treatment == "constant"
    assert audit(cohorts, "set").role == "feature"


def test_infinite_values_fall_into_the_outer_bins():
    values = np.arange(60) + 0.5
    values[[0, -1]] = [-np.inf, np.inf]
    assert "v" in build_cohorts(table(v=values), "y").features


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


@pytest.mark.parametrize("column", [np.full(60, np.nan), np.r_[np.full(58, np.nan), 1.0, 2.0]])
def test_a_feature_that_is_missing_in_every_cohort_is_left_out_with_a_warning(column):
    with pytest.warns(MisfeatWarning, match="'empty' is missing in every subgroup"):
        cohorts = build_cohorts(table(empty=column), "y")
    assert "empty" not in cohorts.features
    assert audit(cohorts, "empty").role == "left out"


def test_many_distinct_values_cannot_be_taken_as_they_are(monkeypatch):
    for module in ("column_coding", "column_profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 20)
    towns = np.array([f"t{i // 2}" for i in range(60)], dtype=object)
    assert audit(build_cohorts(table(t=towns), "y"), "t").treatment == "identifier"
    with pytest.raises(MisfeatError, match="more than 20 distinct values"):
        build_cohorts(table(y=towns), "y")
    numbers = build_cohorts(table(t=np.arange(60)), "y")
    assert audit(numbers, "t").role == "feature"


def test_a_target_of_a_type_that_cannot_be_scored_is_refused():
    with pytest.raises(MisfeatError, match="target 'y' has a type that cannot be scored"):
        build_cohorts(pl.DataFrame({"x": [0, 1], "y": [[1], [2]]}), "y")


@given(values=st.lists(st.integers(-50, 50), min_size=1, max_size=200), bins=st.integers(2, 12))
def test_quantile_edges_are_the_inverted_distribution_function(values, bins):
    distinct, counts = np.unique(values, return_counts=True)
    edges = quantile_edges(distinct, counts, bins)
    wanted = np.quantile(values, [k / bins for k in range(1, bins)], method="inverted_cdf")
    assert set(edges) == {int(edge) for edge in wanted if edge != distinct[-1]}


def test_labels_shorten_long_numbers_unless_they_would_clash():
    assert interval_labels([0.123456789]) == ("<=0.123457", ">0.123457")
    assert interval_labels([0.12345678, 0.12345679])[0] == "<=0.12345678"
    assert interval_labels([]) == ("any",)


def test_cut_points_may_be_numbers_or_dates_or_their_text():
    assert cut_points(["40", 65.5], "x") == (40, 65.5)
    assert cut_points(["2024-01-01"], "x") == (dt.datetime(2024, 1, 1),)
    assert cut_points(np.array([1, 2]), "x") == (1, 2)


N = 40
REST = {"x": [0, 1] * 20, "y": [0, 1, 1, 0] * 10}
NOTHING = [None] * N
PANDAS = {
    "objects": NOTHING,
    "numbers": np.full(N, np.nan),
    "text": pd.array(NOTHING, dtype="string"),
    "categories": pd.Categorical(NOTHING),
    "dates": pd.to_datetime(NOTHING),
    "flags": pd.array(NOTHING, dtype="boolean"),
}
HELD = {
    "arrays": {**REST, "g": np.array(NOTHING)},
    **{f"pandas {kind}": pd.DataFrame({**REST, "g": g}) for kind, g in PANDAS.items()},
    "polars": pl.DataFrame({**REST, "g": NOTHING}),
    "polars-lazy": pl.LazyFrame({**REST, "g": NOTHING}),
    "polars text": pl.DataFrame({**REST, "g": pl.Series(NOTHING, dtype=pl.String)}),
    "pyarrow": pa.table({**REST, "g": pa.nulls(N)}),
    "pyarrow text": pa.table({**REST, "g": pa.nulls(N, pa.string())}),
    "duckdb": duckdb.from_arrow(pa.table({**REST, "g": pa.nulls(N)})),
}


@pytest.fixture(params=HELD)
def held(request):
    return HELD[request.param]


@pytest.mark.parametrize("groups", ["g", {"g": {"*": "any"}}, {"g": [4]}])
def test_rows_of_an_empty_group_column_are_one_subgroup(held, groups):
    cohorts = build_cohorts(held, "y", groups=groups)
    assert cohorts.names == ("g is missing",)
    assert cohorts.weights.sum() == N


def test_an_empty_group_column_whose_rows_are_dropped_is_named(held):
    with pytest.raises(MisfeatError, match=r"Every row has a missing .* \('g is missing'\)"):
        build_cohorts(held, "y", groups="g", coding=Coding(missing_groups="drop"))


def test_an_empty_feature_is_left_out_with_a_warning(held):
    with pytest.warns(MisfeatWarning, match="'g' is missing in every subgroup and is left out"):
        assert build_cohorts(held, "y").features == ("x",)


def test_an_empty_target_is_refused(held):
    with pytest.raises(MisfeatError, match="The target 'g' is missing in every row"):
        build_cohorts(held, "g")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("income", np.random.default_rng(0).lognormal(10, 1, 400)),
        ("ram", np.random.default_rng(0).permutation(np.arange(256, 4000))[:400]),
        ("total_paid", np.random.default_rng(0).permutation(10**6)[:300]),
        ("covid", np.random.default_rng(0).permutation(10**6)[:300]),
        ("salary", np.random.default_rng(0).permutation(10**6)[:60]),
        ("change", np.random.default_rng(0).permutation(10**6)[:400] - 500_000),
        ("year", np.arange(1700, 2100)),
        ("week", np.arange(400)),
        ("visit", [20200000 + 100 * month + day for month in range(1, 13) for day in range(1, 29)]),
        ("chest", np.arange(33, 48)),
    ],
)
def test_measurements_and_dates_in_integers_are_features_though_no_two_rows_agree(name, values):
    whole = np.array(values).astype(np.int64)
    cohorts = build_cohorts({name: whole, "y": np.arange(len(whole)) % 2}, "y")
    assert cohorts.features == (name,)
    assert audit(cohorts, name).looks_like == ("date" if name in ("year", "visit") else "")
