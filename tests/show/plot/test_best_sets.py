from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat import MisfeatError
from misfeat.show.plot.canvas import COLOUR


def points(ax):
    """Scores of what was drawn, by marker and colour."""
    drawn = [box.lines[0] for box in ax.containers]
    return {(line.get_marker(), line.get_color()): line.get_xydata() for line in drawn}


def test_the_best_sets_look_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.top_k(selector, "clinic=North", k=8), "top_k")


def test_recorded_and_predicted_sets_have_their_own_colour_and_marker(selector):
    best = selector.best_sets(subgroup="clinic=North")
    drawn = points(misfeat.plot.top_k(selector, "clinic=North", relative=False))
    for source, marker in (("recorded", "o"), ("predicted", "D")):
        expected = [(one.score, place) for place, one in enumerate(best) if one.source == source]
        assert expected, "the table has both"
        np.testing.assert_allclose(drawn[marker, COLOUR[source]], expected)


def test_every_set_has_its_interval(selector):
    best = selector.best_sets(subgroup="clinic=North")
    ax = misfeat.plot.top_k(selector, "clinic=North", relative=False)
    bars = [line for box in ax.containers for line in box.lines[2]]
    ends = [tuple(segment[:, 0]) for one in bars for segment in one.get_segments()]
    expected = [(one.low, one.high) for one in best]
    np.testing.assert_allclose(sorted(ends), sorted(expected))


def test_what_is_certain_has_none(data):
    selector = misfeat.SubgroupSelector(data.groups, size=1, estimate="sample", completer="drop")
    ax = misfeat.plot.top_k(selector.fit(data.complete, data.target), "clinic=North")
    assert not [line for box in ax.containers for line in box.lines[2]]


def test_unrecorded_features_are_starred(selector):
    best = selector.best_sets(subgroup="clinic=North")
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
    best = selector.best_sets(subgroup="clinic=North")
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
