from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat import MisfeatError
from misfeat.show.plot.gains import SUPPORTS


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def gains(ax):
    """What was drawn, from the top."""
    drawn = np.concatenate([box.lines[0].get_xydata() for box in ax.containers])
    return drawn[np.argsort(drawn[:, 1]), 0]


def test_gains_look_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.worth_collecting(selector), "worth_collecting")


def test_the_best_features_of_all_subgroups_come_first_with_their_subgroup(selector):
    worths = sorted(selector.worths(), key=lambda worth: -worth.gain)[:4]
    ax = misfeat.plot.worth_collecting(selector, n=4, relative=False)
    assert labels(ax) == [f"{worth.feature} in {worth.subgroup}" for worth in worths]
    np.testing.assert_allclose(gains(ax), [worth.gain for worth in worths])


def test_gains_are_shares_of_what_there_is_to_tell_in_their_subgroup(selector):
    entropy = dict(
        zip(selector.subgroups_["subgroup"], selector.subgroups_["target_entropy"], strict=True)
    )
    shares = sorted((one.gain / entropy[one.subgroup] for one in selector.worths()), reverse=True)
    ax = misfeat.plot.worth_collecting(selector, n=4)
    np.testing.assert_allclose(gains(ax), shares[:4])
    assert ax.get_xlabel().endswith("share of what there is to tell about ill")


def test_of_one_subgroup_only_features_are_named(selector):
    worths = selector.worths("clinic=East")
    ax = misfeat.plot.worth_collecting(selector, "clinic=East")
    assert labels(ax) == [worth.feature for worth in worths]
    assert ax.get_title().endswith("in clinic=East")


def test_costs_divide_gains_and_their_intervals(selector):
    plain = selector.worths("clinic=North")
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
    assert shown == {SUPPORTS[worth.support][2] for worth in selector.worths()}
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
    assert nats.get_xlim()[1] >= 0.001 * selector.selection_.book.measure.ceiling.max()
