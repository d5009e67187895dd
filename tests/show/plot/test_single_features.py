from __future__ import annotations

import numpy as np

import misfeat


def names(labels):
    return [label.get_text() for label in labels]


def test_the_map_looks_as_before(heart, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.feature_map(heart), "feature_map")


def test_the_map_of_many_features_looks_as_before(large, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.feature_map(large), "feature_map_many")


def test_cells_are_shares_of_what_there_is_to_tell_best_features_first(selector):
    ax = misfeat.plot.feature_map(selector)
    features = names(ax.get_xticklabels())
    rows = [label.split(" (")[0] for label in names(ax.get_yticklabels())]
    entropy = dict(
        zip(selector.subgroups_["subgroup"], selector.subgroups_["target_entropy"], strict=True)
    )
    expected = [[selector.score_of(row, [f]) / entropy[row] for f in features] for row in rows]
    drawn = ax.collections[0].get_array()
    np.testing.assert_allclose(drawn, expected)
    assert (np.diff(drawn.mean(axis=0)) <= 1e-12).all()


def test_unrecorded_cells_have_a_marked_corner(selector):
    ax = misfeat.plot.feature_map(selector)
    assert len(ax.collections[-1].get_paths()) == selector.cohorts_.missing.sum()


def test_cells_that_are_chance_are_grey_and_in_brackets(heart):
    ax = misfeat.plot.feature_map(heart)
    p_values = heart.significances().p_values[1]
    nothing = [not one.more_than_chance for one in heart.significances().subgroups]
    chance = np.isfinite(p_values) & ((p_values > 0.05) | np.array(nothing)[:, None])
    in_brackets = [text for text in names(ax.texts) if text.startswith("(")]
    assert len(in_brackets) == chance.sum() > 0
    grey = ax.collections[1].get_array()
    assert (~np.ma.getmaskarray(grey)).sum() == chance.sum()
    assert "grey (in brackets): not more than chance" in names(ax.get_legend().get_texts())


def test_nothing_is_grey_before_it_was_asked(selector):
    texts = names(misfeat.plot.feature_map(selector).texts)
    assert not any(text.startswith("(") for text in texts)
