from dataclasses import replace

import numpy as np
import pytest

from misfeat import Columns, MisfeatError, MisfeatWarning, SubgroupSelector
from misfeat.answers.nested_cross_validation import FoldChoice
from misfeat.answers.performance import model_performance
from misfeat.answers.recommendation import recording_sentences
from misfeat.answers.recording_plan import PlanStep
from misfeat.answers.subgroup_significance import Effort, effort_for
from misfeat.datasets import make_cohorts


def rows(n=900, seed=0):
    """Three subgroups: a explains in u, a and b together in v, nothing in w."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["u", "v", "w"], n // 3)
    table = {name: rng.integers(0, 2, n) for name in "abcd"}
    flip = rng.random(n) < 0.1
    truth = np.select(
        [group == "u", group == "v"], [table["a"], table["a"] ^ table["b"]], rng.integers(0, 2, n)
    )
    return {"g": group, **table, "y": np.where(flip, 1 - truth, truth)}


@pytest.fixture(scope="module")
def answer():
    selector = SubgroupSelector("g", size=2, estimate="above_chance", random_state=0)
    return selector.fit(rows(), "y").answer()


def test_where_nothing_explains_anything_the_sentence_says_so():
    rng = np.random.default_rng(3)
    table = {"g": np.arange(600) % 3, "a": rng.integers(0, 3, 600), "b": rng.integers(0, 3, 600)}
    selector = SubgroupSelector("g", size=1, random_state=0).fit(table, rng.integers(0, 2, 600))
    assert "In no subgroup is there evidence" in selector.answer().sentence


def test_a_subgroup_of_one_class_has_nothing_to_explain():
    table = rows()
    table["y"] = np.where(table["g"] == "w", 0, table["y"])
    with pytest.warns(MisfeatWarning, match="single value"):
        selector = SubgroupSelector("g", size=1, random_state=0).fit(table, "y")
    answer = selector.answer()
    assert answer["g=w"].verdict == "nothing to explain"
    assert "In g=w y has a single value." in answer.sentence


def test_what_is_clear_is_worth_recording_and_what_is_not_is_called_so(rng):
    n = 3000
    table = {name: rng.integers(0, 2, n).astype(float) for name in "abc"}
    y = np.where(rng.random(n) < 0.05, rng.integers(0, 2, n), table["a"])
    group = np.arange(n) % 3
    strong = {**table, "g": group, "a": np.where(group == 0, np.nan, table["a"])}
    weak = {**table, "g": group, "c": np.where(group == 0, np.nan, table["c"])}
    for held, words in ((strong, "g=0: a is worth recording."), (weak, "No clear case")):
        selector = SubgroupSelector("g", size=1, random_state=0).fit(held, y)
        (sentence, *_) = selector.answer().recording
        assert sentence.startswith(words)


def test_there_is_an_answer_for_every_subgroup_and_over_all(answer):
    assert [one.features for one in answer] == [("a",), ("a", "b"), answer["g=w"].features]
    assert [one.verdict for one in answer] == ["explained", "explained", "no evidence"]
    first, _, last = answer
    assert first.sentence.startswith("g=u: a explains ")
    assert "of the uncertainty about y (90 % interval " in first.sentence
    assert "no evidence that a further feature helps (p = " in first.sentence
    assert "no evidence that any feature explains y (p = " in last.sentence
    assert answer.sentence.startswith("In 2 of 3 subgroups the recommended features explain from ")
    assert "; a is recommended in all of these." in answer.sentence
    assert answer.sentence.endswith("In g=w there is no evidence that any feature explains it.")
    assert answer.recording == (
        "Every subgroup recorded every feature: there is nothing to collect.",
    )


def test_very_many_sets_are_tested_less(monkeypatch, rng):
    table = {f"f{i}": rng.integers(0, 2, 200) for i in range(12)}
    selection = SubgroupSelector(size=3).fit(table, rng.integers(0, 2, 200)).selection_
    for name, most in (("PERMUTED", 2e7), ("RESAMPLED", 100)):
        monkeypatch.setattr(f"misfeat.answers.subgroup_significance.MOST_{name}", most)
    assert effort_for(selection, 1) == Effort(1, 999, resampled=True, step_permutations=199)
    assert effort_for(selection, 3) == Effort(3, 199, resampled=False, step_permutations=99)
    # Too many pairs to see with the usual number of permutations how many features are enough.
    monkeypatch.setattr("misfeat.answers.subgroup_significance.MOST_PERMUTED", 3e6)
    assert effort_for(selection, 1) == Effort(1, 999, resampled=True, step_permutations=99)
    monkeypatch.setattr("misfeat.answers.subgroup_significance.MOST_AHEAD", 3e6)
    assert effort_for(selection, 1).ahead == 1
    assert selection.enough().shape[0]


def test_long_tables_are_not_resampled(monkeypatch, rng):
    table = {f"f{i}": rng.integers(0, 9, 400) for i in range(4)}
    selection = SubgroupSelector(size=2).fit(table, rng.integers(0, 2, 400)).selection_
    assert effort_for(selection, 2).resampled
    monkeypatch.setattr("misfeat.answers.subgroup_significance.MOST_RESAMPLED_PAIRS", 6 * 300)
    assert not effort_for(selection, 2).resampled


def test_no_more_is_expected_to_be_explained_than_there_is():
    score = {"gain": 0.3, "low": 0.1, "high": 0.5, "probability": 1.0, "before": 0.4}
    cost = {"cost": 1.0, "gain_per_cost": 0.3, "total_gain": 0.3, "total_cost": 1.0}
    score |= {"after_low": 0.5, "after_high": 0.7}
    known = {"rows": 99, "precision": 0.1, "support": "joint", "unsettled": (), "settled_by": ""}
    named = {"features": ("f", "h"), "best_set": ("f", "h"), "worth": True}
    step = PlanStep(step=1, subgroup="g=a", **named, **score, **cost, **known)
    (sentence,) = recording_sentences([step], {"g=a": 0.6}, "y", 0.9)
    assert sentence.startswith("g=a: f and h together are worth recording. With them, the best set")
    assert "explain 100 % (90 % interval 83–100 %) of the uncertainty about y" in sentence


def test_sentence_p_value_and_set_are_those_of_other_answers():
    """One answer, wherever it is asked."""
    data = make_cohorts(n_cohorts=4, n_rows=300, n_features=6, hide=0.2, random_state=1)
    columns = Columns(keep="each")
    selector = SubgroupSelector(data.groups, size=3, random_state=0, columns=columns)
    selector.fit(data.columns, data.target)
    answer, enough = selector.answer(), selector.enough()
    tests = selector.significance().set_index("subgroup")
    assert {len(one.features) for one in answer} - {3}  # some need fewer features
    for one in answer:
        steps = enough[enough["subgroup"] == one.subgroup].set_index("size")
        assert one.features == steps["features"][len(one.features)]
        assert one.share == steps["share"][len(one.features)]
        assert steps["enough"].drop(len(one.features)).sum() == 0
        assert one.p_value == tests["adjusted"][one.subgroup]
        assert (one.verdict == "explained") == tests["more_than_chance"][one.subgroup]
        kept = selector.for_subgroup(one.subgroup).get_feature_names_out()
        assert set(kept) == set(one.features)
        first = selector.top_k(k=1, subgroup=one.subgroup)
        assert (one.best.features, one.best.score) == (first["features"][0], first["score"][0])
        assert one.sentence in str(answer)
    assert set(selector.get_feature_names_out()) == {f for one in answer for f in one.features}


def test_features_to_include_are_part_of_the_recommended_set():
    table = {name: column for name, column in rows().items() if name != "g"}
    table["y"] = table["a"]
    selector = SubgroupSelector(size=2, include=["d"], random_state=0).fit(table, "y")
    assert selector.answer("all rows").features == ("a", "d")
    table = rows() | {"a": np.where(rows()["g"] == "u", np.nan, rows()["a"])}
    answer = SubgroupSelector("g", size=2, include=["a"], random_state=0).fit(table, "y").answer()
    assert answer["u"].sentence == "g=u: it recorded no set of 2 features that could be used."
    with pytest.raises(MisfeatError, match="There is no subgroup 'x'"):
        answer["x"]


def test_a_model_is_judged_on_rows_left_out(rng):
    n = 1200
    table = {"g": np.arange(n) % 2, **{name: rng.integers(0, 3, n) for name in "abcd"}}
    odds = (table["a"] - 1) + 0.7 * (table["b"] - 1)
    y = (rng.random(n) < 1 / (1 + np.exp(-1.5 * odds))).astype(int)
    answer = SubgroupSelector("g", size=3, random_state=0).fit(table, y).answer("g=0")
    chosen, single, every = answer.models
    assert (chosen.features, single.features) == (("a", "b"), ("a",))
    assert every.features == ("a", "b", "c", "d")
    assert chosen.metric == "AUC"
    assert 0.5 < single.value < chosen.value < 0.9
    assert chosen.low < chosen.value < chosen.high
    assert f"an AUC of {chosen.value:.2f} (" in answer.model_sentence
    model, everyone = chosen.net_benefit(0.3)
    assert model > everyone
    assert chosen.net_benefit(0.001) == pytest.approx(chosen.net_benefit(0.001)[1:] * 2)
    with pytest.raises(MisfeatError, match="threshold"):
        chosen.net_benefit(1.0)


def test_a_set_of_which_a_model_does_worse_than_of_others_is_said_so(answer):
    chosen = replace(answer["g=v"].models[0], value=0.7, low=0.65, high=0.75)
    single = replace(chosen, features=("a",), value=0.8)
    every = replace(chosen, features=("a", "b", "c"), value=0.74)
    of = replace(answer["g=v"], models=(chosen, single, every))
    assert "feature 0.80 (0.65 to 0.75), clearly more: the others may have" in of.model_words
    assert of.model_words.count("clearly more") == 1
    of = replace(of, models=(chosen, replace(every, value=0.76)))
    assert of.model_words.endswith(", clearly more: larger sets may help")
    of = replace(of, models=(replace(chosen, low=0.49), every))
    assert "rows left out, which chance may give; with all 3" in of.model_words


def test_a_model_sees_what_features_explain_only_together():
    answer = SubgroupSelector("g", size=2, random_state=0).fit(rows(), "y").answer("g=v")
    assert answer.features == ("a", "b")
    both, single = answer.models[:2]
    assert single.value < 0.7 < 0.85 < both.value


def test_pairs_of_the_recommended_set_may_have_effects_in_the_model_of_all_features(rng):
    table = {f"f{i}": rng.integers(0, 2, 600) for i in range(7)}
    y = table["f0"] ^ table["f1"] ^ (rng.random(600) < 0.1)
    selection = SubgroupSelector(size=2).fit(table, y).selection_
    every = selection.feature_names
    models = [
        model_performance(selection, "all rows", every, paired=pair)
        for pair in ((), ("f2", "f3"), ("f0", "f1"))
    ]
    assert max(models[0].value, models[1].value) < 0.65 < 0.85 < models[2].value


@pytest.mark.slow
@pytest.mark.parametrize("target", [2, 4, 300])  # classes, or a number
def test_rows_that_judge_a_model_had_no_say_in_its_features(target):
    found = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = {f"f{i}": rng.integers(0, 3, 200) for i in range(20)}
        selection = SubgroupSelector(size=2).fit(table, rng.integers(0, target, 200)).selection_
        best, choice = selection.top_k(k=1)["features"].iloc[0], FoldChoice(selection, {2})
        models = [model_performance(selection, "all rows", best, c) for c in (None, choice)]
        found.append([model.value for model in models])
    with_a_say, without = np.mean(found, axis=0)
    assert without < min(with_a_say - 0.03, 0.01 if target > 4 else 0.51)


def test_a_choice_that_would_take_too_long_is_said_to_have_been_made_with_all_rows(monkeypatch):
    monkeypatch.setattr("misfeat.answers.nested_cross_validation.MOST_SETS", 0)
    answer = SubgroupSelector("g", size=2, random_state=0).fit(rows(), "y").answer("g=v")
    assert answer.models[0].looked
    assert "on rows left out of the fit, though not of the choice" in answer.model_sentence


@pytest.mark.parametrize("measure", ["mutual_info", "r2"])
def test_numbers_are_judged_by_r2(measure):
    rng = np.random.default_rng(2)
    table = {f"f{i}": rng.normal(size=900) for i in range(4)}
    y = table["f0"] + 0.5 * rng.normal(size=900)
    answer = (
        SubgroupSelector(size=2, measure=measure, random_state=0).fit(table, y).answer("all rows")
    )
    chosen = answer.models[0]
    assert chosen.features == ("f0",)
    assert 0.6 < chosen.value < 0.9
    assert chosen.metric == ("R²" if measure == "r2" else "R² (of ranks)")
    if measure == "r2":
        assert chosen.error == pytest.approx(0.5, abs=0.05)
        assert "of the variance of" in answer.sentence
