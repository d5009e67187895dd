from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat import MisfeatError
from misfeat.answers.collecting import feature_worths
from misfeat.answers.top import best_sets
from misfeat.show.plot.canvas import COLOUR
from misfeat.show.plot.ranked_lists import SUPPORTS


def points(ax):
    """Scores of what was drawn, by marker and colour."""
    drawn = [box.lines[0] for box in ax.containers]
    return {(line.get_marker(), line.get_color()): line.get_xydata() for line in drawn}


def test_the_best_sets_look_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.top_k(selector, "clinic=North", k=8), "top_k")


def test_recorded_and_predicted_sets_have_their_own_colour_and_marker(selector):
    best = best_sets(selector.selection_, subgroup="clinic=North")
    drawn = points(misfeat.plot.top_k(selector, "clinic=North", relative=False))
    for source, marker in (("recorded", "o"), ("predicted", "D")):
        expected = [(one.score, place) for place, one in enumerate(best) if one.source == source]
        assert expected, "the table has both"
        np.testing.assert_allclose(drawn[marker, COLOUR[source]], expected)


def test_every_set_has_its_interval(selector):
    best = best_sets(selector.selection_, subgroup="clinic=North")
    ax = misfeat.plot.top_k(selector, "clinic=North", relative=False)
    bars = [line for box in ax.containers for line in box.lines[2]]
    ends = [tuple(segment[:, 0]) for one in bars for segment in one.get_segments()]
    expected = [(one.low, one.high) for one in best]
    np.testing.assert_allclose(sorted(ends), sorted(expected))


def test_what_is_certain_has_none(data):
    selector = misfeat.SubgroupSelector(
        data.groups, size=1, estimate="sample", completer="interactions"
    )
    ax = misfeat.plot.top_k(selector.fit(data.complete, data.target), "clinic=North")
    assert not [line for box in ax.containers for line in box.lines[2]]


def test_unrecorded_features_are_starred(selector):
    best = best_sets(selector.selection_, subgroup="clinic=North")
    ax = misfeat.plot.top_k(selector, "clinic=North")
    for label, one in zip(ax.get_yticklabels(), best, strict=True):
        starred = {name[:-1] for name in label.get_text().split(", ") if name.endswith("*")}
        assert starred == set(one.missing)


def test_size_and_number_can_be_chosen(selector):
    ax = misfeat.plot.top_k(selector, "clinic=North", size=2, k=3)
    assert len(ax.get_yticks()) == 3
    assert ax.get_title() == "The 3 best sets of 2 features in clinic=North"
    assert ax.get_xlabel() == "share of what there is to tell about ill"


def test_scores_are_shares_unless_nats_are_asked_for(selector):
    best = best_sets(selector.selection_, subgroup="clinic=North")
    drawn = np.concatenate([*points(misfeat.plot.top_k(selector, "clinic=North")).values()])
    shares = sorted((one.share for one in best), reverse=True)
    np.testing.assert_allclose(sorted(drawn[:, 0], reverse=True), shares)
    ax = misfeat.plot.top_k(selector, "clinic=North", relative=False)
    assert ax.get_xlabel() == "joint mutual information with ill (nats)"


def test_a_subgroup_must_be_named_where_there_are_several(selector, smallest):
    with pytest.raises(MisfeatError, match=r"subgroup, one of 'clinic=East', 'clinic=North'"):
        misfeat.plot.top_k(selector)
    with pytest.raises(MisfeatError, match="There is no subgroup 'clinic=Easy'"):
        misfeat.plot.top_k(selector, "clinic=Easy")
    assert misfeat.plot.top_k(smallest).get_title() == "The best set of 1 feature in all rows"


def test_correlations_are_not_called_nats():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=40), "b": rng.normal(size=40)}
    table["y"] = table["a"] + rng.normal(size=40)
    selector = misfeat.SubgroupSelector(size=1, measure="r2").fit(table, "y")
    assert misfeat.plot.top_k(selector).get_xlabel() == "squared multiple correlation with y"


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def gains(ax):
    """What was drawn, from the top."""
    drawn = np.concatenate([box.lines[0].get_xydata() for box in ax.containers])
    return drawn[np.argsort(drawn[:, 1]), 0]


def test_gains_look_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.worth_collecting(selector), "worth_collecting")


def test_the_best_features_of_all_subgroups_come_first_with_their_subgroup(selector):
    worths = sorted(feature_worths(selector.selection_), key=lambda worth: -worth.gain)[:4]
    ax = misfeat.plot.worth_collecting(selector, n=4, relative=False)
    assert labels(ax) == [f"{worth.feature} in {worth.subgroup}" for worth in worths]
    np.testing.assert_allclose(gains(ax), [worth.gain for worth in worths])


def test_gains_are_shares_of_what_there_is_to_tell_in_their_subgroup(selector):
    entropy = dict(
        zip(selector.subgroups_["subgroup"], selector.subgroups_["target_entropy"], strict=True)
    )
    shares = sorted(
        (one.gain / entropy[one.subgroup] for one in feature_worths(selector.selection_)),
        reverse=True,
    )
    ax = misfeat.plot.worth_collecting(selector, n=4)
    np.testing.assert_allclose(gains(ax), shares[:4])
    assert ax.get_xlabel().endswith("share of what there is to tell about ill")


def test_of_one_subgroup_only_features_are_named(selector):
    worths = feature_worths(selector.selection_, "clinic=East")
    ax = misfeat.plot.worth_collecting(selector, "clinic=East")
    assert labels(ax) == [worth.feature for worth in worths]
    assert ax.get_title().endswith("in clinic=East")


def test_costs_divide_gains_and_their_intervals(selector):
    plain = feature_worths(selector.selection_, "clinic=North")
    costs = {worth.feature: 4.0 for worth in plain}
    ax = misfeat.plot.worth_collecting(selector, "clinic=North", costs=costs, relative=False)
    assert "for every unit of cost" in ax.get_xlabel()
    np.testing.assert_allclose(gains(ax), [worth.gain / 4 for worth in plain])
    bars = [s for box in ax.containers for line in box.lines[2] for s in line.get_segments()]
    ends = sorted(tuple(segment[:, 0]) for segment in bars)
    np.testing.assert_allclose(ends, sorted((worth.low / 4, worth.high / 4) for worth in plain))


def test_colour_and_marker_say_what_a_prediction_rests_on(selector):
    ax = misfeat.plot.worth_collecting(selector)
    shown = {text.get_text() for text in ax.get_legend().get_texts()}
    assert shown == {SUPPORTS[worth.support][2] for worth in feature_worths(selector.selection_)}
    looks = [(box.lines[0].get_color(), box.lines[0].get_marker()) for box in ax.containers]
    assert looks == [SUPPORTS[s][:2] for s in SUPPORTS if SUPPORTS[s][2] in shown]


def test_a_sentence_stands_where_nothing_is_missing(smallest):
    ax = misfeat.plot.worth_collecting(smallest)
    assert [text.get_text() for text in ax.texts] == ["Every subgroup recorded every feature."]


def test_a_sentence_stands_where_too_little_was_recorded():
    table = {
        "g": ["a"] * 4 + ["b"] * 4,
        "x": [0, 0, 1, 1] + [None] * 4,
        "z": [0, 1, 0, 1] + [None] * 4,
        "y": [0, 0, 1, 1, 1, 0, 1, 0],
    }
    selector = misfeat.SubgroupSelector("g", size=2).fit(table, "y")
    ax = misfeat.plot.worth_collecting(selector, "g=b")
    assert ax.texts[0].get_text().startswith("Too few features were recorded")


def test_no_features_cannot_be_asked_for(selector):
    with pytest.raises(MisfeatError, match="n=0"):
        misfeat.plot.worth_collecting(selector, n=0)


def test_gains_that_are_next_to_nothing_look_like_it():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    group = np.arange(400) % 4
    noise = np.where(group == 0, np.nan, rng.integers(0, 2, 400))
    selector = misfeat.SubgroupSelector("g", size=1).fit({"g": group, "a": a, "noise": noise}, a)
    ax = misfeat.plot.worth_collecting(selector)
    assert ax.get_xlim()[1] >= 0.001
    nats = misfeat.plot.worth_collecting(selector, relative=False)
    assert nats.get_xlim()[1] >= 0.001 * selector.selection_.set_scores.measure.ceiling.max()
