"""Where the texts of a figure stand, for tests that look whether they can be read."""

from __future__ import annotations

from itertools import combinations

SPARE = 1.0
"""Pixels by which texts may touch."""


def texts_of(figure):
    """Every text that a reader sees, with its box in pixels."""
    figure.canvas.draw()
    found = [*figure.texts, *(text for one in figure.legends for text in one.get_texts())]
    for axes in figure.axes:
        found += [text for one in (axes, *axes.child_axes) for text in _of_axes(one)]
    renderer = figure.canvas.get_renderer()
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in found
        if text.get_visible() and text.get_text().strip()
    ]


def outside(figure):
    """Texts that a figure cuts off."""
    whole = figure.bbox
    return [
        text
        for text, box in texts_of(figure)
        if box.x0 < whole.x0 - SPARE
        or box.y0 < whole.y0 - SPARE
        or box.x1 > whole.x1 + SPARE
        or box.y1 > whole.y1 + SPARE
    ]


def overlapping(figure):
    """Pairs of texts of which one lies over the other."""
    boxed = texts_of(figure)
    return [
        (one, other)
        for (one, first), (other, second) in combinations(boxed, 2)
        if min(first.x1, second.x1) - max(first.x0, second.x0) > SPARE
        and min(first.y1, second.y1) - max(first.y0, second.y0) > SPARE
    ]


def _of_axes(axes):
    found = [*axes.texts, axes.title, axes._left_title, axes._right_title]
    if axes.get_legend() is not None:
        found += axes.get_legend().get_texts()
    if not axes.axison:
        return found
    for axis in (axes.xaxis, axes.yaxis):
        found.append(axis.label)
        for tick in axis._update_ticks():  # those within the limits
            found += [tick.label1, tick.label2]
    return found
