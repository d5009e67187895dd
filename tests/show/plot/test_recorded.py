from __future__ import annotations

from math import comb

import numpy as np

import misfeat
from misfeat.show.plot.canvas import LONGEST_NAME


def cells(ax):
    return {drawn.get_label(): len(drawn.get_paths()) for drawn in ax.collections}


def test_the_map_looks_as_before(selector, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.missing(selector), "missing")


def test_the_map_of_many_cohorts_looks_as_before(large, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.missing(large), "missing_many")


def test_every_cell_says_whether_the_feature_was_recorded(selector):
    absent = selector.cohorts_.missing
    ax = misfeat.plot.missing(selector)
    assert cells(ax) == {"recorded": (~absent).sum(), "never recorded": absent.sum()}
    assert f"{absent.sum()} of {absent.size}" in ax.get_title()


def test_rows_are_subgroups_with_their_sizes_and_columns_features(selector):
    ax = misfeat.plot.missing(selector)
    assert ax.get_yticklabels()[0].get_text() == "clinic=East (800 rows)"
    assert [label.get_text() for label in ax.get_xticklabels()] == [*selector.cohorts_.features]
    assert ax.yaxis_inverted()  # the first subgroup on top


def test_a_figure_grows_with_its_cells_and_long_names_are_cut(large, selector):
    ax = misfeat.plot.missing(large)
    small, big = misfeat.plot.missing(selector).figure, ax.figure
    assert (big.get_size_inches() > 1.5 * small.get_size_inches()).all()
    label = ax.get_xticklabels()[0].get_text()
    assert label == "laboratory …t number 0"
    assert len(label) == LONGEST_NAME


def cell_texts(ax):
    return [text.get_text() for text in ax.texts]


def test_shares_look_as_before(sampled, assert_looks_as_before):
    assert_looks_as_before(misfeat.plot.sampling(sampled), "sampling")


def test_cells_count_scores_of_recorded_features(sampled):
    expected = []
    for cohort, name in enumerate(sampled.cohorts_.names):
        n_recorded = int((~sampled.cohorts_.missing[cohort]).sum())
        for size in (1, 2, 3):
            exact = (sampled.scores(size=size, subgroup=name)["source"] == "recorded").sum()
            expected.append(f"{exact} of {comb(n_recorded, size)}")
    ax = misfeat.plot.sampling(sampled)
    assert cell_texts(ax) == expected
    scored, computable = np.array([cell.split(" of ") for cell in expected], dtype=int).T
    shares = np.reshape(scored / computable, (4, 3))
    np.testing.assert_allclose(ax.images[0].get_array(), shares)


def test_labels_say_how_the_sampler_spread_over_sizes(sampled):
    ax = misfeat.plot.sampling(sampled)
    n = (
        np.array([cell.split(" of ") for cell in cell_texts(ax)], dtype=int)
        .reshape(4, 3, 2)
        .sum(axis=0)
    )
    of_scored, of_computable = (100 * n / n.sum(axis=0)).T
    for place, label in enumerate(ax.get_xticklabels()):
        size, first, second = label.get_text().split("\n")
        assert size == str(place + 1)
        assert first == f"{of_computable[place]:.0f} % of computable"
        assert second == f"{of_scored[place]:.0f} % of scored"


def test_the_title_says_budget_and_sampler(sampled, selector):
    assert misfeat.plot.sampling(sampled).get_title().endswith("(budget 30 %, randwalk)")
    title = misfeat.plot.sampling(selector).get_title()
    assert title.startswith("100 % of ")
    assert title.endswith("(budget 100 %)")


def test_sizes_that_a_cohort_cannot_have_are_left_blank():
    table = {
        "g": ["a"] * 4 + ["b"] * 4,
        "x": [0, 0, 1, 1] * 2,
        "z": [0, 1, 0, 1] + [None] * 4,
        "y": [0, 0, 1, 1, 1, 0, 1, 0],
    }
    selector = misfeat.SubgroupSelector("g", size=2).fit(table, "y")
    ax = misfeat.plot.sampling(selector)
    assert cell_texts(ax) == ["2 of 2", "1 of 1", "1 of 1"]
    assert ax.images[0].get_array().mask.sum() == 1
