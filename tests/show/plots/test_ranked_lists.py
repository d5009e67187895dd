import numpy as np
import pytest

import misfeat
from misfeat import MisfeatError
from misfeat.answers.recording_gains import feature_worths
from misfeat.answers.stability import stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.show.plots.drawing import COLOUR
from misfeat.show.plots.ranked_lists import SUPPORTS
from tests.show.plots.conftest import entropies, texts

NORTH = "clinic=North"
DRAWS = 12  # as in the picture


def points(ax):
    """What was drawn, by marker and colour."""
    drawn = [box.lines[0] for box in ax.containers]
    return {(line.get_marker(), line.get_color()): line.get_xydata() for line in drawn}


def intervals(ax):
    bars = [line for box in ax.containers for line in box.lines[2]]
    return sorted(tuple(segment[:, 0]) for one in bars for segment in one.get_segments())


def values(ax):
    """What was drawn, from the top."""
    drawn = np.concatenate(list(points(ax).values()))
    return drawn[np.argsort(drawn[:, 1]), 0]


def test_sets_are_shares_with_intervals_marked_by_their_source_and_starred(selector):
    best, whole = best_sets(selector.selection_, subgroup=NORTH), entropies(selector)[NORTH]
    ax = misfeat.plot.top_k(selector, NORTH)
    drawn = points(ax)
    for source, marker in (("recorded", "o"), ("predicted", "D")):
        expected = [(one.share, place) for place, one in enumerate(best) if one.source == source]
        assert expected, "the table has both"
        np.testing.assert_allclose(drawn[marker, COLOUR[source]], expected)
    expected = sorted((one.low / whole, one.high / whole) for one in best)
    np.testing.assert_allclose(intervals(ax), expected)
    for label, one in zip(texts(ax.get_yticklabels()), best, strict=True):
        starred = {name[:-1] for name in label.split(", ") if name.endswith("*")}
        assert starred == set(one.missing)


def test_size_number_and_subgroup_can_be_chosen(selector, smallest):
    ax = misfeat.plot.top_k(selector, NORTH, size=2, k=3)
    assert len(ax.get_yticks()) == 3
    assert ax.get_title() == "The 3 best sets of 2 features in clinic=North"
    assert ax.get_xlabel() == "share of the uncertainty about ill"
    with pytest.raises(MisfeatError, match=r"subgroup, one of 'clinic=East', 'clinic=North'"):
        misfeat.plot.top_k(selector)
    with pytest.raises(MisfeatError, match="There is no subgroup 'clinic=Easy'"):
        misfeat.plot.top_k(selector, "clinic=Easy")
    assert misfeat.plot.top_k(smallest).get_title() == "The best set of 1 feature in all rows"


def test_correlations_are_not_called_shares_of_what_there_is_to_tell():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=40), "b": rng.normal(size=40)}
    table["y"] = table["a"] + rng.normal(size=40)
    selector = misfeat.SubgroupSelector(size=1, measure="r2").fit(table, "y")
    assert misfeat.plot.top_k(selector).get_xlabel() == "squared multiple correlation with y"


def test_the_best_features_of_all_subgroups_come_first_with_their_subgroup(selector):
    entropy = entropies(selector)
    shares = {
        f"{one.feature} in {one.subgroup}": one.gain / entropy[one.subgroup]
        for one in feature_worths(selector.selection_)
    }
    ax = misfeat.plot.worth_collecting(selector, n=4)
    assert texts(ax.get_yticklabels()) == sorted(shares, key=lambda name: -shares[name])[:4]
    np.testing.assert_allclose(values(ax), sorted(shares.values(), reverse=True)[:4])
    assert ax.get_xlabel().endswith("share of the uncertainty about ill")


def test_of_one_subgroup_only_features_are_named_and_costs_divide_gains(selector):
    plain, whole = feature_worths(selector.selection_, NORTH), entropies(selector)[NORTH]
    costs = {worth.feature: 4.0 for worth in plain}
    ax = misfeat.plot.worth_collecting(selector, NORTH, costs=costs)
    assert texts(ax.get_yticklabels()) == [worth.feature for worth in plain]
    assert " ".join(ax.get_title().split()).endswith("in clinic=North")
    assert "for every unit of cost" in ax.get_xlabel()
    np.testing.assert_allclose(values(ax), [worth.gain / 4 / whole for worth in plain])
    ends = sorted((worth.low / 4 / whole, worth.high / 4 / whole) for worth in plain)
    np.testing.assert_allclose(intervals(ax), ends)


def test_colour_and_marker_say_what_a_prediction_rests_on(selector):
    ax = misfeat.plot.worth_collecting(selector)
    shown = set(texts(ax.get_legend().get_texts()))
    assert shown == {SUPPORTS[worth.support][2] for worth in feature_worths(selector.selection_)}
    looks = [(box.lines[0].get_color(), box.lines[0].get_marker()) for box in ax.containers]
    assert looks == [SUPPORTS[s][:2] for s in SUPPORTS if SUPPORTS[s][2] in shown]


def test_a_sentence_stands_where_nothing_can_be_collected(smallest):
    ax = misfeat.plot.worth_collecting(smallest)
    assert texts(ax.texts) == ["Every subgroup recorded every feature."]
    table = {
        "g": ["a"] * 4 + ["b"] * 4,
        "x": [0, 0, 1, 1] + [None] * 4,
        "z": [0, 1, 0, 1] + [None] * 4,
        "y": [0, 0, 1, 1, 1, 0, 1, 0],
    }
    selector = misfeat.SubgroupSelector("g", size=2).fit(table, "y")
    (text,) = texts(misfeat.plot.worth_collecting(selector, "g=b").texts)
    assert text.startswith("Too few features were recorded")
    with pytest.raises(MisfeatError, match="n=0"):
        misfeat.plot.worth_collecting(selector, n=0)


def test_bars_are_how_often_sets_and_features_come_again(selector):
    found = stability_of(selector.selection_, resamples=DRAWS)
    sets = [one for one in found.sets if one.subgroup == NORTH]
    held = [one for one in found.features if one.subgroup == NORTH and one.in_top_k]
    ax = misfeat.plot.stability(selector, NORTH, resamples=DRAWS)
    again, features = ([bar.get_width() for bar in bars] for bars in ax.containers)
    assert again == [one.frequency for one in sets]
    assert features == sorted((one.in_top_k for one in held), reverse=True)
    labels = texts(ax.get_yticklabels())
    assert labels[: len(sets)] == [f"{one.rank}. {', '.join(one.features)}" for one in sets]
    assert set(labels[len(sets) + 1 :]) == {one.feature for one in held}
    marks = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    assert sorted(marks) == sorted(one.in_best for one in held if one.in_best)


def test_a_target_with_one_value_has_no_best_set(half_constant):
    with pytest.raises(misfeat.MisfeatError, match="single value in 'g=b'"):
        misfeat.plot.stability(half_constant, "g=b", resamples=2)
