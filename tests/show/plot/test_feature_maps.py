from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat.answers.significance import significance_tests
from misfeat.answers.top import best_sets


def values(ax):
    """Rows of shares as drawn: features, then the best set."""
    cells = ax.collections[0].get_array()
    return np.delete(cells.filled(np.nan), -2, axis=1)


def names(labels):
    return [label.get_text() for label in labels]


def test_the_map_of_scores_looks_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.subgroups(selector), "subgroups")


def test_the_map_of_scores_of_many_cohorts_looks_as_before(large, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.subgroups(large), "subgroups_many")


def test_cells_are_shares_of_the_targets_entropy(selector):
    ax = misfeat.plot.subgroups(selector)
    entropy = dict(
        zip(selector.subgroups_["subgroup"], selector.subgroups_["target_entropy"], strict=True)
    )
    *features, last = names(ax.get_xticklabels())
    expected = [
        [
            *[selector.score_of(subgroup, [feature]) for feature in features],
            best_sets(selector.selection_, k=1, subgroup=subgroup)[0].score,
        ]
        / np.array(entropy[subgroup])
        for subgroup in names(ax.get_yticklabels())
    ]
    assert last == "best set of 3"
    np.testing.assert_allclose(values(ax), expected)
    means = values(ax)[:, :-1].mean(axis=0)
    assert (np.diff(means) <= 0).all()  # best on the left


def test_cells_in_nats_are_the_scores(selector):
    ax = misfeat.plot.subgroups(selector, size=1, relative=False)
    assert values(ax).max() == max(one.score for one in best_sets(selector.selection_, size=1, k=1))
    assert names(ax.get_xticklabels())[-1] == "best set of 1"


def test_predicted_cells_have_a_marked_corner(selector, smallest):
    n_missing = selector.cohorts_.missing.sum()
    n_predicted = sum(one.source == "predicted" for one in best_sets(selector.selection_, k=1))
    ax = misfeat.plot.subgroups(selector)
    assert len(ax.collections[1].get_paths()) == n_missing + n_predicted
    ax = misfeat.plot.subgroups(smallest)
    assert len(ax.collections[1].get_paths()) == 0
    assert ax.get_legend() is None


def test_numbers_are_written_where_there_is_room(selector, large):
    assert len(misfeat.plot.subgroups(selector).texts) == 4 * 8
    assert len(misfeat.plot.subgroups(large).texts) == 0


def test_a_constant_target_tells_nothing():
    table = {"g": ["a"] * 4 + ["b"] * 4, "x": [0, 0, 1, 1] * 2, "y": [0, 0, 1, 1, 1, 1, 1, 1]}
    with pytest.warns(misfeat.MisfeatWarning, match="single value"):
        selector = misfeat.SubgroupSelector("g", size=1, estimate="sample").fit(table, "y")
    np.testing.assert_allclose(
        values(misfeat.plot.subgroups(selector)), [[1, 1], [0, 0]], atol=1e-12
    )


def test_features_to_include_do_not_hide_single_features(data):
    selector = misfeat.SubgroupSelector(data.groups, size=2, include=["ecg", "weight"])
    ax = misfeat.plot.subgroups(selector.fit(data.columns, data.target))
    assert len(ax.get_xticks()) == 7 + 1


@pytest.mark.parametrize("relative", [True, False])
def test_squared_correlations_are_shares_already(relative):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=40), "b": rng.normal(size=40)}
    table["y"] = table["a"] + rng.normal(size=40)
    selector = misfeat.SubgroupSelector(size=1, measure="r2").fit(table, "y")
    ax = misfeat.plot.subgroups(selector, relative=relative)
    assert values(ax).max() == best_sets(selector.selection_, k=1)[0].score


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
    p_values = significance_tests(heart.selection_).p_values[1]
    nothing = [not one.more_than_chance for one in significance_tests(heart.selection_).subgroups]
    chance = np.isfinite(p_values) & ((p_values > 0.05) | np.array(nothing)[:, None])
    in_brackets = [text for text in names(ax.texts) if text.startswith("(")]
    assert len(in_brackets) == chance.sum() > 0
    grey = ax.collections[1].get_array()
    assert (~np.ma.getmaskarray(grey)).sum() == chance.sum()
    assert "grey (in brackets): not more than chance" in names(ax.get_legend().get_texts())


def test_nothing_is_grey_before_it_was_asked(selector):
    texts = names(misfeat.plot.feature_map(selector).texts)
    assert not any(text.startswith("(") for text in texts)
