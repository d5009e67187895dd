from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt

from misfeat.show.plot.grid import GAP, draw_cells, last_apart, mark_cells

VALUES = np.array([[0.1, 0.2, 0.4], [0.0, 0.3, 0.1]])
NONE = np.zeros(VALUES.shape, dtype=bool)


def test_a_column_that_stands_apart_has_a_gap_before_it():
    ax = plt.subplots()[1]
    image = draw_cells(ax, VALUES, last_apart(3))
    edges = image.get_coordinates()[0, :, 0]
    np.testing.assert_allclose(edges, [-0.5, 0.5, 1.5, 1.5 + GAP, 2.5 + GAP])
    assert np.isnan(image.get_array().filled(np.nan)[:, 2]).all()


def test_cells_without_a_gap_are_side_by_side():
    image = draw_cells(plt.subplots()[1], VALUES, np.arange(3.0))
    np.testing.assert_array_equal(image.get_array(), VALUES)


def test_grey_cells_lie_over_coloured_ones_and_are_paler_than_any_of_the_same_value():
    ax = plt.subplots()[1]
    faded = VALUES > 0.25
    image = draw_cells(ax, VALUES, np.arange(3.0), faded)
    grey = ax.collections[1]
    np.testing.assert_array_equal(np.ma.getmaskarray(grey.get_array()), ~faded)
    for value in VALUES[faded]:
        pale, strong = (one.cmap(one.norm(value))[:3] for one in (grey, image))
        assert np.ptp(pale) < 0.01
        assert sum(pale) > sum(strong)


def test_numbers_of_grey_cells_are_in_brackets():
    ax = plt.subplots()[1]
    faded = VALUES > 0.35
    image = draw_cells(ax, VALUES, np.arange(3.0), faded)
    mark_cells(ax, image, VALUES, np.arange(3.0), NONE, str, faded)
    assert [text.get_text() for text in ax.texts] == ["0.1", "0.2", "(0.4)", "0.0", "0.3", "0.1"]
