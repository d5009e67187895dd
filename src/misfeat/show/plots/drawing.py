"""What all plots share: axes, colours, names shown as they are, and shares of a selection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, listed, visible
from misfeat.messages import shortened as shown_value
from misfeat.runtime.array_types import Flags, Floats
from misfeat.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
GREY, DARK = "#999999", "#555555"  # distinct for colour-blind readers too (Okabe and Ito)
COLOUR = {"recorded": BLUE, "predicted": VERMILLION}
MARKER = {"recorded": "o", "predicted": "D"}
SCALE = "Blues"  # the darker, the more: what is almost nothing does not catch the eye
# For texts with names of the table in them: ``$`` and ``_`` are characters like all others.
AS_TEXT: dict[str, Any] = {"parse_math": False, "usetex": False}
LONGEST_NAME = 22
LONGEST_LINE = 48  # characters of a name that has a line, or a column, of its own
LEAST_SCALE = 0.02  # shares that are almost nothing are to look like it
FADED = 0.35  # how strongly things are drawn that may be nothing
NO_XML = re.compile("[\ufffe\uffff]")  # characters that no SVG may hold
MOST_UPRIGHT = 6  # characters that a label under a narrow column can have without being turned
LEGEND_ROW = 14  # height of a line of a legend, in points
LEGEND_SIGN, LEGEND_CHARACTER = 0.5, 0.064  # inches before a text of a legend, and of a character
TITLE_CHARACTERS = 13  # so many of a title fit into an inch
BEFORE_AXES = 0.6  # inches for the label of an axis and the edges of a figure
ROW, COLUMN = 0.32, 0.42  # inches of a cell of a map: room for a label of ten points


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones in a figure of so many inches."""
    plt = check_axes(ax)
    found: Axes = ax or plt.subplots(figsize=(width, height), layout="constrained")[1]
    return found


def check_axes(ax: Axes | None) -> Any:
    """Pyplot; raises where nothing can be drawn, so that no long work is done for it."""
    try:
        from matplotlib import axes as kinds
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MisfeatError("Plots need matplotlib: pip install 'misfeat[plot]'.") from error
    if ax is not None and not isinstance(ax, kinds.Axes):
        raise MisfeatError(f"ax={ax!r}; it must be matplotlib axes, or None for a new figure.")
    return plt


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """A name on one line; the middle of a long one is left out, as names differ in their ends."""
    spaced = "".join(" " if letter.isspace() else letter for letter in str(name))
    shown = NO_XML.sub(lambda found: repr(found[0])[1:-1], visible(spaced))
    if len(shown) <= most:
        return shown
    behind = (most - 1) // 2
    return f"{shown[: most - 1 - behind]}…{shown[len(shown) - behind :]}"


def set_label(features: Sequence[str], missing: Sequence[str], most: int = 54) -> str:
    """The features of a set in some `most` characters, a star behind those never recorded."""
    whole = sum(map(len, features)) + 2 * (len(features) - 1) + len(missing)
    each = most if whole <= most else max(6, most // max(len(features), 1) - 3)
    return ", ".join(shortened(f, each) + "*" * (f in missing) for f in features)


def name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label the rows of a map or chart, the first one on top."""
    ax.set_yticks(range(len(labels)), labels=labels, **AS_TEXT)
    ax.set_ylim(len(labels) - 0.5, -0.5)


def name_cells(ax: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Label a map, its columns upright where labels fit, without ticks or a frame."""
    name_rows(ax, rows)
    turn = max(map(len, columns)) > MOST_UPRIGHT
    ax.set_xticks(range(len(columns)), labels=columns, rotation=90 if turn else 0, **AS_TEXT)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def inches(labels: Sequence[str]) -> float:
    """About how long the longest of some labels is in the usual font."""
    return 0.085 * max(map(len, labels), default=0)


def title_and_legend(ax: Axes, title: str, handles: Sequence[Any] = (), columns: int = 3) -> None:
    """Write a title with a legend between it and the data, of at most so many columns."""
    spec, part = ax.get_subplotspec(), ax.figure
    room = float(ax.get_window_extent().width / part.dpi)  # inches in which the title must end
    if spec is not None and spec.get_gridspec().get_geometry() == (1, 1):
        # Alone in its figure, up to its edge; the layout has not yet made room for the labels.
        rows_named = [label.get_text() for label in ax.get_yticklabels()]
        whole: Any = part.figure  # of a part of a figure, the whole one
        room = float(whole.get_figwidth() - inches(rows_named) - BEFORE_AXES)
    labels = [handle.get_label() for handle in handles]
    for n_columns in range(columns, 0, -1):
        lines = max(1, -(-len(labels) // n_columns))
        longest = [max(map(len, labels[i : i + lines])) for i in range(0, len(labels), lines)]
        if sum(LEGEND_SIGN + LEGEND_CHARACTER * length for length in longest) <= room:
            break
    pad = 7 + LEGEND_ROW * -(-len(handles) // n_columns)
    title = "\n".join(wrap(title, max(30, int(TITLE_CHARACTERS * room))))
    # At the left, so that a long one runs on over the scale of colours, not out of the figure.
    ax.set_title(title, fontsize="medium", ha="left", x=0.0, pad=pad, **AS_TEXT)
    if handles:
        look: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        look |= {"borderaxespad": 0.2, "borderpad": 0.2, "frameon": False, "fontsize": "small"}
        legend = ax.legend(handles=list(handles), ncols=n_columns, **look)
        for text in legend.get_texts():
            text.set(**AS_TEXT)


def on_colour(rgba: Sequence[float]) -> str:
    """Black or white, whichever can be read on a colour (by its luma, ITU-R BT.601)."""
    red, green, blue = rgba[:3]
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def sign(words: str, **look: Any) -> Any:
    """A line or marker with what a legend says of it."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=words, **look)


def in_per_cent(axis: Any) -> None:
    """Label an axis, or a scale of colours, in per cent."""
    axis.set_major_formatter(lambda share, _: f"{100 * share:g} %")


def rows_of_shares(ax: Axes, labels: Sequence[str], values: str) -> None:
    """Label the rows of a chart of shares, and their axis; faint lines stand behind the data."""
    name_rows(ax, labels)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    in_per_cent(ax.xaxis)
    ax.set_xlabel(values, **AS_TEXT)


def faded_patch(ax: Axes, words: str) -> Any:
    """What a legend says of things that are faded."""
    from matplotlib.patches import Patch

    return Patch(facecolor=ink(ax), alpha=FADED / 2, label=words)


def ink(ax: Axes) -> str:
    """Black or white, whichever the style of the axes calls for."""
    from matplotlib.colors import to_rgba

    return on_colour(to_rgba(ax.get_facecolor()))


def nothing_to_show(ax: Axes, text: str) -> Axes:
    """Axes with a sentence instead of a picture."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, **AS_TEXT)
    return ax


class Fitted(Protocol):
    """An estimator that keeps its selection."""

    selection_: Selection


def selection_of(selected: Fitted | Selection) -> Selection:
    """The selection itself, or that of a fitted estimator."""
    if isinstance(selected, Selection):
        return selected
    if not hasattr(selected, "fit"):
        raise MisfeatError(
            f"A plot shows a fitted SubgroupSelector or a Selection, not {shown_value(selected)}.",
            value=shown_value(selected),
        )
    from misfeat.runtime.scikit_learn_import import check_is_fitted

    check_is_fitted(selected, "selection_")
    return selected.selection_


def as_shares(selection: Selection, scores: Floats) -> Floats:
    """Scores of shape (n_cohorts, n_sets) over the entropy of the target; 0 where that is 0."""
    whole = selection.set_scores.measure.whole
    return scores / np.where(whole > 0, whole, 1.0)[:, None]


def whole_of(selection: Selection, subgroup: str) -> float:
    """What scores of a subgroup are divided by to be shares."""
    return float(selection.set_scores.measure.whole[selection.cohorts.position(subgroup)]) or 1.0


def share_label(selection: Selection, longest: int = 30, space: str = " ") -> str:
    """What a share is of, for an axis; R² is one already."""
    measure = selection.set_scores.measure
    target = shortened(selection.cohorts.target, longest)
    if measure.name == "r2":
        return f"{measure.words} with {target}"
    return f"share of the uncertainty{space}about {target}"


def interval_words(selection: Selection) -> str:
    """What an interval is called."""
    sure = selection.confidence
    return "certain bounds" if sure is None else f"{100 * sure:.0f} % interval"


def one_subgroup(selected: Fitted | Selection, subgroup: str | None) -> tuple[Selection, str]:
    """The selection, and the subgroup that a plot of a single one is about: named, or the only."""
    selection = selection_of(selected)
    names = selection.cohorts.names
    if subgroup is None and len(names) > 1:
        raise MisfeatError(
            f"This plot shows one subgroup; name it with {Setting('subgroup')}, one of "
            f"{listed(names)}."
        )
    return selection, names[0] if subgroup is None else selection.cohorts.full_name(subgroup)


def significance_of(selection: Selection, size: int) -> tuple[Floats, Flags] | None:
    """P-values of all sets of a size, NaN where not recorded, and which are not significant."""
    # Of shape (n_cohorts, n_sets); None before `significance` was asked. In a subgroup that is not
    # significant as a whole, adjusted for the others, no set is.
    tests = selection.known_tests
    p = None if tests is None else tests.p_values.get(size)
    if tests is None or p is None:
        return None
    nothing = np.array([not one.more_than_chance for one in tests.subgroups])
    return p, np.isfinite(p) & ((p > tests.level) | nothing[:, None])


def chance_words(selection: Selection) -> str:
    """What being faded says, beyond what a feature explains anyway where it was asked so."""
    tests = selection.known_tests
    within = None if tests is None else tests.within
    beyond = "" if within is None else f" within {shortened(within, 16)}"
    return f"not clearly more than chance{beyond}"
