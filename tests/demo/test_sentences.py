from __future__ import annotations

import re
from math import comb

import pytest
from misfeat.demo.sentences import mostly_chance, worth_measuring

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.demo.clinics import clinics


@pytest.fixture(scope="module")
def selection():
    """Sets of two in subgroups of which some lack features, with gains of every kind."""
    data = make_cohorts(n_rows=1000, similarity=300, hide=0.4, random_state=0)
    return SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_


def sentence_about(worth, said):
    (sentence,) = [text for text in said if worth.subgroup in text and worth.feature in text][:1]
    return sentence


def test_every_subgroup_that_lacks_something_has_a_sentence_as_clear_as_its_gain(selection):
    said = [text for text in worth_measuring(selection) if not text.startswith("No subgroup")]
    kinds = set()
    for worth in selection.worths():
        if worth.rank == 1:
            sentence = sentence_about(worth, said)
            hardly = worth.gain <= 0.01 * worth.before or worth.probability <= 0.1
            kind = "hardly" if hardly else "clear" if worth.clear else "not clear"
            kinds.add(kind)
            start = {
                "clear": f"{worth.subgroup}: {worth.feature} is worth recording",
                "not clear": f"Not clear: {worth.feature} in ",
                "hardly": "Hardly worth recording",
            }[kind]
            assert sentence.startswith(start)
    assert len(kinds) > 1


def test_probabilities_and_rises_that_are_said_span_those_of_the_subgroups(selection):
    said = [text for text in worth_measuring(selection) if text.startswith("Not clear")]
    assert said
    for sentence in said:
        feature = re.match(r"Not clear: (\w+) in", sentence).group(1)
        own = [
            worth
            for worth in selection.worths()
            if worth.rank == 1 and worth.feature == feature and worth.subgroup in sentence
        ]
        chances = sorted(round(100 * worth.probability) for worth in own)
        rises = sorted(round(100 * worth.gain / worth.before) for worth in own)
        for values in (chances, rises):
            assert re.search(rf"\b{values[0]}\b", sentence)
            assert f"{values[-1]} %" in sentence


def test_a_clear_rise_is_said_in_relation_to_the_best_recorded_set():
    data = clinics()
    selection = SubgroupSelector(data.groups, size=2).fit(data.columns, data.target).selection_
    clear = [worth for worth in selection.worths() if worth.rank == 1 and worth.clear]
    assert clear
    for worth in clear:
        sentence = sentence_about(worth, list(worth_measuring(selection)))
        sets = selection.best_sets(subgroup=worth.subgroup, k=comb(len(selection.feature_names), 2))
        before = max(one.score for one in sets if not one.missing)
        assert f"{worth.gain / before * 100:.0f} % more" in sentence
        assert f"probability of {worth.probability * 100:.0f} %" in sentence


def test_pairs_that_nobody_recorded_together_are_named_with_where_to_record_them():
    table = {
        "site": ["a"] * 40 + ["b"] * 60,
        "x": [0, 1, 1, 0] * 25,
        "p": [0, 1] * 20 + [None] * 60,
        "q": [None] * 40 + [0, 1, 1] * 20,
        "y": [0, 1] * 50,
    }
    selection = SubgroupSelector("site", size=2).fit(table, "y").selection_
    apart = [text for text in worth_measuring(selection) if text.startswith("No subgroup")]
    unsettled = {worth.unsettled for worth in selection.worths() if worth.unsettled}
    assert len(apart) == len(unsettled) == 1
    assert "p and q together" in apart[0]
    assert "recording both in site=b" in apart[0]


def test_with_certain_bounds_no_probability_is_said():
    data = make_cohorts(n_rows=300, hide=0.3, random_state=0)
    selector = SubgroupSelector(data.groups, size=2, confidence=None)
    said = list(worth_measuring(selector.fit(data.columns, data.target).selection_))
    assert said
    assert not any("probability" in text for text in said)


def test_the_set_that_falls_furthest_is_the_one_that_is_named(selection):
    (sentence,) = mostly_chance(selection)
    ranks = {}
    for name in selection.subgroup_names():
        sets = selection.best_sets(k=comb(len(selection.feature_names), 2), subgroup=name)
        own = [one for one in sets if one.source == "recorded"]
        ranks[name] = max(own, key=lambda one: one.observed)
    furthest = max(ranks.values(), key=lambda one: one.rank)
    assert sentence.startswith(f"{furthest.subgroup}: by its own rows alone, ")
    (whole,) = [
        entropy
        for name, entropy in zip(
            selection.subgroup_names(), selection.subgroups_["target_entropy"], strict=True
        )
        if name == furthest.subgroup
    ]
    assert f"with {100 * furthest.observed / whole:.1f} % of all" in sentence
    assert f"{100 * furthest.share:.1f} %, number {furthest.rank} of" in sentence


def test_where_the_own_rows_rank_first_what_is_first_nothing_is_said():
    table = {"a": [0, 1] * 100, "b": [0, 0, 1, 1] * 50, "y": [0, 1] * 100}
    selection = SubgroupSelector(size=1).fit(table, "y").selection_
    assert list(mostly_chance(selection)) == []
