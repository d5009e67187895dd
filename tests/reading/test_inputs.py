from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from misfeat import Columns, MisfeatError, SubgroupSelector
from misfeat.cohorts import build_cohorts
from tests.cohorts.tables import table

HOLDERS = {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
N = 60


@pytest.fixture(params=HOLDERS)
def hold(request):
    return HOLDERS[request.param]


def parts():
    """Features, the target's values, and the site of every row."""
    data = table()
    return {name: data[name] for name in data if name not in ("y", "site")}, data["y"], data["site"]


def with_repeated_name(library):
    X, _, _ = parts()
    values = list(X.values())[:2]
    if library == "pandas":
        return pd.DataFrame(np.column_stack(values), columns=["x", "x"])
    return pa.Table.from_arrays([pa.array(list(v)) for v in values], names=["x", "x"])


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_column_name_that_occurs_twice_is_named(library):
    repeated = with_repeated_name(library)
    _, y, _ = parts()
    with pytest.raises(MisfeatError, match="two columns named 'x'; rename or drop one"):
        SubgroupSelector(size=1).fit(repeated, y)
    fitted = SubgroupSelector(size=1).fit({"x": repeated["x"].iloc[:, 0]} if library == "pandas"
                                          else {"x": repeated.column(0).to_numpy()}, y)  # fmt: skip
    with pytest.raises(MisfeatError, match="two columns named 'x'; rename or drop one"):
        fitted.transform(repeated)


@pytest.mark.parametrize(
    "X", [pd.DataFrame(index=range(N)), pl.DataFrame(), pa.table({}), {}], ids=repr
)
def test_a_table_without_columns_is_refused(X):
    with pytest.raises(MisfeatError, match="The table has no columns; pass one"):
        SubgroupSelector(size=1).fit(X, parts()[1])


def test_the_advice_for_columns_of_several_levels_works():
    X, y, _ = parts()
    frame = pd.DataFrame(X)
    frame.columns = pd.MultiIndex.from_product([["lab"], frame.columns])
    selector = SubgroupSelector(size=1)
    with pytest.raises(MisfeatError, match="of several levels; join them with") as caught:
        selector.fit(frame, y)
    advice = str(caught.value).split("join them with ")[1].removesuffix(".")
    exec(advice, {"X": frame})  # noqa: S102
    assert selector.fit(frame, y).feature_names_in_.tolist() == [f"lab_{name}" for name in X]


def test_a_record_batch_is_a_table():
    X, y, _ = parts()
    whole = pa.table(X)
    (batch,) = whole.to_batches()
    strict = Columns(unseen="error")
    selector = SubgroupSelector(size=1, columns=strict).fit(batch, y)
    assert selector.feature_names_in_.tolist() == list(X)
    expected = SubgroupSelector(size=1).fit(whole, y).top_k()
    unasked = ["p_value"]  # which is no number, and so equals nothing
    assert selector.top_k().drop(unasked).equals(expected.drop(unasked))
    assert selector.transform(batch).equals(selector.transform(whole))
    grouped = SubgroupSelector("site", size=1, columns=strict)
    (batch,) = pa.table(table()).to_batches()
    assert len(grouped.fit(batch, "y").transform(batch)) == len(batch)


@pytest.mark.parametrize(
    "column",
    [
        lambda _, values: np.asarray(values)[:, None],
        lambda _, values: [[value] for value in values],
        lambda name, values: pd.DataFrame({name: values}),
        lambda name, values: pl.DataFrame({name: values}),
        lambda name, values: pa.table({name: values}),
    ],
    ids=["array", "list", "pandas", "polars", "pyarrow"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_table_of_one_column_gives_the_target_or_the_subgroups(hold, column):
    X, y, site = parts()
    expected = build_cohorts({**X, "site": site, "goal": y}, "goal", groups="site")
    selector = SubgroupSelector(size=1).fit(hold(X), y, groups=column("site", site))
    assert [cohort.size for cohort in selector.cohorts_] == [c.size for c in expected]
    named = {"groups": pd.Series(site, name="site")}
    selector = SubgroupSelector(size=1).fit(hold(X), column("goal", y), **named)
    assert np.array_equal(selector.cohorts_.codes, expected.codes)
    assert np.array_equal(selector.cohorts_.target_codes, expected.target_codes)


def test_the_name_of_a_single_column_is_kept():
    X, y, site = parts()
    selector = SubgroupSelector(size=1).fit(
        X, pd.DataFrame({"goal": y}), groups=pl.DataFrame({"site": site})
    )
    assert selector.cohorts_.target == "goal"
    assert selector.cohorts_.names[0].startswith("site=")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([1, 2], r"has shape \(2,\), but X has 60 rows; pass one value per row"),
        (np.zeros((N, 2)), r"has shape \(60, 2\), but X has 60 rows"),
        (pd.DataFrame({"p": range(N), "q": range(N)}), r"has 2 columns \('p', 'q'\)"),
        (pl.LazyFrame({"p": range(N)}), "is lazy, so that its rows have no order"),
        (5, "is 5; pass one value per row"),
        ({"a": 1}, r"is \{'a': 1\}; pass one value per row"),
        ([{}] * N, "holds values that cannot be scored"),
        ([[1], [1, 2]] * 30, "has rows of different lengths"),
    ],
    ids=["short", "wide", "two columns", "lazy", "number", "mapping", "objects", "ragged"],
)
@pytest.mark.parametrize("what", ["y", "groups"])
def test_values_that_do_not_fit_are_called_what_they_are(hold, values, complaint, what):
    X, y, site = parts()
    given = {"y": y, "groups": site, what: values}
    with pytest.raises(MisfeatError, match=f"^{what} {complaint}"):
        SubgroupSelector(size=1).fit(hold(X), **given)


def test_the_name_of_a_column_goes_to_the_estimator(hold):
    with pytest.raises(MisfeatError, match=r"SubgroupSelector\(groups='site'\)"):
        SubgroupSelector(size=1).fit(hold(table()), "y", groups="site")


def test_lazy_tables_take_no_values_of_rows():
    X, y, site = parts()
    lazy = pl.LazyFrame({**X, "y": y})
    with pytest.raises(MisfeatError, match=r"^groups must be the name of a column.*to Subgroup"):
        SubgroupSelector(size=1).fit(lazy, "y", groups=site)
    with pytest.raises(MisfeatError, match=r"^y must be the name of a column.*as y"):
        SubgroupSelector(size=1).fit(lazy, y)


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
