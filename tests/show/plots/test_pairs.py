from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat.answers.interactions import pair_interactions
from misfeat.datasets import load_heart
from misfeat.show.plots.canvas import FADED


@pytest.fixture(scope="module")
def heart():
    data = load_heart()
    return misfeat.SubgroupSelector("site", size=2).fit(data.columns, data.target)


def cells(ax):
    """Interactions as drawn."""
    return ax.collections[0].get_array().filled(np.nan)


def test_interactions_look_as_before(heart, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.interactions(heart, "site=hungarian"), "interactions")


def test_interactions_of_many_features_look_as_before(large, assert_looks_as_before):
    ax = misfeat.plot.interactions(large, large.cohorts_.names[0])
    assert not ax.texts  # there is no room for numbers
    assert_looks_as_before(ax, "interactions_many")


def test_cells_are_interactions_and_mirror_each_other(heart):
    drawn = cells(misfeat.plot.interactions(heart, "site=hungarian"))
    names = heart.selection_.feature_names
    for one in pair_interactions(heart.selection_, "site=hungarian"):
        place = names.index(one.feature), names.index(one.other)
        assert drawn[place] == drawn[place[::-1]] == one.interaction
    assert np.isnan(np.diag(drawn)).all()


def test_what_is_unclear_is_faded_and_in_brackets(heart):
    ax = misfeat.plot.interactions(heart, "site=hungarian")
    ax.figure.canvas.draw()
    names = heart.selection_.feature_names
    unclear = {
        (names.index(one.feature), names.index(one.other)): one.kind == "unclear"
        for one in pair_interactions(heart.selection_, "site=hungarian")
    }
    assert set(unclear.values()) == {True, False}, "the table has both"
    assert len(ax.texts) == 13 * 12
    alpha = ax.collections[0].get_alpha()
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    for (row, column), is_unclear in unclear.items():
        assert alpha[row, column] == (FADED if is_unclear else 1.0)
        assert texts[column, row].startswith("(") == is_unclear


def test_predicted_pairs_have_a_dot(heart):
    ax = misfeat.plot.interactions(heart, "site=hungarian")
    predicted = [
        p for p in pair_interactions(heart.selection_, "site=hungarian") if p.source == "predicted"
    ]
    assert predicted
    assert len(ax.collections[1].get_offsets()) == 2 * len(predicted)


def test_the_title_counts_what_is_clear(heart):
    pairs = pair_interactions(heart.selection_, "site=hungarian")
    same = sum(pair.kind == "redundancy" for pair in pairs)
    title = " ".join(misfeat.plot.interactions(heart, "site=hungarian").get_title().split())
    assert title.startswith("site=hungarian: ")
    assert f"{same} pair" in title


def test_one_feature_has_no_pair(smallest):
    (text,) = misfeat.plot.interactions(smallest).texts
    assert "no pair" in text.get_text()


def test_a_subgroup_must_be_named_where_there_are_several(heart):
    with pytest.raises(misfeat.MisfeatError, match="name it with subgroup"):
        misfeat.plot.interactions(heart)
