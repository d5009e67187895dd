"""What all plots share: axes to draw on, colours, and names that are shown as they are."""

from __future__ import annotations

import unicodedata
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

BLUE, VERMILLION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#999999"
"""Told apart by colour-blind readers too (Okabe and Ito)."""
COLOUR = {"recorded": BLUE, "predicted": VERMILLION}
MARKER = {"recorded": "o", "predicted": "D"}
SCALE = "viridis"
AS_TEXT: dict[str, Any] = {"parse_math": False, "usetex": False}
"""For texts with names of the table in them: ``$`` and ``_`` are characters like all others."""
LONGEST_NAME = 22
MOST_UPRIGHT = 6
"""Characters that a label under a narrow column can have without being turned."""
LEGEND_ROW = 14
"""Height of a line of a legend, in points."""
NARROWEST = 4.2
"""Inches of a map, so that its title fits."""
TITLE_CHARACTERS = 13
"""So many of a title fit into an inch."""
ROW, COLUMN = 0.32, 0.42
"""Height and width of a cell of a map, in inches: room for a label of ten points."""


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones in a figure of so many inches."""
    try:
        from matplotlib import axes as kinds
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MisfeatError("Plots need matplotlib: pip install 'misfeat[plot]'.") from error
    if isinstance(ax, kinds.Axes):
        return ax
    if ax is not None:
        raise MisfeatError(f"ax={ax!r}; it must be matplotlib axes, or None for a new figure.")
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    r"""A name on one line; the middle of a long one is left out, since ends tell names apart.

    Examples
    --------
    >>> shortened("cholesterol in the blood, fasting", 16)
    'choleste…fasting'
    >>> shortened("two\nlines")
    'two lines'
    """
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in str(name))
    if len(shown) <= most:
        return shown
    behind = (most - 1) // 2
    return f"{shown[: most - 1 - behind]}…{shown[len(shown) - behind :]}"


def set_label(features: Sequence[str], missing: Sequence[str], most: int = 54) -> str:
    """The features of a set in some `most` characters, a star behind those never recorded.

    Examples
    --------
    >>> set_label(("age", "mri"), ("mri",))
    'age, mri*'
    """
    each = max(6, most // max(len(features), 1) - 3)
    return ", ".join(shortened(f, each) + "*" * (f in missing) for f in features)


def name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label the rows of a map or chart, the first one on top."""
    ax.set_yticks(range(len(labels)), labels=labels, **AS_TEXT)
    ax.set_ylim(len(labels) - 0.5, -0.5)


def name_columns(
    ax: Axes, labels: Sequence[str], places: Sequence[float] | NDArray[np.float64] | None = None
) -> None:
    """Label the columns of a map, upright where labels fit; places are the columns' middles."""
    middles = list(range(len(labels)) if places is None else places)
    turn = max(map(len, labels)) > MOST_UPRIGHT
    ax.set_xticks(middles, labels=labels, rotation=90 if turn else 0, **AS_TEXT)
    ax.set_xlim(-0.5, middles[-1] + 0.5)


def inches(labels: Sequence[str]) -> float:
    """About how long the longest of some labels is in the usual font."""
    return 0.085 * max(map(len, labels), default=0)


def crown(ax: Axes, title: str, handles: Sequence[Any] = (), columns: int = 3) -> None:
    """Write a title, whatever characters names in it hold, with a legend between it and the data.

    Parameters
    ----------
    ax : Axes
        What is crowned.
    title : str
        Says what the picture shows.
    handles : sequence
        What the legend explains; no legend where there is nothing.
    columns : int
        Of the legend.
    """
    rows = -(-len(handles) // columns)
    width = ax.get_window_extent().width / ax.figure.dpi
    lines = wrap(title, max(30, int(TITLE_CHARACTERS * width)))
    pad = 7 + LEGEND_ROW * rows
    # At the left, so that a long one runs on over the scale of colours, not out of the figure.
    ax.set_title("\n".join(lines), fontsize="medium", ha="left", x=0.0, pad=pad, **AS_TEXT)
    if handles:
        ax.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            borderpad=0.2,
            ncols=columns,
            frameon=False,
            fontsize="small",
        )


def on_colour(rgba: Sequence[float]) -> str:
    """Black or white, whichever can be read on a colour.

    Examples
    --------
    >>> on_colour((1.0, 1.0, 0.2, 1.0)), on_colour((0.2, 0.0, 0.3, 1.0))
    ('black', 'white')
    """
    red, green, blue = rgba[:3]
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def star(ax: Axes) -> Any:
    """What a legend says about the star behind a name."""
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": (5, 2), "color": ink(ax), "linestyle": "none"}
    return Line2D([], [], label="never recorded there", **look)


def counted(many: int, thing: str) -> str:
    """A number with what it counts.

    Examples
    --------
    >>> counted(1, "set"), counted(4943, "set")
    ('1 set', '4,943 sets')
    """
    return f"{many:,} {thing}" + "s" * (many != 1)


def ink(ax: Axes) -> str:
    """Black or white, whichever the style of the axes calls for."""
    from matplotlib.colors import to_rgba

    return on_colour(to_rgba(ax.get_facecolor()))


def say_nothing_to_show(ax: Axes, text: str) -> Axes:
    """Axes with a sentence instead of a picture."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, **AS_TEXT)
    return ax
