"""One set of features across all subgroups, as meta-analysts draw studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.options import check_set
from misfeat.answers.top import subgroup_rows
from misfeat.cohorts.features import not_a_feature
from misfeat.lattice import rank
from misfeat.show.plot.asking import (
    as_shares,
    chance_words,
    interval_words,
    most_telling,
    no_more_than_chance,
    p_values,
    selection_of,
    share_label,
)
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLOUR,
    FADED,
    LONGEST_LINE,
    ROW,
    axes,
    counted,
    crown,
    faded_patch,
    in_per_cent,
    inches,
    ink,
    name_rows,
    per_cent,
    per_cent_between,
    set_label,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

LARGEST_SQUARE = 130.0
"""Area of the square of the largest subgroup, in square points."""
SMALLEST_SQUARE = 4.0
LONGEST_SET = 120
"""Characters of the features in the title."""
LEAST_SCALE = 0.02
"""Shares that are next to nothing are to look like it."""
CHARACTER, BETWEEN = 5.9, 16.0
"""Points of a character of a column of text, and between two columns."""


def forest(selected: Fitted | Selection, features: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw what one set of features tells in every subgroup: a forest plot.

    Subgroups in which the set tells most come first. The area of a square shows the rows of the
    subgroup, the line its interval; squares are hollow and lines dashed where the subgroup never
    recorded all of the features, so that its share is predicted. After `significance` was asked, a
    column shows p-values, and subgroups are faded in which the set tells no more than chance.
    There is no diamond for all subgroups together: a selection holds no such number.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    features : sequence of str
        The features of the set, in any order.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None. The texts on the right need some two inches.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import load_heart
    >>> heart = load_heart()
    >>> selector = misfeat.SubgroupSelector("site", size=2).fit(heart.columns, "num")
    >>> ax = misfeat.plot.forest(selector, ["cp", "ca"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['site=hungarian', 'site=cleveland', 'site=va', 'site=switzerland']
    """
    selection = selection_of(selected)
    members = _members(selection, features)
    names = tuple(selection.feature_names[member] for member in members)
    lines = _lines(selection, members)
    columns = _columns(lines, interval_words(selection))
    labels = [shortened(line.subgroup, LONGEST_LINE) for line in lines]
    beside = sum(map(_width, columns)) / 72
    ax = axes(ax, inches(labels) + 3.6 + beside, max(2.6, 1.7 + ROW * (len(lines) + 1)))
    for place, line in enumerate(lines):
        _draw(ax, place, line, max(line.rows for line in lines))
    name_rows(ax, labels)
    ax.set_ylim(len(lines) - 0.5, -1.3)  # a row for the heads of the columns
    ax.set_xlim(0, max(LEAST_SCALE, 1.04 * max(line.high for line in lines)))
    _write_columns(ax, columns, lines)
    in_per_cent(ax.xaxis)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(share_label(selection), **AS_TEXT)
    title = f"{set_label(names, (), LONGEST_SET)} in {counted(len(lines), 'subgroup')}"
    crown(ax, title, _legend(ax, lines, selection))
    return ax


@dataclass(frozen=True)
class _Line:
    """What a set tells in one subgroup, in shares; p is NaN where there is none."""

    subgroup: str
    rows: float
    share: float
    low: float
    high: float
    predicted: bool
    p: float
    faded: bool
    asked: bool
    tellable: bool


def _members(selection: Selection, features: Sequence[str]) -> list[int]:
    """The numbers of the features of a set, ascending."""
    names = selection.feature_names
    for name in (wanted := check_set(features)):
        if name not in names:
            raise not_a_feature(
                name, "a feature", selection.cohorts, names, selection.options.blocks
            )
    return sorted(names.index(str(name)) for name in wanted)


def _lines(selection: Selection, members: list[int]) -> list[_Line]:
    """The subgroups, those in which the set tells most first."""
    size = len(members)
    scores = selection.set_scores.scored(np.array([members]))
    share, low, high = (
        as_shares(selection, bound)[:, 0] for bound in (scores.score, scores.low, scores.high)
    )
    tested = p_values(selection, size)
    faded = np.zeros(len(share), dtype=bool)
    if tested is not None:
        place = int(rank(np.array([members]))[0])
        tested, faded = tested[:, place], no_more_than_chance(selection, size)[:, place]
    tellable = most_telling(selection) > 0
    lines = [
        _Line(
            subgroup=row["subgroup"],
            rows=float(row["rows"]),
            share=float(share[cohort]),
            low=float(low[cohort]),
            high=float(high[cohort]),
            predicted=bool(scores.predicted[cohort, 0]),
            p=float("nan") if tested is None else float(tested[cohort]),
            faded=bool(faded[cohort]),
            asked=tested is not None,
            tellable=bool(tellable[cohort]),
        )
        for cohort, row in enumerate(subgroup_rows(selection.cohorts))
    ]
    return sorted(lines, key=lambda line: (not line.tellable, -line.share))


def _draw(ax: Axes, place: int, line: _Line, most: float) -> None:
    """Draw the interval and the square of a subgroup."""
    if not line.tellable:
        return
    look: dict[str, Any] = {"color": COLOUR["predicted" if line.predicted else "recorded"]}
    look["alpha"] = FADED if line.faded else 1.0
    dash = (0, (4, 2)) if line.predicted else "solid"
    if line.high > line.low:
        ax.plot([line.low, line.high], [place, place], linestyle=dash, linewidth=1.6, **look)
    area = max(LARGEST_SQUARE * line.rows / most, SMALLEST_SQUARE)
    ax.scatter(
        [line.share],
        [place],
        s=area,
        marker="s",
        facecolors=ax.get_facecolor() if line.predicted else look["color"],
        edgecolors=look["color"],
        linewidths=1.5,
        zorder=3,
        # What is hollow hides the line behind it, faded or not.
        alpha=None if line.predicted else look["alpha"],
    )


def _columns(lines: list[_Line], interval: str) -> list[tuple[str, list[str]]]:
    """What stands on the right: a head, and a text a line."""
    columns = [
        ("rows", [f"{line.rows:,.0f}" for line in lines]),
        ("share", [per_cent(line.share) if line.tellable else "none" for line in lines]),
    ]
    if any(line.high > line.low for line in lines):
        between = [per_cent_between(line.low, line.high) for line in lines]
        shown = [text if line.tellable else "" for text, line in zip(between, lines, strict=True)]
        columns.append((interval, shown))
    if any(line.asked for line in lines):
        columns.append(("p", [_p(line.p) for line in lines]))
    return columns


def _p(value: float) -> str:
    """A p-value, a dash where there is none.

    Examples
    --------
    >>> _p(0.0314), _p(0.0004), _p(float("nan"))
    ('0.031', '<0.001', '–')
    """
    if np.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def _width(column: tuple[str, list[str]]) -> float:
    return BETWEEN + CHARACTER * max(map(len, (column[0], *column[1])))


def _write_columns(ax: Axes, columns: list[tuple[str, list[str]]], lines: list[_Line]) -> None:
    """Write texts on the right of the axes, each column flush right under its head."""
    away = 0.0
    for column in columns:
        away += _width(column)
        where: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "ha": "right"}
        where |= {"textcoords": "offset points", "va": "center", "annotation_clip": False}
        where |= {"fontsize": 9, "color": ink(ax), "xytext": (away, 0)}
        ax.annotate(column[0], (1, -0.95), weight="bold", **where)
        for place, (text, line) in enumerate(zip(column[1], lines, strict=True)):
            ax.annotate(text, (1, place), alpha=0.6 if line.faded else 1.0, **where)


def _legend(ax: Axes, lines: list[_Line], selection: Selection) -> list[Any]:
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    for source, dash in (("recorded", "solid"), ("predicted", (0, (2.5, 1.5)))):
        shown = [one for one in lines if one.tellable and one.predicted == (source == "predicted")]
        if shown:
            face = COLOUR[source] if source == "recorded" else ax.get_facecolor()
            look: dict[str, Any] = {"color": COLOUR[source], "linestyle": dash, "marker": "s"}
            words = source if handles else f"{source} (area: rows)"
            handles.append(Line2D([], [], label=words, markerfacecolor=face, **look))
    if any(line.faded for line in lines):
        handles.append(faded_patch(ax, f"faded: {chance_words(selection)}"))
    return handles
