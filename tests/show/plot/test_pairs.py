from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat import MisfeatError
from misfeat.answers.interactions import pair_interactions
from misfeat.answers.top import best_sets
from misfeat.datasets import load_heart
from misfeat.show.plot.pairs import FADED


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
    name = large.cohorts_.names[0]
    assert_looks_as_before(misfeat.plot.interactions(large, name), "interactions_many")


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


def test_numbers_are_written_where_there_is_room(heart, large):
    assert len(misfeat.plot.interactions(heart, "site=hungarian").texts) == 13 * 12
    assert not misfeat.plot.interactions(large, large.cohorts_.names[0]).texts


def test_one_feature_has_no_pair(smallest):
    (text,) = misfeat.plot.interactions(smallest).texts
    assert "no pair" in text.get_text()


def test_a_subgroup_must_be_named_where_there_are_several(heart):
    with pytest.raises(misfeat.MisfeatError, match="name it with subgroup"):
        misfeat.plot.interactions(heart)


def names(labels):
    return [label.get_text() for label in labels]


def test_the_cells_of_a_pair_look_as_before(selector, assert_looks_as_before):
    ax = misfeat.plot.cells(selector, "clinic=North", ["glucose", "ecg"])
    assert_looks_as_before(ax, "cells")


def test_predicted_cells_look_as_before(selector, assert_looks_as_before):
    (lacking, *_) = selector.cohorts_.missing_features("clinic=North")
    ax = misfeat.plot.cells(selector, "clinic=North", ["pressure", lacking])
    assert_looks_as_before(ax, "cells_predicted")


def test_cells_hold_the_share_of_the_second_of_two_classes_and_their_rows():
    table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": ["no", "no", "no", "yes"] * 9}
    selector = misfeat.SubgroupSelector(size=2).fit(table, "y")
    ax = misfeat.plot.cells(selector, features=["b", "a"])
    assert ax.get_title() == "y = yes in all rows: 25 % overall"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("b", "a")
    np.testing.assert_array_equal(ax.collections[0].get_array(), [[0, 0], [0, 1]])
    assert names(ax.texts) == ["0 %\n9 rows"] * 3 + ["100 %\n9 rows"]
    other = misfeat.plot.cells(selector, features=["b", "a"], label="no")
    np.testing.assert_array_equal(other.collections[0].get_array(), [[1, 1], [1, 0]])


def test_the_rarest_of_several_classes_is_shown():
    table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": ["x", "x", "y", "z"] * 9}
    table["y"][3] = "y"
    ax = misfeat.plot.cells(misfeat.SubgroupSelector(size=2).fit(table, "y"))
    assert ax.get_title() == "y = z in all rows: 22 % overall"


def test_ranges_are_in_order_and_cells_without_rows_are_empty():
    values = np.arange(60) + 0.5
    table = {"a": values, "b": values, "y": (values > 20).astype(int)}
    ax = misfeat.plot.cells(misfeat.SubgroupSelector(size=2).fit(table, "y"))
    rows = names(ax.get_yticklabels())
    assert rows[0].startswith("<=")
    assert rows[-1].startswith(">")
    assert len(ax.texts) == len(rows) < ax.collections[0].get_array().size


def test_predicted_cells_are_marked(selector):
    (lacking, *_) = selector.cohorts_.missing_features("clinic=North")
    ax = misfeat.plot.cells(selector, "clinic=North", [lacking, "pressure"])
    assert all(text.startswith("~") for text in names(ax.texts))
    assert "predicted" in ax.get_legend().get_texts()[0].get_text()
    recorded = misfeat.plot.cells(selector, "clinic=North", ["glucose", "ecg"])
    assert recorded.get_legend() is None


def test_the_best_pair_is_drawn_where_none_is_named(selector):
    (best,) = best_sets(selector.selection_, size=2, k=1, subgroup="clinic=North")
    ax = misfeat.plot.cells(selector, "clinic=North")
    assert (ax.get_ylabel(), ax.get_xlabel()) == best.features


def test_one_feature_has_no_cells_of_a_pair(smallest):
    (text,) = misfeat.plot.cells(smallest).texts
    assert "no pair" in text.get_text()


@pytest.mark.parametrize("features", [["ecg"], ["ecg", "weight", "sleep"], "ecg"])
def test_a_map_has_two_features(selector, features):
    with pytest.raises(MisfeatError, match="a map has two features"):
        misfeat.plot.cells(selector, "clinic=North", features)


def test_a_class_that_is_not_there_is_refused(selector):
    with pytest.raises(MisfeatError, match="label='maybe' is no class of the target 'ill'"):
        misfeat.plot.cells(selector, "clinic=North", ["glucose", "ecg"], label="maybe")
