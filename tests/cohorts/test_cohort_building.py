from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from misfeat import MisfeatError, MisfeatWarning
from misfeat.cohorts import Coding, build_cohorts
from misfeat.cohorts.feature_removal import hide_features
from tests.cohorts.plans import collected_queries
from tests.cohorts.tables import build_product_sums, table


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


def test_equal_cohorts_are_equal_and_others_are_not():
    data = table()
    cohorts = build_cohorts(data, "y", groups="site")
    assert cohorts.equals(build_cohorts(data, "y", groups="site"))
    assert not cohorts.equals(replace(cohorts, gap_codes=((2,), ())))
    changed = {**data, "x": np.roll(data["x"], 1)}
    assert not cohorts.equals(build_cohorts(changed, "y", groups="site"))


def test_progress_is_reported_from_start_to_end():
    seen = []
    build_cohorts(table(), "y", progress=lambda *step: seen.append(step))
    assert seen[0] == ("Reading columns", 0, 4)
    assert seen[-1] == ("Counting rows", 1, 1)


WRONG_CUTS = {
    "give cut points, such as": ([], "40", 2.5),
    "must ascend": ([2, 1], [1, 1]),
    "neither a number nor a date": (["soon"], [None]),
    "mixes": ([1, "2024-01-01"],),
}
WRONG_BINS = (1, 0, 2.5, "5", True, {"x": 1}, {"*": [1, 2]})


@pytest.mark.parametrize(
    ("change", "arguments", "complaint"),
    [
        ({}, {"y": "yy"}, r"no column 'yy' \(asked for as the target\); did you mean 'y'"),
        ({}, {"y": "outcome"}, "it has 'site', 'x', 'z', 'y'"),
        ({}, {"groups": "sites"}, r"no column 'sites' \(asked for as groups\).*'site'"),
        ({}, {"groups": {"age": [4]}}, "no column 'age'"),
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
        ({}, {"groups": 5}, "groups=5 defines no subgroups; use a column name, groups={'age'"),
        ({}, {"groups": ["site", 5]}, "groups=5 defines"),
        ({}, {"groups": {5: [1]}}, "groups={5: .* defines"),
        ({}, {"coding": Coding(sporadic="drop")}, "'drop' is unknown; use 'category' or"),
        ({}, {"coding": Coding(small_groups="x")}, "small_groups='x'"),
        ({}, {"coding": Coding(missing_groups="x")}, "missing_groups='x'"),
        ({}, {"coding": Coding(missing_threshold=0)}, "missing_threshold=0"),
        ({}, {"coding": Coding(max_categories=1)}, "max_categories=1"),
        ({}, {"coding": Coding(min_rows=0)}, "min_rows=0"),
        *(
            ({}, {"coding": Coding(bins={"x": cuts})}, complaint)
            for complaint, wrong in WRONG_CUTS.items()
            for cuts in wrong
        ),
        *(({}, {"coding": Coding(bins=bins)}, "from 2 to 250") for bins in WRONG_BINS),
        ({}, {"coding": Coding(bins={"x": [240, 200]})}, r"bins={'x': \[240, 200\]} must ascend"),
        ({"x": np.zeros(3)}, {}, "columns differ in length: 'site' has 60, 'x' has 3"),
        ({"x": np.zeros((60, 2))}, {}, "Column 'x' has 2 dimensions"),
        ({3: np.zeros(60)}, {}, "3 is not"),
    ],
)
def test_what_cannot_be_answered_is_refused_by_name(change, arguments, complaint):
    arguments = {"y": "y", **arguments}
    with pytest.raises(MisfeatError, match=complaint):
        build_cohorts({**table(), **change}, **arguments)


def test_a_target_that_is_constant_in_a_cohort_is_warned_about():
    data = table()
    data["y"][data["site"] == "b"] = 1
    with pytest.warns(MisfeatWarning, match="single value in the subgroup 'site=b'"):
        cohorts = build_cohorts(data, "y", groups="site")
    assert "site=b" in cohorts.names


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(MisfeatWarning) as caught:
        build_cohorts(table(empty=np.full(60, np.nan)), "y")
    assert caught[0].filename == __file__


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


TABLE = {
    "site": ["p"] * 4 + ["q"] * 4,
    "a": [0, 1, None, 1, 0, 1, 0, 1],
    "said": ["missing", "taken"] * 4,
    "both": ["missing", None, "x", "x"] * 2,
    "b": [0, 0, 1, 1, None, None, None, None],
    "y": [0, 1, 0, 1, 0, 1, 1, 0],
}


def test_a_value_called_missing_is_a_value():
    cohorts = build_cohorts(TABLE, "y", groups="site")
    gaps = dict(zip(cohorts.features, cohorts.gap_codes, strict=True))
    assert gaps == {"a": (2,), "said": (), "both": (2,), "b": ()}
    shares = dict(zip(cohorts.features, cohorts.recorded_shares().T.tolist(), strict=True))
    assert shares == {"a": [0.75, 1.0], "said": [1.0, 1.0], "both": [0.75, 0.75], "b": [1.0, 0.0]}


def test_shares_are_the_same_where_missing_values_have_no_category():
    own = build_cohorts(TABLE, "y", groups="site")
    none = build_cohorts(TABLE, "y", groups="site", coding=Coding(sporadic="available"))
    assert none.gap_codes == ((), (), (), ())
    assert np.array_equal(own.recorded_shares(), none.recorded_shares())


def test_a_hidden_feature_holds_no_rows_and_others_keep_their_gaps():
    cohorts = build_cohorts(TABLE, "y", groups="site")
    hidden = hide_features(cohorts, np.array([[True, False, False, False], [False] * 4]))
    assert hidden.gap_codes == cohorts.gap_codes
    assert hidden.recorded_shares()[:, 0].tolist() == [0.0, 1.0]


def test_an_error_carries_its_parameter_its_column_its_value_and_what_to_do():
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", coding=Coding(bins={"x": 1}))
    error = caught.value
    assert (error.parameter, error.column, error.value) == ("bins", "x", 1)
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", groups="y")
    assert caught.value.column == "y"
    assert caught.value.remedy == "Take it out of groups."
    with pytest.raises(MisfeatError) as caught:
        build_cohorts(table(), "y", groups={"site": [1, 2]})
    assert (caught.value.parameter, caught.value.column) == ("groups", "site")


def test_names_and_values_that_look_like_templates_are_only_names():
    odd = "{x!r} {0} {column}"
    data = table(i=np.arange(60), empty=np.full(60, np.nan))
    data = {f"{odd}{name}": column for name, column in data.items()}
    site = data[f"{odd}site"]
    site[:4] = ["{d}", "{e}", None, "{e}"]
    data[f"{odd}y"] = np.where(site == "b", 1.0, data[f"{odd}y"])
    data[f"{odd}y"][10:12] = np.nan
    with pytest.warns(MisfeatWarning) as caught:
        cohorts = build_cohorts(
            data,
            f"{odd}y",
            groups=[f"{odd}site", {f"{odd}x": [1]}],
            coding=Coding(min_rows=3, bins={f"{odd}z": [0]}, missing_values={f"{odd}z": ["{}"]}),
        )
    said = [str(warning.message) for warning in caught] + list(cohorts.notes)
    assert any(f"pass bins={{'{odd}i': 5}}" in text for text in said)
    assert any(f"'{odd}empty' is missing in every subgroup" in text for text in said)
    assert any(f"the target '{odd}y', 2 rows are dropped" in text for text in said)
    assert any(f"{odd}site={{d}} & " in text for text in said)
    assert any(f"single value in the subgroups '{odd}site=b & " in text for text in said)
    assert any(name.startswith(f"{odd}site=a & {odd}x<=1") for name in cohorts.names)
    build_product_sums({f"{{{n}}}": c for n, c in table().items()}, "{y}", groups="{site}")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 2000
    place = tmp_path_factory.mktemp("plans") / "rows.parquet"
    pl.DataFrame(
        {
            "site": rng.choice(["a", "b"], n),
            "few": rng.integers(4, size=n),
            "text": rng.choice(["u", "v", "w"], n),
            "many": rng.normal(size=n),
            "age": rng.integers(20, 90, n),
            "w": rng.gamma(2.0, size=n),
            "y": rng.integers(2, size=n),
        }
    ).write_parquet(place)
    return place


@pytest.mark.parametrize("weight", [None, "w"])
def test_every_query_of_a_file_is_one_aggregate(file, weight, monkeypatch):
    groups = ["site", {"age": [60]}]
    monkeypatch.setattr("misfeat.reading.engine_table.MOST_HELD", 0)  # small files are held
    with collected_queries(monkeypatch) as queries:
        build_cohorts(file, "y", groups=groups, sample_weight=weight, coding=Coding(max_rows=1000))
    # A single number, such as how many rows there are, may come from the footer of the file.
    tables = [query for query in queries if query.columns != ["one"]]
    assert [query.aggregates for query in tables] == [1] * len(tables)
    *_, codes = queries
    expected = ["key_0", "n_rows"] if weight is None else ["key_0", "n_rows", "mass", "square"]
    assert codes.columns == expected


def test_rows_drawn_without_a_value_of_the_target_are_refused(tmp_path):
    lines = [f"{'ab'[row % 2]},{row % 5},{row if row < 2 else ''}" for row in range(18)]
    (tmp_path / "t.csv").write_text("\n".join(["g,x,y", *lines]), encoding="utf-8")
    with pytest.raises(MisfeatError, match="None of the rows at hand has a value"):
        build_cohorts(str(tmp_path / "t.csv"), "y", groups="g", coding=Coding(max_rows=2))
