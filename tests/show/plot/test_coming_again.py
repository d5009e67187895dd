from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat.answers.stability import stability_of

DRAWS = 12


def names(labels):
    return [label.get_text() for label in labels]


def test_one_subgroup_looks_as_before(selector, assert_looks_as_before):
    ax = misfeat.plot.stability(selector, "clinic=North", resamples=DRAWS)
    assert_looks_as_before(ax, "stability")


def test_all_subgroups_look_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.stability(selector, resamples=DRAWS), "stability_of_all")


def test_bars_are_how_often_sets_and_features_come_again(selector):
    found = stability_of(selector.selection_, resamples=DRAWS)
    sets = [one for one in found.sets if one.subgroup == "clinic=North"]
    held = [one for one in found.features if one.subgroup == "clinic=North" and one.in_top_k]
    ax = misfeat.plot.stability(selector, "clinic=North", resamples=DRAWS)
    again, features = ([bar.get_width() for bar in bars] for bars in ax.containers)
    assert again == [one.frequency for one in sets]
    assert features == sorted((one.in_top_k for one in held), reverse=True)
    labels = names(ax.get_yticklabels())
    assert labels[: len(sets)] == [f"{one.rank}. {', '.join(one.features)}" for one in sets]
    assert set(labels[len(sets) + 1 :]) == {one.feature for one in held}
    marks = [segment[0, 0] for segment in ax.collections[0].get_segments()]
    assert sorted(marks) == sorted(one.in_best for one in held if one.in_best)


def test_features_that_are_never_in_a_best_set_are_counted(selector):
    ax = misfeat.plot.stability(selector, "clinic=North", size=1, k=1, resamples=DRAWS)
    found = stability_of(selector.selection_, size=1, k=1, resamples=DRAWS).features
    never = sum(one.subgroup == "clinic=North" and not one.in_top_k for one in found)
    assert ax.get_xlabel() == f"share of {DRAWS} resamples; {never} features in none of them"


def test_the_map_shows_features_and_how_often_the_best_set_comes_again(selector):
    found = stability_of(selector.selection_, resamples=DRAWS)
    ax = misfeat.plot.stability(selector, resamples=DRAWS)
    rows, columns = names(ax.get_yticklabels()), names(ax.get_xticklabels())
    held = {(one.subgroup, one.feature): one.in_top_k for one in found.features}
    best = {one.subgroup: one.frequency for one in found.sets if one.rank == 1}
    expected = [[*(held[row, name] for name in columns[:-1]), best[row]] for row in rows]
    drawn = np.delete(ax.collections[0].get_array().filled(np.nan), -2, axis=1)
    np.testing.assert_allclose(drawn, expected)


def test_a_target_with_one_value_has_no_best_set(half_constant):
    with pytest.raises(misfeat.MisfeatError, match="single value in 'g=b'"):
        misfeat.plot.stability(half_constant, "g=b", resamples=2)
    assert names(misfeat.plot.stability(half_constant, resamples=2).get_yticklabels()) == ["g=a"]
