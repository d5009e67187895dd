import importlib.util
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from misfeat import Coding, MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.completion import InteractionsCompleter
from misfeat.datasets import make_cohorts
from misfeat.information.measures import MutualInformation
from tests.reading.holders import as_rows


@pytest.fixture(scope="module")
def generated():
    return make_cohorts(n_cohorts=3, n_rows=800, n_features=6, hide=0.3, random_state=0)


@pytest.fixture(scope="module")
def ask(generated):
    """Fits a selector with some settings."""
    return lambda size=2, **settings: SubgroupSelector("cohort", size, **settings).fit(
        generated.columns, "target"
    )


@pytest.fixture(scope="module")
def fitted(ask):
    return ask(k=4)


def by_set(frame):
    return {(row["subgroup"], *row["features"]): row for row in as_rows(frame)}


def test_top_k_holds_the_best_sets_of_every_subgroup_best_first(fitted):
    best, scores = as_rows(fitted.top_k()), as_rows(fitted.scores())
    for name in fitted.cohorts_.names:
        ranked = [row for row in best if row["subgroup"] == name]
        own = sorted((row["score"] for row in scores if row["subgroup"] == name), reverse=True)
        assert [row["rank"] for row in ranked] == [1, 2, 3, 4]
        assert [row["score"] for row in ranked] == own[:4]


def test_scores_hold_every_set_once_in_column_order(fitted):
    rows = as_rows(fitted.scores(subgroup="cohort=c1"))
    columns = list(fitted.cohorts_.features)
    expected = [[a, b] for i, a in enumerate(columns) for b in columns[i + 1 :]]
    assert [row["features"] for row in rows] == expected
    names = "subgroup features score low high share observed p_value source missing support"
    assert list(rows[0]) == names.split()


@pytest.mark.parametrize("estimate", ["population", "above_chance", "sample"])
def test_recorded_and_predicted_sets_are_told_apart(ask, estimate):
    selector = ask(estimate=estimate)
    plug_in = MutualInformation(selector.cohorts_)
    entropy = dict(zip(selector.cohorts_.names, plug_in.whole, strict=True))
    for row in as_rows(selector.scores()):
        absent = selector.cohorts_.missing_features(row["subgroup"])
        assert row["missing"] == [f for f in row["features"] if f in absent]
        assert row["source"] == ("predicted" if row["missing"] else "recorded")
        assert row["low"] <= row["score"] <= row["high"]
        assert row["share"] == pytest.approx(row["score"] / entropy[row["subgroup"]])
        assert (row["observed"] is None) == bool(row["missing"])
        certain = estimate == "sample" and row["source"] == "recorded"
        assert (row["low"] == row["high"]) == certain
        if certain:
            assert row["score"] == pytest.approx(row["observed"], abs=1e-12)


def test_what_the_rows_score_is_the_same_whatever_is_estimated(ask):
    every, few = by_set(ask(estimate="sample").top_k(k=99)), by_set(ask(k=3).top_k())
    assert len(few) < len(every)
    for one, row in few.items():
        observed = every[one]["observed"]
        assert row["observed"] == (observed and pytest.approx(observed, abs=1e-12))


def test_no_set_tells_less_than_a_part_of_it(ask):
    selector = ask(size=3)
    below = by_set(selector.scores(2))
    for row in as_rows(selector.scores(3)):
        for part in combinations(row["features"], 2):
            for name in ("score", "low", "high"):
                assert row[name] >= below[(row["subgroup"], *part)][name]


def test_a_target_dealt_out_at_random_tells_next_to_nothing(generated):
    rng = np.random.default_rng(0)
    columns = dict(generated.columns)
    columns["target"] = rng.permutation(columns["target"])

    def best(estimate):
        selector = SubgroupSelector(generated.groups, size=3, k=1, estimate=estimate)
        return np.array(
            [one.share for one in best_sets(selector.fit(columns, "target").selection_)]
        )

    assert (best("population") < 0.01).all()
    assert (best("sample") > 2 * best("population")).all()


def test_certain_bounds_of_a_population_are_what_is_possible(ask):
    scores = ask(confidence=None).scores()
    assert (scores["low"] == 0).all()
    ceiling = scores["score"] / scores["share"]
    assert np.allclose(scores["high"], ceiling)


@pytest.mark.parametrize("completer", ["interactions", "transfer"])
def test_a_population_is_estimated_whatever_predicts(ask, fitted, completer):
    found, usual = ask(completer=completer).scores(), fitted.scores()
    assert (found["low"] <= found["score"]).all()
    assert (found["score"] <= found["high"]).all()
    predicted = found["source"] == "predicted"
    assert not np.allclose(found["score"][predicted], usual["score"][predicted])
    assert np.corrcoef(found["score"], usual["score"])[0, 1] > 0.4
    recorded = ~predicted
    assert np.corrcoef(found["score"][recorded], usual["score"][recorded])[0, 1] > 0.99


def test_predictions_come_near_the_truth_of_the_population(fitted, generated):
    scores = fitted.scores()
    predicted = scores[scores["source"] == "predicted"]
    truth = list(map(generated.true_score, predicted["subgroup"], predicted["features"]))
    errors, floors = predicted["score"] - truth, predicted["low"] - truth
    assert np.mean(np.square(errors)) < np.mean(np.square(floors))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_come_back_in_the_library_the_user_came_with(generated, library):
    table = library(generated.columns)
    selector = SubgroupSelector(groups="cohort", size=1, k=1).fit(table, "target")
    kind = pa.Table if library is pa.table else library
    for frame in (selector.top_k(), selector.scores(), selector.subgroups_):
        assert isinstance(frame, kind)


def test_subgroups_tell_their_rows_entropy_and_gaps(fitted, generated):
    for row in as_rows(fitted.subgroups_):
        cohort = row["subgroup"].removeprefix("cohort=")
        target = generated.columns["target"][generated.columns["cohort"] == cohort]
        share = np.bincount(target) / len(target)
        assert row["rows"] == 800
        assert row["target_entropy"] == pytest.approx(-(share * np.log(share)).sum())
        assert row["missing"] == list(fitted.cohorts_.missing_features(row["subgroup"]))


def test_ties_are_ranked_in_the_order_of_the_columns():
    twice = [0, 1, 1] * 20
    table = {"b": twice, "c": [0, 0, 1] * 20, "a": twice, "y": [0, 1, 1, 0, 1, 0] * 10}
    tied = as_rows(SubgroupSelector(size=1, k=2).fit(table, "y").top_k())
    assert [row["features"] for row in tied] == [["b"], ["a"]]
    assert tied[0]["score"] == tied[1]["score"]


def test_a_selector_can_be_cloned_and_reset_also_in_nested_settings():
    selector = SubgroupSelector(groups={"age": [40]}, size=2, coding=Coding(bins={"x": [1]}))
    twin = clone(selector)
    assert str(twin.get_params()) == str(selector.get_params())
    assert twin.set_params(size=4).size == 4
    selector = SubgroupSelector().set_params(coding__min_rows=30, columns__keep="top_k")
    assert (selector.coding.min_rows, selector.columns.keep) == (30, "top_k")
    assert clone(selector).get_params()["coding__min_rows"] == 30
    with pytest.raises(ValueError, match="Invalid parameter 'rows'"):
        selector.set_params(coding__rows=3)


def test_settings_that_hold_none_or_nonsense_are_told_apart(ask, generated):
    selector = SubgroupSelector().set_params(coding=None, coding__bins=3)
    assert selector.coding.bins == 3
    with pytest.raises(MisfeatError, match="coding=3; it must be a Coding"):
        SubgroupSelector(coding=3).set_params(coding__bins=3)
    fitted = ask(size=1)
    for wrong in ("best", 0, {}):
        with pytest.raises(MisfeatError, match="it must be a Columns, or None"):
            fitted.set_params(columns=wrong).transform(generated.columns)


def test_a_completer_that_gives_no_scores_is_named(ask):
    class Nothing(InteractionsCompleter):
        def complete(self, known, size):
            return None

    with pytest.raises(MisfeatError, match="'Nothing' gave NoneType instead of scores"):
        ask(estimate="sample", completer=Nothing())


def test_targets_and_sizes_that_make_little_sense_are_pointed_out(ask, generated):
    table = {**generated.columns, "target": np.ones(len(generated.columns["target"]))}
    with pytest.warns(MisfeatWarning, match="single value in all rows.*Choose another target"):
        SubgroupSelector("cohort", size=1).fit(table, "target")
    with pytest.warns(MisfeatWarning, match=r"size=7 is greater than n_features=6; all features"):
        selector = ask(size=7, k=1)
    assert {len(best.features) for best in best_sets(selector.selection_)} == {6}


def test_answers_need_a_fit_first():
    for ask in ("top_k", "scores", "path"):
        with pytest.raises(NotFittedError):
            getattr(SubgroupSelector(), ask)()
    with pytest.raises(NotFittedError):
        _ = SubgroupSelector().subgroups_


def test_questions_that_make_no_sense_are_refused(fitted):
    with pytest.raises(MisfeatError, match="size=9 is larger"):
        fitted.top_k(size=9)
    with pytest.raises(MisfeatError, match="size=0"):
        fitted.scores(size=0)
    with pytest.raises(MisfeatError, match="k=-1"):
        fitted.top_k(k=-1)
    with pytest.raises(MisfeatError, match="no subgroup 'c9'"):
        fitted.top_k(subgroup="c9")


def test_frames_need_a_dataframe_library_and_take_any_that_is_installed(fitted, monkeypatch):
    monkeypatch.setattr("misfeat.reading.dataframe_libraries.find_spec", lambda _: None)
    with pytest.raises(MisfeatError, match="install one of pandas, polars or pyarrow"):
        fitted.top_k()
    assert best_sets(fitted.selection_)
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "misfeat.reading.dataframe_libraries.find_spec",
        lambda name: name != "pandas" and real(name),
    )
    assert isinstance(fitted.top_k(), pl.DataFrame)


@pytest.mark.parametrize("estimate", ["above_chance", "sample"])
@pytest.mark.parametrize("sampler", ["randwalk", "arbitrary", "stratified"])
def test_a_budget_computes_its_share_and_predicts_the_rest(ask, sampler, estimate):
    def recorded(selector, size):
        return sum(selector.scores(size)["source"] == "recorded")

    asked = {"random_state": 0, "estimate": estimate}
    whole, part = ask(**asked), ask(**asked, budget=0.5, sampler=sampler)
    assert 0 < recorded(part, 2) < recorded(whole, 2)
    scores = by_set(whole.scores())
    for one, row in by_set(part.scores()).items():
        assert 0 <= row["low"] <= row["score"] <= row["high"]
        if row["source"] == "recorded" and estimate == "sample":
            assert row["score"] == pytest.approx(scores[one]["score"], abs=1e-12)
    computed, computable = (recorded(one, 1) + recorded(one, 2) for one in (part, whole))
    assert computed == pytest.approx(0.5 * computable, abs=6)


def test_unsampled_sets_are_predicted_between_what_is_known(ask):
    found = by_set(ask(size=3, budget=0.6, random_state=1, estimate="sample").scores())
    exact = by_set(ask(size=3, estimate="sample").scores())
    unsampled = [
        (row["score"], exact[one]["score"])
        for one, row in found.items()
        if row["source"] == "predicted" and not row["missing"]
    ]
    guessed, true = np.transpose(unsampled)
    assert np.sqrt(np.mean((guessed - true) ** 2)) < true.std()


def test_a_seed_repeats_what_a_budget_chooses(ask):
    def chosen(seed):
        return list(ask(budget=0.3, random_state=seed, estimate="sample").scores()["source"])

    assert chosen(3) == chosen(3)
    assert chosen(3) != chosen(4)


def test_a_fit_that_fails_leaves_the_last_answer_alone(ask, generated):
    selector = ask(k=1)
    before = as_rows(selector.top_k())
    with pytest.raises(MisfeatError):
        selector.set_params(size=0).fit(generated.columns, "target")
    assert as_rows(selector.set_params(size=2).top_k()) == before
    failed = SubgroupSelector(groups="cohort", size=0)
    with pytest.raises(MisfeatError):
        failed.fit(generated.columns, "target")
    with pytest.raises(NotFittedError):
        failed.top_k(size=1)


def test_a_table_without_a_feature_says_what_to_do():
    y = [0, 1, 0, 1]
    with pytest.raises(MisfeatError, match=r"only the target .*; add columns that may "):
        SubgroupSelector("g", size=1).fit({"g": ["a", "a", "b", "b"], "y": y}, "y")
    constants = {f"x{i}": [1, 1, 1, 1] for i in range(30)}
    with pytest.raises(MisfeatError, match=r"'x9': constant and 20 more; add columns"):
        SubgroupSelector(size=1).fit({**constants, "y": y}, "y")


@pytest.mark.parametrize(
    ("features", "complaint"),
    [
        (None, "features=None; name at least one feature"),
        ([], r"features=\[\]; name at least one feature"),
        (["f1", "f2", "f1"], "features names 'f1' twice"),
        (5, "features=5; it must be a list of names"),
        ([1, 2], r"features=\[1, 2\]; it must be a list of names"),
        ({"f1": 1}, "it must be a list of names"),
        (["target"], "'target' was asked for as a feature, but it is the target"),
        (["cohort"], "'cohort' .*, but it tells the subgroups apart"),
    ],
)
def test_sets_that_are_none_have_no_score(fitted, features, complaint):
    with pytest.raises(MisfeatError, match=complaint):
        fitted.score_of("cohort=c1", features)


def test_a_score_is_asked_for_by_any_list_of_names(fitted):
    score = fitted.score_of("cohort=c1", ["f1", "f2"])
    for features in (("f2", "f1"), np.array(["f2", "f1"]), pd.Index(["f1", "f2"]), {"f1", "f2"}):
        assert fitted.score_of("cohort=c1", features) == score
    assert fitted.score_of("cohort=c1", "f1") == fitted.score_of("cohort=c1", ["f1"])


def test_rows_that_count_only_where_complete_have_wide_bounds():
    rng = np.random.default_rng(0)
    n = 300
    site = np.repeat(np.array(["p", "q"], dtype=object), n // 2)
    y = rng.integers(2, size=n)
    a = np.where(rng.random(n) < 0.3, np.nan, (y + (rng.random(n) < 0.2)) % 2)
    b = np.where((rng.random(n) < 0.3) | (site == "q"), np.nan, rng.integers(3, size=n))
    table = {"site": site, "a": a, "b": b, "c": rng.integers(2, size=n), "y": y}
    asked = SubgroupSelector(
        groups="site", size=2, confidence=None, coding=Coding(sporadic="available")
    )
    selector = asked.fit(table, "y")
    for row in as_rows(selector.scores()):
        assert row["low"] <= row["score"] <= row["high"]
        if row["source"] == "predicted":
            assert (row["low"], row["high"]) == (0.0, pytest.approx(np.log(2)))


def test_a_cohort_that_recorded_nothing_gets_predictions():
    rng = np.random.default_rng(0)
    n = 60
    absent = np.full(n, np.nan)
    table = {
        "g": np.repeat(np.array(["a", "b"], dtype=object), n),
        "x": np.r_[rng.integers(2, size=n), absent],
        "z": np.r_[rng.integers(2, size=n), absent],
        "y": rng.integers(2, size=2 * n),
    }
    for parameters in ({}, {"budget": np.float32(0.5)}, {"measure": "r2"}):
        selector = SubgroupSelector(groups="g", size=2, **parameters).fit(table, "y")
        assert [row["source"] for row in as_rows(selector.scores())][-1] == "predicted"
