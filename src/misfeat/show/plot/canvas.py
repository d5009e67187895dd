"""What all plots share: axes to draw on, colours, and names that are shown as they are."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError
from misfeat.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
GREY, DARK = "#999999", "#555555"
"""Told apart by colour-blind readers too (Okabe and Ito)."""
COLOUR = {"recorded": BLUE, "predicted": VERMILLION}
MARKER = {"recorded": "o", "predicted": "D"}
SCALE = "Blues"
"""The darker, the more: what is next to nothing does not catch the eye."""
AS_TEXT: dict[str, Any] = {"parse_math": False, "usetex": False}
"""For texts with names of the table in them: ``$`` and ``_`` are characters like all others."""
LONGEST_NAME = 22
LONGEST_LINE = 48
"""Characters of a name that has a line, or a column, of its own."""
FADED = 0.35
"""How strongly things are drawn that may be nothing."""
NO_XML = "\ufffe\uffff"
"""Characters that no SVG may hold."""
MOST_UPRIGHT = 6
"""Characters that a label under a narrow column can have without being turned."""
LEGEND_ROW = 14
"""Height of a line of a legend, in points."""
LEGEND_SIGN, LEGEND_CHARACTER = 0.5, 0.064
"""Inches of what stands before a text of a legend, with the gap behind it, and of a character."""
NARROWEST = 4.2
"""Inches of a map, so that its title fits."""
TITLE_CHARACTERS = 13
"""So many of a title fit into an inch."""
BEFORE_AXES = 0.6
"""Inches for the label of an axis and the edges of a figure."""
ROW, COLUMN = 0.32, 0.42
"""Height and width of a cell of a map, in inches: room for a label of ten points."""


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones in a figure of so many inches."""
    check_axes(ax)
    if ax is not None:
        return ax
    new: Axes = _pyplot().subplots(figsize=(width, height), layout="constrained")[1]
    return new


def check_axes(ax: Axes | None) -> None:
    """Raise where nothing can be drawn, so that no long work is done for it."""
    _pyplot()
    from matplotlib import axes as kinds

    if ax is not None and not isinstance(ax, kinds.Axes):
        raise MisfeatError(f"ax={ax!r}; it must be matplotlib axes, or None for a new figure.")


def panels(count: int, beside: int, width: float, height: float) -> NDArray[np.object_]:
    """So many axes of one scale in a new figure, row by row; each of so many inches."""
    columns = min(count, beside)
    rows = -(-count // columns)
    figure = _pyplot().figure(figsize=(width * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for spare in grid.flat[count:]:
        spare.remove()
    for ax in grid.flat[max(count - columns, 0) : count]:
        ax.tick_params(labelbottom=True)  # also where there is no panel below
    found: NDArray[np.object_] = grid.ravel()[:count]
    return found


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MisfeatError("Plots need matplotlib: pip install 'misfeat[plot]'.") from error
    return plt


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    r"""A name on one line; the middle of a long one is left out, since ends tell names apart.

    Examples
    --------
    >>> shortened("cholesterol in the blood, fasting", 16)
    'choleste…fasting'
    >>> shortened("two\nlines")
    'two lines'
    >>> print(shortened("\u202eturned"))
    \u202eturned
    """
    shown = visible("".join(_spelled(letter) for letter in str(name)))
    if len(shown) <= most:
        return shown
    behind = (most - 1) // 2
    return f"{shown[: most - 1 - behind]}…{shown[len(shown) - behind :]}"


def _spelled(letter: str) -> str:
    if letter in NO_XML:
        return repr(letter)[1:-1]
    return " " if letter.isspace() else letter


def set_label(features: Sequence[str], missing: Sequence[str], most: int = 54) -> str:
    """The features of a set in some `most` characters, a star behind those never recorded.

    Examples
    --------
    >>> set_label(("age", "mri"), ("mri",))
    'age, mri*'
    """
    whole = sum(map(len, features)) + 2 * (len(features) - 1) + len(missing)
    each = most if whole <= most else max(6, most // max(len(features), 1) - 3)
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

    The legend has at most so many columns; there is none without handles.
    """
    room = _title_room(ax)
    columns = _fitting(columns, [handle.get_label() for handle in handles], room)
    rows = -(-len(handles) // columns)
    lines = wrap(title, max(30, int(TITLE_CHARACTERS * room)))
    pad = 7 + LEGEND_ROW * rows
    # At the left, so that a long one runs on over the scale of colours, not out of the figure.
    ax.set_title("\n".join(lines), fontsize="medium", ha="left", x=0.0, pad=pad, **AS_TEXT)
    if handles:
        legend = ax.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            borderpad=0.2,
            ncols=columns,
            frameon=False,
            fontsize="small",
        )
        for text in legend.get_texts():
            text.set(**AS_TEXT)


def _fitting(columns: int, labels: Sequence[str], room: float) -> int:
    """How many columns of a legend fit beside each other, at most so many."""
    for count in range(columns, 1, -1):
        lines = max(1, -(-len(labels) // count))
        longest = [max(map(len, labels[i : i + lines])) for i in range(0, len(labels), lines)]
        if sum(LEGEND_SIGN + LEGEND_CHARACTER * length for length in longest) <= room:
            return count
    return 1


def _title_room(ax: Axes) -> float:
    """Inches from the left of the axes to where a title must end."""
    spec, whole = ax.get_subplotspec(), _whole_figure(ax)
    if spec is None or whole is None or spec.get_gridspec().get_geometry() != (1, 1):
        return float(ax.get_window_extent().width / ax.figure.dpi)
    # Alone in its figure, up to its edge; the layout has not yet made room for the labels.
    labels = [label.get_text() for label in ax.get_yticklabels()]
    return float(whole.get_figwidth() - inches(labels) - BEFORE_AXES)


def _whole_figure(ax: Axes) -> Any:
    """The figure that axes are in, also where they are in a part of it."""
    found: Any = ax.figure
    while found.figure is not None and found.figure is not found:
        found = found.figure
    return found


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


def per_cent(share: float) -> str:
    """A share in per cent, as finely as it can be told from 0.

    Examples
    --------
    >>> per_cent(0.314), per_cent(0.004), per_cent(0.0001), per_cent(0)
    ('31 %', '0.4 %', '<0.1 %', '0 %')
    """
    return f"{_hundredths(share)} %"


def per_cent_between(low: float, high: float) -> str:
    """An interval of shares.

    Examples
    --------
    >>> per_cent_between(0.042, 0.09), per_cent_between(0, 0.004)
    ('4–9 %', '0–0.4 %')
    """
    return f"{_hundredths(low)}–{_hundredths(high)} %"


def _hundredths(share: float) -> str:
    if share >= 0.00995 or share <= 0:
        return f"{100 * max(share, 0):.0f}"
    return f"{100 * share:.1f}" if share >= 0.0005 else "<0.1"


def in_per_cent(axis: Any) -> None:
    """Label an axis, or a scale of colours, in per cent."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


def faded_patch(ax: Axes, words: str) -> Any:
    """What a legend says of things that are faded."""
    from matplotlib.patches import Patch

    return Patch(facecolor=ink(ax), alpha=FADED / 2, label=words)


def ink(ax: Axes) -> str:
    """Black or white, whichever the style of the axes calls for."""
    from matplotlib.colors import to_rgba

    return on_colour(to_rgba(ax.get_facecolor()))


def say_nothing_to_show(ax: Axes, text: str) -> Axes:
    """Axes with a sentence instead of a picture."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, **AS_TEXT)
    return ax
