from __future__ import annotations

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
