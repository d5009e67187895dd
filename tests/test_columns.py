import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from misfeat import Coding, Columns, MisfeatError, SubgroupSelector, UnseenSubgroupWarning
from misfeat.datasets import make_cohorts
from tests.reading.holders import as_rows

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def not_expected(estimator):
    """The checks of sample weights that an estimator does not pass, and why."""
    if estimator.weights != "sampling":
        return {}
    reason = "a row that stands for two of the population tells less than two rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [SubgroupSelector(), SubgroupSelector(size=1), SubgroupSelector(weights="frequency")],
    expected_failed_checks=not_expected,
)
@pytest.mark.filterwarnings("ignore:size=3 is greater than n_features")
def test_scikit_learn_finds_an_estimator_of_its_own_kind(estimator, check):
    check(estimator)


@pytest.fixture(params=LIBRARIES)
def make(request):
    return LIBRARIES[request.param]


@pytest.fixture
def columns():
    data = make_cohorts(3, 400, 5, hide=0.0, random_state=0)
    return {**data.complete, "cohort": data.complete["cohort"].astype(str)}


def names_of(table):
    return list(getattr(table, "column_names", None) or table.columns)


def test_as_many_columns_as_asked_for_are_kept_unless_each_subgroup_is_to_have_its_own(columns):
    selector = SubgroupSelector("cohort", size=2).fit(columns, "target")
    assert selector.get_support().sum() == 2
    assert len(selector.for_subgroup("cohort=c1").features) == 2
    assert selector.set_params(columns=Columns(keep="each")).get_support().sum() > 2
    assert selector.set_params(columns__keep="top_k", k=4).get_support().sum() > 2
    with pytest.raises(MisfeatError, match="keep='all' is unknown; use 'best', 'each' or 'top_k'"):
        selector.set_params(columns__keep="all").transform(columns)


def test_the_union_of_the_best_sets_is_kept_in_the_library_that_came(make, columns):
    table = make(columns)
    selector = SubgroupSelector("cohort", size=2, columns=Columns(keep="each"))
    selector.fit(table, "target")
    kept = selector.transform(table)
    assert type(kept) is type(table)
    best = selector.top_k(k=1)
    wanted = {feature for row in as_rows(best) for feature in row["features"]}
    assert names_of(kept) == [name for name in columns if name in wanted]
    assert selector.get_feature_names_out().tolist() == names_of(kept)
    assert selector.feature_names_in_.tolist() == ["cohort", "f1", "f2", "f3", "f4", "f5"]
    assert selector.n_features_in_ == 6
    assert selector.get_support().sum() == len(names_of(kept))
    indices = selector.get_support(indices=True)
    assert selector.feature_names_in_[indices].tolist() == names_of(kept)


def test_the_k_best_sets_and_the_group_columns_are_kept_if_asked_for(make, columns):
    table = make(columns)
    usual = SubgroupSelector("cohort", size=2).fit(table, "target")
    more = SubgroupSelector("cohort", size=2, k=4, columns=Columns(keep="top_k", keep_groups=True))
    names = names_of(more.fit_transform(table, "target"))
    assert names[0] == "cohort"
    assert set(names) > set(names_of(usual.transform(table)))


def test_types_of_columns_survive():
    table = pl.DataFrame(
        {
            "kind": pl.Series(["a", "b", "c", "a"] * 25, dtype=pl.Categorical),
            "flag": pl.Series([0, 1, 0, 0] * 25, dtype=pl.Int8),
            "noise": list(range(4)) * 25,
        }
    )
    y = [1, 0, 0, 1] * 25
    kept = SubgroupSelector(size=3).fit_transform(table, y)
    assert kept.schema == table.schema
    lazy = SubgroupSelector(size=2).fit(table.lazy(), "flag")
    assert isinstance(lazy.transform(table.lazy()), pl.LazyFrame)


def test_arrays_and_mappings_come_back_as_they_came(columns):
    features = {name: columns[name] for name in ("f1", "f2", "f3")}
    array = np.column_stack(list(features.values()))
    selector = SubgroupSelector(size=1).fit(array, columns["target"], groups=columns["cohort"])
    assert selector.subgroups_["subgroup"].tolist() == ["group=c1", "group=c2", "group=c3"]
    kept = selector.transform(array)
    assert kept.shape[0] == len(array)
    assert not hasattr(selector, "feature_names_in_")
    by_name = SubgroupSelector(size=1).fit(features, columns["target"], groups=columns["cohort"])
    assert list(by_name.transform(features)) == by_name.get_feature_names_out().tolist()
    assert selector.get_support().tolist() == by_name.get_support().tolist()
    named = selector.get_feature_names_out(["p", "q", "r"])
    assert named.tolist() == np.array(["p", "q", "r"])[selector.get_support()].tolist()


def test_groups_are_given_once(columns):
    table = pd.DataFrame(columns)
    given = SubgroupSelector(size=1).fit(
        table.drop(columns="cohort"), "target", groups=table["cohort"]
    )
    named = SubgroupSelector("cohort", size=1).fit(table, "target")
    pd.testing.assert_frame_equal(given.top_k(), named.top_k())
    with pytest.raises(MisfeatError, match="Subgroups were given twice"):
        SubgroupSelector("cohort").fit(table, "target", groups=table["cohort"])
    with pytest.raises(MisfeatError, match="has shape"):
        SubgroupSelector().fit(table, "target", groups=[1, 2, 3])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_decides_the_library(make, columns, library):
    table = make(columns)
    selector = SubgroupSelector("cohort", size=1).fit(table, "target").set_output(transform=library)
    kept = selector.transform(table)
    assert type(kept) is LIBRARIES[library]
    assert names_of(kept) == selector.get_feature_names_out().tolist()


def test_one_subgroup_has_a_transformer_of_its_own(make, columns):
    table = make(columns)
    selector = SubgroupSelector("cohort", size=2).fit(table, "target")
    best = selector.answer("cohort=c2")
    own = selector.for_subgroup("cohort=c2")
    assert names_of(own.transform(table)) == list(best.features)
    assert names_of(clone(own).fit(table).transform(table)) == list(best.features)
    with pytest.raises(MisfeatError, match="There is no subgroup 'c7'"):
        selector.for_subgroup("c7")


def test_other_columns_than_at_fit_are_refused(make, columns):
    table = make(columns)
    selector = SubgroupSelector("cohort", size=1).fit(table, "target")
    without_target = make({k: v for k, v in columns.items() if k != "target"})
    assert names_of(selector.transform(without_target))
    for other, message in (
        (make({k: v for k, v in columns.items() if k != "f1"}), "yet now missing:\n- f1"),
        (make({**columns, "new": columns["f1"]}), "unseen at fit time:\n- new"),
        (make(dict(reversed(columns.items()))), "same order"),
        ("table.csv", "not a path"),
    ):
        with pytest.raises(MisfeatError, match=message):
            selector.transform(other)


def test_unseen_subgroups_are_ignored_or_named(make, columns):
    known = np.asarray(columns["cohort"]) != "c3"
    seen = make({name: np.asarray(values)[known] for name, values in columns.items()})
    whole = make(columns)

    def kept(unseen):
        asked = SubgroupSelector("cohort", size=1, columns=Columns(unseen=unseen))
        selector = asked.fit(seen, "target")
        assert names_of(selector.transform(seen))
        return selector.transform(whole)

    assert names_of(kept("ignore"))
    with pytest.warns(UnseenSubgroupWarning, match="'cohort=c3'"):
        assert len(kept("warn")) == len(whole)
    with pytest.raises(MisfeatError, match="not there at fit: 'cohort=c3'"):
        kept("error")
    with pytest.raises(MisfeatError, match="unseen='skip' is unknown"):
        SubgroupSelector(columns=Columns(unseen="skip")).fit(whole, "target")


def sites(**columns):
    """Four sites of 150, 150, 150 and 140 rows."""
    rng = np.random.default_rng(0)
    site = np.repeat(["a", "b", "c", "d"], [150, 150, 150, 140])
    table = {f"x{i}": rng.integers(3, size=len(site)) for i in range(1, 4)}
    target = (table["x1"] + rng.integers(2, size=len(site)) > 1).astype(float)
    return pd.DataFrame({"site": site, **table, "y": target, **columns})


@pytest.mark.parametrize("unseen", ["error", "warn"])
@pytest.mark.parametrize("small_groups", ["merge", "drop"])
@pytest.mark.filterwarnings("ignore:The merged subgroup 'other' has 140 rows")
def test_subgroups_that_were_merged_or_left_out_have_been_seen(unseen, small_groups, tmp_path):
    table = sites()
    coding = Coding(min_rows=145, small_groups=small_groups)
    asked = SubgroupSelector("site", size=2, coding=coding, columns=Columns(unseen=unseen))
    selector = asked.fit(table, "y")
    assert "site=d" not in selector.cohorts_.names
    selector.save(tmp_path / "run")
    loaded = SubgroupSelector.load(tmp_path / "run")
    for known in (selector, pickle.loads(pickle.dumps(selector)), loaded):  # noqa: S301
        assert len(known.transform(table)) == len(table)
        new = table.assign(site=table["site"].replace("b", "e"))
        if unseen == "error":
            with pytest.raises(MisfeatError, match=r"not there at fit: 'site=e'\. Fit"):
                known.transform(new)
        else:
            with pytest.warns(UnseenSubgroupWarning, match=r"not there at fit: 'site=e'\. Fit"):
                known.transform(new)


@pytest.mark.parametrize(
    "groups", ["site", {"site": {"a": "a", "b": "b", "*": "other"}}, ["site", {"x3": [1]}]]
)
def test_a_few_rows_of_seen_subgroups_are_transformed(groups):
    table = sites()
    selector = SubgroupSelector(groups, size=2, columns=Columns(unseen="error")).fit(table, "y")
    for rows in (table.iloc[[0]], table.iloc[[0, 589]], table.iloc[[0, 200, 589]]):
        assert len(selector.transform(rows)) == len(rows)


def test_it_is_searched_over_in_a_pipeline(columns):
    table = pd.DataFrame(columns)
    X, y = table.drop(columns="target"), table["target"]
    pipeline = make_pipeline(
        SubgroupSelector("cohort", random_state=0), HistGradientBoostingClassifier(max_iter=5)
    )
    grid = {
        "subgroupselector__size": [1, 2],
        "subgroupselector__completer": ["interactions", "transfer"],
    }
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_params_["subgroupselector__size"] in (1, 2)
    assert search.best_estimator_[:-1].get_feature_names_out().size > 0
    assert set(search.predict(X)) <= set(y)


def test_groups_are_routed_as_metadata(columns):
    table = pd.DataFrame(columns)
    X, y = table[["f1", "f2", "f3"]], table["target"]
    folds = np.arange(len(y)) % 6
    with config_context(enable_metadata_routing=True):
        selector = SubgroupSelector(size=1).set_fit_request(groups=True)
        pipeline = make_pipeline(selector, HistGradientBoostingClassifier(max_iter=5))
        scores = cross_validate(pipeline, X, y, cv=GroupKFold(3), params={"groups": folds})
    assert len(scores["test_score"]) == 3


def test_it_works_beside_other_columns(columns):
    table = pd.DataFrame(columns)
    parts = ColumnTransformer(
        [("best", SubgroupSelector("cohort", size=1), ["cohort", "f1", "f2"])],
        remainder="passthrough",
    )
    out = parts.set_output(transform="pandas").fit_transform(
        table.drop(columns="target"), table["target"]
    )
    assert {"remainder__f3", "remainder__f4", "remainder__f5"} < set(out.columns)
    assert any(name.startswith("best__f") for name in out.columns)


def test_columns_of_pandas_that_only_have_numbers_are_those_of_an_array():
    rng = np.random.default_rng(0)
    array = rng.integers(3, size=(120, 4))
    y = (array[:, 2] > 0).astype(int)
    frame = pd.DataFrame(array)
    selector = SubgroupSelector(size=1).fit(frame, y)
    expected = SubgroupSelector(size=1).fit(array, y)
    assert selector.cohorts_.equals(expected.cohorts_)
    assert selector.get_feature_names_out().tolist() == ["x2"]
    assert not hasattr(selector, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert selector.transform(frame).columns.tolist() == ["x2"]
        assert selector.transform(array).ravel().tolist() == array[:, 2].tolist()
        assert expected.transform(frame)["x2"].tolist() == array[:, 2].tolist()
    grouped = SubgroupSelector("x0", size=1).fit(frame, pd.DataFrame(y))
    assert grouped.cohorts_.names == ("x0=0", "x0=1", "x0=2")
    assert grouped.cohorts_.target == "target"
