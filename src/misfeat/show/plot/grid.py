"""Cells of a map: coloured by a value, marked where it was predicted, faded where it is chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.show.plot.canvas import AS_TEXT, SCALE, in_per_cent, ink, on_colour

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

MOST_NUMBERED = 16
"""Columns in which every cell can hold its number."""
POWER = 0.6
"""Colours rise with this power of a value: single features tell far less than sets."""
GREYS, PALE = "Greys", 3.0
"""Scale of cells that may be nothing, and how many times paler it is."""
GAP = 0.4
"""Before a column that stands apart, in cells."""
NARROW_COLUMN = 0.25
"""Inches of a column without numbers: room for a turned label."""


def last_apart(count: int) -> Floats:
    """The middles of so many columns, the last of which stands apart."""
    places = np.arange(count, dtype=float)
    places[-1] += GAP
    return places


def draw_cells(
    ax: Axes, values: Floats, places: Floats, faded: Flags | None = None, top: float | None = None
) -> Any:
    """Draw a coloured cell for every value, a grey one where it may be nothing.

    `values`, at least 0, and `faded` are of shape (n_rows, n_columns), `places` are the middles of
    the columns. The last colour is that of `top`, or of the largest value. What is returned is what
    the scale of colours explains.
    """
    from matplotlib.colors import PowerNorm

    gaps = np.flatnonzero(np.diff(places) > 1) + 1
    edges = np.append(places - 0.5, places[-1] + 0.5)
    edges = np.insert(edges, gaps, places[gaps - 1] + 0.5)
    heights = np.arange(len(values) + 1) - 0.5
    # A gap is a column of its own, without a value.
    shown = np.ma.masked_invalid(np.insert(values, gaps, np.nan, axis=1))
    top = max(float(values.max()) if top is None else top, 1e-12)
    look: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.8}
    image = ax.pcolormesh(edges, heights, shown, cmap=SCALE, norm=PowerNorm(POWER, 0, top), **look)
    if faded is not None and faded.any():
        hidden = ~np.insert(faded, gaps, values=False, axis=1)
        pale = PowerNorm(POWER, 0, PALE * top)
        ax.pcolormesh(
            edges, heights, np.ma.array(shown, mask=hidden), cmap=GREYS, norm=pale, **look
        )
    return image


def mark_cells(
    ax: Axes,
    image: Any,
    values: Floats,
    places: Floats,
    predicted: Flags,
    number: Callable[[float], str],
    faded: Flags | None = None,
) -> None:
    """Put a triangle into the corner of predicted cells, and numbers where there is room.

    `image` is what `draw_cells` made of the same arrays; numbers of grey cells are in brackets, and
    `number` puts a value into four characters.
    """
    from matplotlib.collections import PolyCollection

    corners, colours = [], []
    for (row, column), value in np.ndenumerate(values):
        light = faded is not None and bool(faded[row, column])
        x = float(places[column])
        colour = ink(ax) if light else on_colour(image.cmap(image.norm(value)))
        if predicted[row, column]:
            right, upper = x + 0.45, row - 0.44
            corners.append([(right - 0.3, upper), (right, upper), (right, upper + 0.36)])
            colours.append(colour)
        if values.shape[1] <= MOST_NUMBERED:
            text = f"({number(value)})" if light else number(value)
            look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
            ax.text(x, row + 0.05, text, color=colour, **look)
    ax.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0))


def hundredths(value: float) -> str:
    """A share in per cent in four characters, without the sign.

    Examples
    --------
    >>> hundredths(0.031), hundredths(0.31), hundredths(1e-5)
    ('3.1', '31', '0')
    """
    if value >= 0.0995:
        return f"{100 * value:.0f}"
    return f"{100 * value:.1f}" if value >= 0.0005 else "0"


def explain_colours(ax: Axes, image: Any, label: str, *, shares: bool = True) -> None:
    """Draw the scale of colours, in per cent where values are shares."""
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label(label, **AS_TEXT)
    if shares:
        in_per_cent(bar.ax.yaxis)


def name_on_the_right(ax: Axes, labels: list[str]) -> None:
    """Write a text on the right of every row."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(labels)), labels=labels, fontsize="small", **AS_TEXT)
    right.tick_params(length=0)
    right.spines[:].set_visible(False)


def corner_mark(ax: Axes, words: str) -> Any:
    """What a legend says of the triangle in the corner of a cell."""
    from matplotlib.lines import Line2D
    from matplotlib.path import Path

    corner = Path([(-1, 1), (1, 1), (1, -1), (-1, 1)])  # as in the cells
    look: dict[str, Any] = {"marker": corner, "color": ink(ax), "linestyle": "none"}
    return Line2D([], [], label=words, **look)
