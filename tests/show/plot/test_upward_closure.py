from __future__ import annotations

import numpy as np
import pytest

import misfeat
from misfeat import Coding


def points(ax):
    return {drawn.get_label(): drawn.get_offsets() for drawn in ax.collections}


def test_closure_looks_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.closure(selector), "closure")


def test_every_set_is_drawn_over_the_best_of_its_parts(selector):
    ax = misfeat.plot.closure(selector, "clinic=East")
    drawn = np.concatenate(list(points(ax).values()))
    assert len(drawn) == 21 + 35
    pairs = dict(of_all(selector, "clinic=East"))
    expected = [
        (max(pairs[features[:i] + features[i + 1 :]] for i in range(len(features))), score)
        for features, score in pairs.items()
        if len(features) > 1
    ]
    np.testing.assert_allclose(sorted(map(tuple, drawn)), sorted(expected))


def of_all(selector, subgroup):
    for size in (1, 2, 3):
        frame = selector.scores(size=size, subgroup=subgroup)
        yield from zip(frame["features"], frame["score"], strict=True)


def test_the_title_counts_pairs_of_all_subgroups(selector):
    n_pairs = 4 * (21 * 2 + 35 * 3)
    title = misfeat.plot.closure(selector).get_title()
    assert title == f"Upward closure holds in 100 % of {n_pairs} pairs (4 subgroups)"
    title = misfeat.plot.closure(selector, "clinic=West").get_title()
    assert title == f"Upward closure holds in 100 % of {n_pairs // 4} pairs (clinic=West)"


def test_sets_below_a_part_are_marked_and_not_counted():
    # With sporadic="available", rows without b do not count for {a, b}; with them, a tells all.
    table = {"a": [1, 1, 1, 0, 0, 0], "b": [1, 1, 1, 1, None, None], "y": [0, 0, 0, 1, 1, 1]}
    selector = misfeat.SubgroupSelector(
        size=2, estimate="sample", coding=Coding(sporadic="available")
    ).fit(table, "y")
    assert selector.score_of("all rows", ["a", "b"]) < selector.score_of("all rows", ["a"])
    ax = misfeat.plot.closure(selector)
    assert len(points(ax)["below a part"]) == 1
    assert ax.get_title() == "Upward closure holds in 50.0 % of 2 pairs (all rows)"


def test_a_selector_of_single_features_shows_pairs(data):
    selector = misfeat.SubgroupSelector(data.groups, size=1).fit(data.columns, data.target)
    drawn = points(misfeat.plot.closure(selector))
    assert sum(map(len, drawn.values())) == 4 * 21


def test_of_one_feature_the_part_is_the_empty_set(smallest):
    ax = misfeat.plot.closure(smallest)
    score = smallest.score_of("all rows", ["a"])
    assert points(ax)["recorded"].tolist() == [[0, pytest.approx(score)]]


def test_many_points_are_thinned_but_counted(large, monkeypatch):
    monkeypatch.setattr("misfeat.show.plot.upward_closure.MOST_DRAWN", 500)
    ax = misfeat.plot.closure(large)
    assert all(250 < len(drawn) <= 500 for drawn in points(ax).values())
    assert f"{20 * 435 * 2:,} pairs" in ax.get_title()
