from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat.answers.features import pair_interactions
from misfeat.datasets import load_heart
from misfeat.show.plots.canvas import FADED


@pytest.fixture(scope="module")
def heart():
    data = load_heart()
    return misfeat.SubgroupSelector("site", size=2).fit(data.columns, data.target)


def interactions_of(heart):
    return pair_interactions(heart.selection_, "site=hungarian")


def cells(ax):
    """Interactions as drawn."""
    return ax.collections[0].get_array().filled(np.nan)


def test_interactions_look_as_before(heart, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.interactions(heart, "site=hungarian"), "interactions")


def test_cells_are_interactions_faded_and_in_brackets_where_unclear_dotted_where_predicted(heart):
    ax = misfeat.plot.interactions(heart, "site=hungarian")
    ax.figure.canvas.draw()
    drawn, alpha = cells(ax), ax.collections[0].get_alpha()
    names, pairs = heart.selection_.feature_names, interactions_of(heart)
    assert {one.kind == "unclear" for one in pairs} == {True, False}, "the table has both"
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(texts) == 13 * 12
    for one in pairs:
        row, column = names.index(one.feature), names.index(one.other)
        assert drawn[row, column] == drawn[column, row] == one.interaction
        assert alpha[row, column] == (FADED if one.kind == "unclear" else 1.0)
        assert texts[column, row].startswith("(") == (one.kind == "unclear")
    assert np.isnan(np.diag(drawn)).all()
    predicted = [pair for pair in pairs if pair.source == "predicted"]
    assert predicted
    assert len(ax.collections[1].get_offsets()) == 2 * len(predicted)
    same = sum(pair.kind == "redundancy" for pair in pairs)
    title = " ".join(ax.get_title().split())
    assert title.startswith("site=hungarian: ")
    assert f"{same} pair" in title


def test_one_feature_has_no_pair(smallest):
    (text,) = misfeat.plot.interactions(smallest).texts
    assert "no pair" in text.get_text()
