"""The forest plot: what one set of features explains in every subgroup."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.answers.selection_base import set_members, subgroup_rows
from misfeat.lattice.levels import rank
from misfeat.number_formatting import count_words, p_words
from misfeat.selection import Selection
from misfeat.show.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_SQUARE = 130.0  # area of the square of the largest subgroup, in square points
LONGEST_SET = 120  # characters of the features in the title
CHARACTER, BETWEEN = 5.9, 16.0  # points of a character of a column of text, and between two columns


def forest(
    selected: drawing.Fitted | Selection, features: Sequence[str], ax: "Axes | None" = None
) -> "Axes":
    """Draw what one set of features explains in every subgroup: a forest plot.

    Subgroups in which the set explains most come first. The area of a square shows the rows of the
    subgroup, the line its interval; predicted ones are hollow and dashed. After `significance` was
    asked, a column shows p-values, and subgroups are faded in which that is not clearly more than
    chance. There is no diamond for all subgroups: a selection holds no such number.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    features : sequence of str
        The features of the set, in any order.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure. The texts on the right need some two inches.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> selector = misfeat.SubgroupSelector("site", size=2).fit(heart.columns, "num")
    >>> ax = misfeat.plot.forest(selector, ["cp", "ca"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['site=hungarian', 'site=cleveland', 'site=switzerland', 'site=va']
    """
    selection = drawing.selection_of(selected)
    known = selection.feature_names
    members = set_members(selection, features)
    lines = _forest_rows(selection, members)
    columns = _forest_columns(lines, selection, len(members))
    labels = [drawing.shortened(line.subgroup, drawing.LONGEST_LINE) for line in lines]
    widths = [BETWEEN + CHARACTER * max(map(len, (head, *cells))) for head, cells in columns]
    beside = sum(widths) / 72
    height = max(2.6, 1.7 + drawing.ROW * (len(lines) + 1))
    ax = drawing.axes(ax, drawing.inches(labels) + 3.6 + beside, height)
    most_rows = max(line.rows for line in lines)
    for row, line in enumerate(lines):
        if line.varies:
            _draw_row(ax, row, line, LARGEST_SQUARE * line.rows / most_rows)
    drawing.rows_of_shares(ax, labels, drawing.share_label(selection))
    ax.set_ylim(len(lines) - 0.5, -1.3)  # a row for the heads of the columns
    ax.set_xlim(0, max(drawing.LEAST_SCALE, 1.04 * max(line.high for line in lines)))
    for (head, cells), away in zip(columns, np.cumsum(widths).tolist(), strict=True):
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "right"}
        where |= {"textcoords": "offset points", "va": "center", "annotation_clip": False}
        where |= {"fontsize": 9, "color": drawing.ink(ax), "xytext": (away, 0)}
        ax.annotate(head, (1, -0.95), weight="bold", **where)
        for row, (text, line) in enumerate(zip(cells, lines, strict=True)):
            ax.annotate(text, (1, row), alpha=0.6 if line.faded else 1.0, **where)
    ax.locator_params(axis="x", nbins=5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    names = drawing.set_label([known[member] for member in members], (), LONGEST_SET)
    title = f"{names} in {count_words(len(lines), 'subgroup')}"
    drawing.title_and_legend(ax, title, _forest_legend(ax, lines, selection))
    return ax


class _ForestRow(NamedTuple):
    """The score of a set in one subgroup, in shares; p is NaN where there is none."""

    subgroup: str
    rows: float
    share: float
    low: float
    high: float
    predicted: bool
    p: float
    faded: bool
    varies: bool  # whether the target has more than one value there


def _forest_rows(selection: Selection, members: list[int]) -> list[_ForestRow]:
    """The subgroups, that with the highest share first."""
    subset = np.array([members])
    scores = selection.set_scores.scored(subset)
    ends = scores.score, scores.low, scores.high
    bounds = [drawing.as_shares(selection, one)[:, 0] for one in ends]
    tests = drawing.significance_of(selection, len(members))
    p: Any = np.full(len(selection.cohorts), np.nan)
    faded: Any = np.zeros(len(selection.cohorts), dtype=bool)
    if tests is not None:
        p, faded = (held[:, int(rank(subset)[0])] for held in tests)
    subgroups = subgroup_rows(selection.cohorts)
    lines = map(
        _ForestRow,
        [row["subgroup"] for row in subgroups],
        [float(row["rows"]) for row in subgroups],
        *(held.tolist() for held in (*bounds, scores.predicted[:, 0], p, faded)),
        (selection.set_scores.measure.whole > 0).tolist(),
    )
    return sorted(lines, key=lambda line: (not line.varies, -line.share))


def _draw_row(ax: "Axes", row: int, line: _ForestRow, area: float) -> None:
    colour = drawing.COLOUR["predicted" if line.predicted else "recorded"]
    alpha = drawing.FADED if line.faded else 1.0
    if line.high > line.low:
        look: dict[str, Any] = {"linestyle": (0, (4, 2)) if line.predicted else "solid"}
        ends = [line.low, line.high]
        ax.plot(ends, [row, row], linewidth=1.6, color=colour, alpha=alpha, **look)
    square: dict[str, Any] = {"marker": "s", "edgecolors": colour, "linewidths": 1.5, "zorder": 3}
    if line.predicted:  # what is hollow hides the line behind it, faded or not
        square |= {"facecolors": ax.get_facecolor()}
    else:
        square |= {"facecolors": colour, "alpha": alpha}
    ax.scatter([line.share], [row], s=max(area, 4.0), **square)


def _forest_columns(
    lines: list[_ForestRow], selection: Selection, size: int
) -> list[tuple[str, list[str]]]:
    """What stands on the right: a head, and a text a line."""
    columns = [
        ("rows", [f"{line.rows:,.0f}" for line in lines]),
        ("share", [f"{_per_cent(line.share)} %" if line.varies else "none" for line in lines]),
    ]
    if any(line.high > line.low for line in lines):
        between = [f"{_per_cent(line.low)}–{_per_cent(line.high)} %" for line in lines]
        shown = [text if line.varies else "" for text, line in zip(between, lines, strict=True)]
        columns.append((drawing.interval_words(selection), shown))
    tests = selection.known_tests
    if tests is not None and drawing.significance_of(selection, size) is not None:
        most = max(one.permutations for one in tests.subgroups)
        p = [p_words(line.p, most).removeprefix("p ").removeprefix("= ") for line in lines]
        known = zip(p, lines, strict=True)
        columns.append(("p", ["–" if np.isnan(line.p) else text for text, line in known]))
    return columns


def _per_cent(share: float) -> str:
    """A share in per cent, as finely as it differs from 0."""
    if share >= 0.00995 or share <= 0:
        return f"{100 * max(share, 0):.0f}"
    return f"{100 * share:.1f}" if share >= 0.0005 else "<0.1"


def _forest_legend(ax: "Axes", lines: list[_ForestRow], selection: Selection) -> list[Any]:
    handles: list[Any] = []
    for source, dash in (("recorded", "solid"), ("predicted", (0, (2.5, 1.5)))):
        predicted = source == "predicted"
        if any(line.varies and line.predicted == predicted for line in lines):
            colour = drawing.COLOUR[source]
            face = ax.get_facecolor() if predicted else colour
            look: dict[str, Any] = {"color": colour, "linestyle": dash, "marker": "s"}
            words = source if handles else f"{source} (area: rows)"
            handles.append(drawing.sign(words, markerfacecolor=face, **look))
    if any(line.faded for line in lines):
        handles.append(drawing.faded_patch(ax, f"faded: {drawing.chance_words(selection)}"))
    return handles
