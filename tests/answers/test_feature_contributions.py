"""What features are worth, and interactions, asked as users ask."""

from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import SubgroupSelector
from misfeat.answers.feature_contributions import (
    feature_values,
    mean_shares,
    pair_interactions,
    parts_of,
    shapley_values,
    shapley_weights,
)
from misfeat.answers.set_cells import explanation
from misfeat.answers.top_sets import Alternative, alternative_sets, best_sets
from misfeat.completion import CompletedScores
from misfeat.datasets import make_cohorts
from misfeat.lattice.levels import level, rank

NUMBERS = ("alone", "adds", "share_of_best", "mean_share")


@pytest.fixture(scope="module")
def data():
    return make_cohorts(3, 400, 6, hide=0.3, random_state=0)


def fitted(data, **how):
    return SubgroupSelector(data.groups, **({"size": 3, "k": 5} | how)).fit(
        data.columns, data.target
    )


@pytest.fixture(scope="module")
def selector(data):
    return fitted(data)


KINDS = {
    "usual": {},
    "one": {"size": 1},
    "certain bounds": {"confidence": None},
    "of the sample": {"estimate": "sample"},
    "above chance": {"estimate": "above_chance"},
    "some of the sets": {"budget": 0.4, "random_state": 0},
    "pairs that hold one": {"size": 2, "include": ["f2"]},
}


@pytest.mark.parametrize("how", KINDS.values(), ids=KINDS)
def test_every_kind_of_fit_answers(data, how):
    selector = fitted(data, **how)
    features = selector.features()
    assert len(features) == 3 * 6
    for name in NUMBERS:
        known = features[features[name].notna()]
        assert len(known)
        assert (known[f"{name}_low"] <= known[name]).all()
        assert (known[name] <= known[f"{name}_high"]).all()
    best = best_sets(selector.selection_, k=1)[0]
    shares = shapley_values(selector.selection_, best.subgroup, best.features)
    assert abs(sum(share.value for share in shares.values()) - best.score) < 1e-9
    found = selector.alternatives(best.subgroup, best.features)
    assert tuple(found.columns) == tuple(Alternative.__dataclass_fields__)
    assert len(selector.top_k(distinct=True)) <= len(selector.top_k())
    if selector.size > 1:
        assert len(selector.interactions()) == 3 * 15


@pytest.mark.parametrize("estimate", ["population", "sample"])
def test_squared_correlations_answer_without_rows(estimate, rng):
    table = {name: rng.normal(size=120) for name in "abcd"}
    table["y"] = table["a"] + table["b"] + rng.normal(size=120)
    selector = SubgroupSelector(size=2, measure="r2", estimate=estimate).fit(table, "y")
    assert list(selector.features()["feature"][:2]) in (["a", "b"], ["b", "a"])
    shares = shapley_values(selector.selection_, "all rows", ["a", "b"])
    score = selector.score_of("all rows", ["a", "b"])
    assert abs(sum(share.value for share in shares.values()) - score) < 1e-9
    assert len(selector.interactions()) == 6
    assert len(selector.alternatives("all rows", ["c", "d"])) <= 10


def test_a_feature_adds_to_the_best_set_of_others(selector):
    for value in feature_values(selector.selection_, "cohort=c2"):
        others = [
            one
            for one in best_sets(selector.selection_, size=2, k=15, subgroup="cohort=c2")
            if value.feature not in one.features
        ]
        assert others[0].score == pytest.approx(selector.score_of("cohort=c2", value.adds_to))
        joined = selector.score_of("cohort=c2", [*value.adds_to, value.feature])
        assert value.adds == pytest.approx(joined - others[0].score)


def test_single_features_add_what_they_tell_alone(data):
    for value in feature_values(fitted(data, size=1).selection_):
        assert value.adds == value.alone == value.mean_share
        assert (value.adds_low, value.adds_high) == (value.alone_low, value.alone_high)
        assert value.adds_to == ()


def test_features_that_were_never_recorded_say_so(selector):
    frame = selector.features()
    lacking = {
        (row["subgroup"], name)
        for row in selector.subgroups_.to_dict("records")
        for name in row["missing"]
    }
    predicted = frame[frame["source"] == "predicted"]
    assert set(zip(predicted["subgroup"], predicted["feature"], strict=True)) == lacking


def test_sets_that_cannot_hold_all_that_is_included_are_not_joined(data):
    values = {
        v.feature: v for v in feature_values(fitted(data, size=2, include=["f1", "f2"]).selection_)
    }
    assert np.isnan(values["f3"].adds)
    assert values["f3"].adds_to == ()
    assert values["f1"].adds_to[:2] == ("f2",)


def test_an_exclusive_or_is_a_synergy_and_a_copy_redundant():
    rng = np.random.default_rng(1)
    a, b, c = rng.integers(0, 2, (3, 800))
    flip = rng.random(800) < 0.1
    table = {"a": a, "b": b, "c": c, "copy": c, "y": ((a ^ b) | c) ^ flip}
    found = {
        (one.feature, one.other): one
        for one in pair_interactions(SubgroupSelector(size=2).fit(table, "y").selection_)
    }
    assert found["a", "b"].kind == "synergy"
    assert found["c", "copy"].kind == "redundancy"
    for one in found.values():
        assert one.interaction == pytest.approx(one.together - one.alone)
    strength = [abs(one.interaction) for one in found.values()]
    assert strength == sorted(strength, reverse=True)


def test_a_single_feature_has_no_partner():
    selector = SubgroupSelector(size=1).fit({"a": [0, 1] * 9, "y": [0, 1, 1] * 6}, "y")
    frame = selector.interactions()
    assert len(frame) == 0
    assert list(frame.columns)[:3] == ["subgroup", "feature", "other"]
    assert feature_values(selector.selection_)[0].feature == "a"


def test_one_set_is_compared_with_another(selector):
    one, other = ["f1", "f2"], ["f3"]
    found = selector.difference("cohort=c1", one, other)
    scores = [selector.score_of("cohort=c1", names) for names in (one, other)]
    assert found.value == pytest.approx(scores[0] - scores[1])
    back = selector.difference("cohort=c1", other, one)
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


@pytest.mark.filterwarnings("ignore:The target 'y' has a single value")
def test_where_the_target_has_one_class_there_is_nothing_to_compare(rng):
    table = {name: rng.integers(0, 3, 200) for name in "abc"}
    table |= {"g": ["one"] * 100 + ["two"] * 100, "y": [1] * 100 + [0, 1] * 50}
    found = SubgroupSelector("g", size=2).fit(table, "y")
    assert {one.subgroup for one in pair_interactions(found.selection_)} == {"g=two"}
    assert alternative_sets(found.selection_, "g=one", ["a", "b"]) == []
    assert explanation(found.selection_, "g=one", ["a", "b"]).sentences() == []


def levels_of(seed, n_features, size):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=comb(n_features, m)) for m in range(1, size + 1)]


def score(levels, members):
    members = sorted(members)
    return levels[len(members) - 1][rank(np.array([members]))[0]] if members else 0.0


def by_orders(levels, members):
    """Shapley values as they are defined: what a feature adds, over all orders of joining."""
    orders = list(permutations(members))
    values = dict.fromkeys(members, 0.0)
    for order in orders:
        for place, member in enumerate(order):
            added = score(levels, order[: place + 1]) - score(levels, order[:place])
            values[member] += added / len(orders)
    return [values[member] for member in members]


@given(st.integers(0, 999), st.integers(1, 5))
def test_values_are_what_features_add_over_all_orders_and_sum_to_the_score(seed, size):
    n_features = 6
    levels = levels_of(seed, n_features, size)
    members = sorted(np.random.default_rng(seed).permutation(n_features)[:size].tolist())
    scores = np.array([score(levels, part) for part in parts_of(members)])
    values = shapley_weights(members) @ scores
    assert values == pytest.approx(by_orders(levels, members), abs=1e-12)
    assert abs(values.sum() - score(levels, members)) < 1e-9


@given(st.integers(0, 999), st.integers(1, 5), st.integers(0, 3))
def test_mean_shares_are_means_over_all_sets_that_hold_a_feature(seed, n_features, less):
    size = max(1, n_features - less)
    levels = levels_of(seed, n_features, size)
    completed = []
    for m, scores in enumerate(levels, start=1):
        line = scores[None]
        completed.append(CompletedScores(level(n_features, m), line, line, line, line < 0, line))
    found = [one.value for one in mean_shares(completed, 0, None, -np.inf)]
    values = [[] for _ in range(n_features)]
    for members in level(n_features, size).tolist():
        scores = [score(levels, part) for part in parts_of(members)]
        for member, value in zip(members, shapley_weights(members) @ scores, strict=True):
            values[member].append(value)
    np.testing.assert_allclose(found, [np.mean(one) for one in values], atol=1e-12)
