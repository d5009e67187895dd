import numpy as np
import pytest

import misfeat
from misfeat.answers.feature_contributions import pair_interactions
from misfeat.answers.subgroup_significance import significance_tests
from misfeat.datasets import load_heart
from misfeat.show.plots.drawing import FADED
from tests.show.plots.conftest import entropies, texts


def test_cells_are_shares_of_what_there_is_to_tell_best_features_first(selector):
    ax = misfeat.plot.feature_map(selector)
    features = texts(ax.get_xticklabels())
    rows = [label.split(" (")[0] for label in texts(ax.get_yticklabels())]
    entropy = entropies(selector)
    expected = [[selector.score_of(row, [f]) / entropy[row] for f in features] for row in rows]
    drawn = ax.collections[0].get_array()
    np.testing.assert_allclose(drawn, expected)
    assert (np.diff(drawn.mean(axis=0)) <= 1e-12).all()


def test_where_the_target_has_one_value_cells_are_nothing(half_constant):
    drawn = misfeat.plot.feature_map(half_constant).collections[0].get_array()
    assert drawn[0, 0] > drawn[1, 0] == 0


def test_cells_that_are_chance_are_grey_and_in_brackets(heart):
    ax = misfeat.plot.feature_map(heart)
    p_values = significance_tests(heart.selection_).p_values[1]
    nothing = [not one.more_than_chance for one in significance_tests(heart.selection_).subgroups]
    chance = np.isfinite(p_values) & ((p_values > 0.05) | np.array(nothing)[:, None])
    in_brackets = [text for text in texts(ax.texts) if text.startswith("(")]
    assert len(in_brackets) == chance.sum() > 0
    grey = ax.collections[1].get_array()
    assert (~np.ma.getmaskarray(grey)).sum() == chance.sum()
    assert "grey (in brackets): not clearly more than chance" in texts(ax.get_legend().get_texts())
    pale, strong = (one.cmap(one.norm(0.1))[:3] for one in (ax.collections[1], ax.collections[0]))
    assert sum(pale) > sum(strong)


def test_rows_have_their_numbers_and_unrecorded_cells_a_marked_corner(selector, smallest, large):
    selector.selection_.known_tests = None
    ax = misfeat.plot.feature_map(selector)
    assert len(ax.collections[-1].get_paths()) == selector.cohorts_.missing.sum()
    assert "never recorded, predicted" in texts(ax.get_legend().get_texts())
    assert misfeat.plot.feature_map(smallest).get_legend() is None
    many = misfeat.plot.feature_map(large)
    assert "clinic=East (800 rows)" in texts(ax.get_yticklabels())
    assert ax.yaxis_inverted()  # the first subgroup on top
    assert (many.figure.get_size_inches() > 1.5 * ax.figure.get_size_inches()).all()
    assert len(ax.texts) == 4 * 7
    assert len(many.texts) == 0
    assert not any(text.startswith("(") for text in texts(ax.texts))


@pytest.fixture(scope="module")
def sites():
    data = load_heart()
    return misfeat.SubgroupSelector("site", size=2).fit(data.columns, data.target)


def test_interactions_look_as_before(sites, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.interactions(sites, "site=hungarian"), "interactions")


def test_cells_are_interactions_faded_and_in_brackets_where_unclear_dotted_where_predicted(sites):
    ax = misfeat.plot.interactions(sites, "site=hungarian")
    ax.figure.canvas.draw()
    drawn, alpha = ax.collections[0].get_array().filled(np.nan), ax.collections[0].get_alpha()
    names, pairs = (
        sites.selection_.feature_names,
        pair_interactions(sites.selection_, "site=hungarian"),
    )
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
