from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatWarning, SubgroupSelector
from misfeat.answers.plan import PlanStep
from misfeat.answers.significance import significance_tests
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen import (
    Effort,
    collecting_sentences,
    effort_for,
    feature_map,
    first_screen,
)


def rows(n=900, seed=0):
    """Three subgroups: a tells in u, a and b together in v, nothing in w."""
    rng = np.random.default_rng(seed)
    group = np.repeat(["u", "v", "w"], n // 3)
    table = {name: rng.integers(0, 2, n) for name in "abcd"}
    flip = rng.random(n) < 0.1
    truth = np.select(
        [group == "u", group == "v"], [table["a"], table["a"] ^ table["b"]], rng.integers(0, 2, n)
    )
    return {"g": group, **table, "y": np.where(flip, 1 - truth, truth)}


@pytest.fixture(scope="module")
def screen():
    selector = SubgroupSelector("g", size=2, estimate="above_chance", random_state=0)
    return first_screen(selector.fit(rows(), "y").selection_)


def test_where_nothing_tells_anywhere_the_sentence_says_so():
    rng = np.random.default_rng(3)
    table = {"g": np.arange(600) % 3, "a": rng.integers(0, 3, 600), "b": rng.integers(0, 3, 600)}
    selector = SubgroupSelector("g", size=1, random_state=0).fit(table, rng.integers(0, 2, 600))
    assert "anything tell" in first_screen(selector.selection_).whole


def test_a_subgroup_of_one_class_has_nothing_to_tell():
    table = rows()
    table["y"] = np.where(table["g"] == "w", 0, table["y"])
    with pytest.warns(MisfeatWarning, match="single value"):
        selector = SubgroupSelector("g", size=1, random_state=0).fit(table, "y")
    screen = first_screen(selector.selection_)
    assert screen.subgroups[2].verdict == "nothing to tell"
    assert "In g=w there is nothing to tell." in screen.whole


def test_what_is_clear_is_worth_recording_and_what_is_not_is_called_so():
    rng = np.random.default_rng(0)
    n = 3000
    table = {name: rng.integers(0, 2, n).astype(float) for name in "abc"}
    y = np.where(rng.random(n) < 0.05, rng.integers(0, 2, n), table["a"])
    group = np.arange(n) % 3
    strong = {**table, "g": group, "a": np.where(group == 0, np.nan, table["a"])}
    weak = {**table, "g": group, "c": np.where(group == 0, np.nan, table["c"])}
    for held, words in ((strong, "g=0: a is worth recording."), (weak, "No clear case")):
        selector = SubgroupSelector("g", size=1, random_state=0).fit(held, y)
        (sentence, *_) = first_screen(selector.selection_).collecting
        assert sentence.startswith(words)


def test_the_screen_says_the_answer_of_every_subgroup_and_of_the_whole(screen):
    assert [one.features for one in screen.subgroups] == [("a",), ("a", "b"), ()]
    assert [one.verdict for one in screen.subgroups] == ["told", "told", "chance"]
    first, _, last = screen.subgroups
    assert first.sentence.startswith("g=u: a tells ")
    assert "of what there is to tell about y (" in first.sentence
    assert "one more feature adds nothing more than chance (p = " in first.sentence
    assert "no feature, nor two together, tells more about y than chance would" in last.sentence
    assert np.isnan(last.share)
    assert screen.whole.startswith("In 2 of 3 subgroups the features tell something about y: ")
    assert "; a is part of the answer in all of them." in screen.whole
    assert screen.whole.endswith("In g=w nothing tells more than chance would.")
    assert screen.collecting == (
        "Every subgroup recorded every feature: there is nothing to collect.",
    )


def test_very_many_sets_are_tested_less(monkeypatch):
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.integers(0, 2, 200) for i in range(12)}
    selection = SubgroupSelector(size=3).fit(table, rng.integers(0, 2, 200)).selection_
    for name, most in (("PERMUTED", 2e7), ("LARGER", 300), ("RESAMPLED", 100)):
        monkeypatch.setattr(f"misfeat.show.first_screen.MOST_{name}", most)
    assert effort_for(selection, 1) == Effort(1, 999, 2, resampled=True, step_permutations=199)
    assert effort_for(selection, 3) == Effort(3, 199, 3, resampled=False, step_permutations=199)
    # Too many pairs to see with the usual number of permutations how many features are enough.
    for name, most in (("PERMUTED", 3e6), ("LARGER", 50)):
        monkeypatch.setattr(f"misfeat.show.first_screen.MOST_{name}", most)
    assert effort_for(selection, 1) == Effort(1, 999, 1, resampled=True, step_permutations=99)


def test_a_set_larger_than_those_tested_is_not_called_chance():
    table = {name: column for name, column in rows().items() if name != "g"}
    table["y"] = table["a"] ^ table["b"]
    screen = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_)
    (found,) = screen.subgroups
    assert (found.features, found.verdict) == (("a", "b"), "told")
    assert "chance (p = 1.00)" not in found.sentence.split(";")[0]


def test_an_answer_that_chance_may_give_too_says_how_often():
    rng = np.random.default_rng(5)
    n = 240
    a = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.34, a, rng.integers(0, 2, n))
    found = set()
    for seed in range(12):
        draw = np.random.default_rng(seed).permutation(n)[: n // 2]
        table = {"a": a[draw], "b": rng.integers(0, 2, n // 2), "y": y[draw]}
        (one,) = first_screen(SubgroupSelector(size=1).fit(table, "y").selection_).subgroups
        doubtful = one.verdict == "told" and 0.01 < one.p_value <= 0.05
        assert ("Chance alone would do as well about once in" in one.sentence) == doubtful
        found.add(doubtful)
    assert found == {True, False}


@pytest.fixture(scope="module")
def selection():
    data = make_cohorts(n_cohorts=6, n_rows=400, n_features=5, hide=0.3, random_state=4)
    selector = SubgroupSelector(data.groups, size=2, random_state=0)
    return selector.fit(data.columns, data.target).selection_


def test_subgroups_that_are_the_same_are_neighbours():
    rng = np.random.default_rng(0)
    n = 2400
    group = np.arange(n) % 4
    table = {"a": rng.integers(0, 2, n), "b": rng.integers(0, 2, n), "g": group}
    truth = np.where(group % 2 == 0, table["a"], table["b"])
    y = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    selector = SubgroupSelector("g", size=1, estimate="above_chance").fit(table, y)
    order = feature_map(selector.selection_).subgroups
    assert {order[0] % 2, order[1] % 2} in ({0}, {1})


def test_the_map_has_shares_of_single_features_the_best_first_and_pale_by_p_value(selection):
    found, whole = feature_map(selection), selection.set_scores.measure.whole
    for cohort, name in enumerate(selection.cohorts.names):
        for feature, column in enumerate(selection.feature_names):
            expected = selection.score_of(name, [column]) / whole[cohort]
            assert found.share[cohort, feature] == pytest.approx(expected)
    means = found.share.mean(axis=0)[list(found.features)]
    assert (np.diff(means) <= 0).all()
    assert sorted(found.subgroups) == list(range(6))
    single, tests = significance_tests(selection, 1), significance_tests(selection)
    found = feature_map(selection, single, tests)
    recorded = ~found.predicted
    nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
    expected = (single.p_values[1] > 0.05) | nothing
    assert np.array_equal(found.faded[recorded], expected[recorded])


def test_no_more_is_expected_to_be_explained_than_there_is():
    score = {"gain": 0.3, "low": 0.1, "high": 0.5, "probability": 1.0, "before": 0.4}
    cost = {"cost": 1.0, "gain_per_cost": 0.3, "total_gain": 0.3, "total_cost": 1.0}
    known = {"rows": 99, "precision": 0.1, "support": "joint", "unsettled": (), "settled_by": ""}
    named = {"features": ("f", "h"), "best_set": ("f", "h"), "worth": True}
    step = PlanStep(step=1, subgroup="g=a", **named, **score, **cost, **known)
    (sentence,) = collecting_sentences([step], {"g=a": 0.6}, "y", 0.9)
    assert sentence.startswith("g=a: f and h together are worth recording. With them, the best set")
    assert "explain 100 % of the uncertainty about y" in sentence
    assert "83–100 %" in sentence
