"""Any table becomes a table of ours, with target and subgroups beside it; or the error says why."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

from misfeat import Columns, MisfeatError, SubgroupSelector
from misfeat.cohorts import build_cohorts
from tests.cohorts.tables import table

HOLDERS = [dict, pd.DataFrame, pl.DataFrame, pa.table]
N = 60


def parts():
    """Features, the target's values, and the site of every row."""
    data = table()
    return {name: data[name] for name in data if name not in ("y", "site")}, data["y"], data["site"]


@pytest.mark.parametrize("hold", HOLDERS[1:])
def test_any_text_is_a_column_name(hold):
    for name in ("blood.pressure", "*", "`bt`", "^a$", "", "a b", "n_rows", "[red]x"):
        data = table()
        data[name] = data.pop("x")
        cohorts = build_cohorts(hold(data), "y", groups="site")
        assert name in cohorts.features
        assert cohorts.equals(build_cohorts(data, "y", groups="site"))


def test_names_that_occur_twice_or_are_numbers_among_texts_are_refused():
    X, y, _ = parts()
    first, second = list(X.values())[:2]
    fitted = SubgroupSelector(size=1).fit({"x": first}, y)
    for repeated in (
        pd.DataFrame(np.column_stack([first, second]), columns=["x", "x"]),
        pa.Table.from_arrays([pa.array(list(first)), pa.array(list(second))], names=["x", "x"]),
    ):
        with pytest.raises(MisfeatError, match="two columns named 'x'; rename or drop one"):
            SubgroupSelector(size=1).fit(repeated, y)
        with pytest.raises(MisfeatError, match="two columns named 'x'; rename or drop one"):
            fitted.transform(repeated)
    with pytest.raises(MisfeatError, match=r"one is 7 \(int\)"):
        build_cohorts(pd.DataFrame(table()).rename(columns={"z": 7}), "y")


def test_tables_without_columns_or_rows_and_what_is_not_a_table_are_refused():
    for X in (pd.DataFrame(index=range(N)), pl.DataFrame(), pa.table({}), {}):
        with pytest.raises(MisfeatError, match="The table has no columns; pass one"):
            SubgroupSelector(size=1).fit(X, parts()[1])
    empty = {name: column[:0] for name, column in table().items()}
    for X in (pd.DataFrame(empty), pl.DataFrame(empty), empty):
        with pytest.raises(MisfeatError, match="no rows"):
            build_cohorts(X, "y")
    with pytest.raises(MisfeatError, match="cannot be made of a set"):
        build_cohorts({1, 2}, "y")
    with pytest.raises(MisfeatError, match="1 dimension"):
        build_cohorts(np.arange(5), "y")
    with pytest.raises(MisfeatError, match="different lengths"):
        build_cohorts([[1, 2], [3]], [0, 1])


class Unspoken:
    def __str__(self) -> str:
        raise RuntimeError("no words")


NO_TABLES = {
    "Expected 2D array, got 1D": np.arange(N),
    "Found array with dim 3": np.zeros((N, 2, 2)),
    "Expected 2D array, got scalar": np.array(3.0),
    "Complex data not supported": np.ones((N, 2), dtype=complex),
    "of a structured array, pandas.DataFrame": np.zeros(N, dtype=[("a", "f8"), ("b", "i4")]),
    "Sparse data was passed": csr_matrix(np.eye(N)),
    "all rows of one length": [[1, 2], [3]],
    "Column 'x0' holds objects that cannot be read": np.array([[Unspoken()]] * N),
}


@pytest.mark.parametrize("complaint", NO_TABLES)
def test_arrays_that_are_no_table_are_refused_with_what_to_do(complaint):
    y = np.arange(N) % 2
    with pytest.raises(MisfeatError, match=complaint):
        SubgroupSelector(size=1).fit(NO_TABLES[complaint], y)
    fitted = SubgroupSelector(size=1).fit(np.c_[np.arange(N) % 3, np.arange(N) % 4], y)
    if "'x0'" not in complaint:
        with pytest.raises(MisfeatError, match=complaint):
            fitted.transform(NO_TABLES[complaint])


@pytest.mark.parametrize("hold", [*HOLDERS, lambda data: pl.DataFrame(data).lazy()])
def test_columns_of_groups_may_stand_in_one_text(hold):
    data = table() | {"sex": ["f", "m", "m"] * 20}
    expected = build_cohorts(hold(data), "y", groups=["site", "sex"])
    assert build_cohorts(hold(data), "y", groups="site, sex").equals(expected)
    with pytest.raises(MisfeatError, match="no column ' site'"):  # a name is what it is
        build_cohorts(hold(data), "y", groups=" site")
    cut = build_cohorts(hold(data), "y", groups=["sex", {"x": [0]}])
    assert build_cohorts(hold(data), "y", groups={"sex,x": [0]}).equals(cut)
    named = build_cohorts(hold(data | {"site,sex": ["u", "v"] * 30}), "y", groups="site,sex")
    assert named.names == ("site,sex=u", "site,sex=v")
    for wrong in ("site,six", "site,site", "site,"):
        with pytest.raises(MisfeatError, match=f"no column '{wrong}'"):
            build_cohorts(hold(data), "y", groups=wrong)


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
        lambda name, values: pd.Series(values, name=name),
        lambda name, values: pl.Series(name, values),
        lambda _, values: pa.chunked_array([list(values)]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_values_of_any_library_give_the_target_or_the_subgroups(column):
    X, y, site = parts()
    expected = build_cohorts({**X, "site": site, "goal": y}, "goal", groups="site")
    for hold in HOLDERS:
        asked = {"groups": pd.Series(site, name="site")}
        found = SubgroupSelector(size=1).fit(hold(X), column("goal", y), **asked).cohorts_
        assert np.array_equal(found.codes, expected.codes)
        assert np.array_equal(found.target_codes, expected.target_codes)
    selector = SubgroupSelector(size=1).fit(X, y, groups=column("site", site))
    assert [cohort.size for cohort in selector.cohorts_] == [c.size for c in expected]


def test_the_name_of_a_single_column_is_kept_and_rows_are_paired_by_position():
    X, y, site = parts()
    selector = SubgroupSelector(size=1).fit(
        X, pd.DataFrame({"goal": y}), groups=pl.DataFrame({"site": site})
    )
    assert selector.cohorts_.target == "goal"
    assert selector.cohorts_.names[0].startswith("site=")
    backwards = pd.DataFrame(X, index=np.arange(N)[::-1])
    assert build_cohorts(backwards, pd.Series(y)).equals(build_cohorts(X, y))
    assert build_cohorts({**X, "target": X["x"]}, y).target == "target_"


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([1, 2], r"has shape \(2,\), but X has 60 rows; pass one value per row"),
        (pd.Series([1, 2]), r"has shape \(2,\), but X has 60 rows; pass one value per row"),
        (np.zeros((N, 2)), r"has shape \(60, 2\), but X has 60 rows"),
        (pd.DataFrame({"p": range(N), "q": range(N)}), r"has 2 columns \('p', 'q'\)"),
        (pl.LazyFrame({"p": range(N)}), "is lazy, so that its rows have no order"),
        (5, "is 5; pass one value per row"),
        ({"a": 1}, r"is \{'a': 1\}; pass one value per row"),
        ([{}] * N, "holds values that cannot be scored"),
        ([[1], [1, 2]] * 30, "has rows of different lengths"),
    ],
)
def test_values_that_do_not_fit_are_called_what_they_are(values, complaint):
    X, y, site = parts()
    for hold in HOLDERS:
        for what in ("y", "groups"):
            given = {"y": y, "groups": site, what: values}
            with pytest.raises(MisfeatError, match=f"^{what} {complaint}"):
                SubgroupSelector(size=1).fit(hold(X), **given)


def test_a_target_of_several_types_is_text():
    X, _, _ = parts()
    y = np.array([1, "a", None] * 20, dtype=object)
    for hold in HOLDERS:
        assert build_cohorts(hold(X), y).classes == ("1", "a")


def test_a_target_that_would_predict_itself_is_refused():
    frame = pd.DataFrame(table())
    with pytest.raises(MisfeatError, match="'y' is also a column of X"):
        build_cohorts(frame, frame["y"])


def test_the_name_of_a_column_goes_to_the_estimator():
    with pytest.raises(MisfeatError, match=r"SubgroupSelector\(groups='site'\)"):
        SubgroupSelector(size=1).fit(table(), "y", groups="site")


def test_lazy_tables_take_no_values_of_rows():
    X, y, site = parts()
    lazy = pl.LazyFrame({**X, "y": y})
    with pytest.raises(MisfeatError, match=r"^groups must be the name of a column.*to Subgroup"):
        SubgroupSelector(size=1).fit(lazy, "y", groups=site)
    with pytest.raises(MisfeatError, match=r"^y must be the name of a column.*as y"):
        SubgroupSelector(size=1).fit(lazy, y)


def test_arrays_have_numbered_columns(rng):
    cohorts = build_cohorts(rng.integers(2, size=(20, 3)), rng.integers(2, size=20))
    assert cohorts.features == ("x0", "x1", "x2")
    assert build_cohorts([[0, 1], [1, 0]], [0, 1]).features == ("x0", "x1")


def test_subgroups_that_would_share_a_name_are_told_apart():
    data = table(a=np.array(["A & q=B", "A"] * 30), q=np.array(["C", "B & q=C"] * 30))
    cohorts = build_cohorts(data, "y", groups=["a", "q"])
    assert cohorts.names == ("a=A & q=B & q=C", "a=A & q=B & q=C (2)")
