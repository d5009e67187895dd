"""How often sets and features come out again when rows are drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.stability import RESAMPLES, stability_of
from misfeat.show.plot.asking import nothing_to_tell, selection_of
from misfeat.show.plot.canvas import (
    BLUE,
    COLUMN,
    GREY,
    LONGEST_LINE,
    ROW,
    axes,
    check_axes,
    counted,
    crown,
    in_per_cent,
    inches,
    name_columns,
    name_rows,
    set_label,
    shortened,
)
from misfeat.show.plot.grid import (
    MOST_NUMBERED,
    NARROW_COLUMN,
    draw_cells,
    explain_colours,
    last_apart,
    mark_cells,
    name_on_the_right,
)
from misfeat.show.seriation import side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from misfeat.answers.stability import Stability, StableFeature
    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

HEIGHT = 0.62
"""Of a bar, in rows."""


def stability(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    resamples: int = RESAMPLES,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often sets and features come out again when rows are drawn anew.

    Of one subgroup, bars show in which share of the resamples each of the k best sets is among the
    k best again, and each feature in one of them; a line across the bar of a feature shows how
    often it is in the best set. Features that never are, are counted only. Of several subgroups, a
    map shows the latter for features, and on the right how often the best set comes again.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`. Defaults to all of them, as a map.
    size, k : int, default=None
        Features a set, and how many of the best sets count; the selector's where None.
    resamples : int, default=60
        How often rows are drawn. Each draw takes about as long as a fit.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
    >>> selector = misfeat.SubgroupSelector(size=1, k=1).fit(table, "y")
    >>> " ".join(misfeat.plot.stability(selector, resamples=10).get_title().split())
    'all rows: the best set is the best again in 100 % of 10 resamples'
    """
    selection = selection_of(selected)
    names = selection.subgroup_names(subgroup)
    check_axes(ax)
    found = stability_of(selection, size, k, resamples)
    told = [one.subgroup for one in found.subgroups if one.subgroup in names]
    if not told:
        raise nothing_to_tell(selection, None if subgroup is None else names[0])
    if len(names) > 1:
        return _map(selection, found, told, ax)
    return _bars(found, told[0], ax)


def _bars(found: Stability, subgroup: str, ax: Axes | None) -> Axes:
    """Draw the sets and features of one subgroup."""
    sets = [one for one in found.sets if one.subgroup == subgroup]
    own = [one for one in found.features if one.subgroup == subgroup]
    features = sorted((one for one in own if one.in_top_k > 0), key=_often)
    set_names = [f"{one.rank}. {set_label(one.features, ())}" for one in sets]
    feature_names = [shortened(one.feature, LONGEST_LINE) for one in features]
    labels = [*set_names, "", *feature_names]
    ax = axes(ax, 4.6 + inches(labels), max(2.6, 1.8 + ROW * len(labels)))
    first = len(sets) + 1  # an empty row between sets and features
    places = np.arange(first, len(labels))
    again = _bar(ax, np.arange(len(sets)), [one.frequency for one in sets], BLUE)
    again.set_label(_among(found, "the set is"))
    held = _bar(ax, places, [one.in_top_k for one in features], GREY)
    held.set_label("feature in one of these" if found.k > 1 else "feature in the best set")
    handles = [again, held]
    if found.k > 1:
        best = np.array([one.in_best for one in features])
        places, best = places[best > 0], best[best > 0]
        ends: dict[str, Any] = {"color": BLUE, "linewidth": 2.5, "label": "feature in the best set"}
        handles.append(ax.vlines(best, places - HEIGHT / 2, places + HEIGHT / 2, **ends))
    name_rows(ax, labels)
    ax.tick_params(axis="y", length=0)
    _share_axis(ax)
    never = _in_none(len(own) - len(features))
    ax.set_xlabel(f"share of {found.resamples} resamples{never}")
    crown(ax, _title(found, subgroup, sets[0].frequency), handles, columns=2)
    return ax


def _often(one: StableFeature) -> tuple[float, float]:
    """Those in most of the best sets first."""
    return -one.in_top_k, -one.in_best


def _bar(ax: Axes, places: Any, shares: list[float], colour: str) -> Any:
    bars = ax.barh(places, shares, height=HEIGHT, color=colour)
    for place, share in zip(places, shares, strict=True):
        text: dict[str, Any] = {
            "xytext": (3, 0),
            "textcoords": "offset points",
            "va": "center",
            "fontsize": 8,
        }
        ax.annotate(f"{100 * share:.0f} %", (share, place), **text)
    return bars


def _in_none(count: int) -> str:
    return f"; {counted(count, 'feature')} in none of them" if count else ""


def _whole(share: float) -> str:
    return f"{100 * share:.0f}"


def _share_axis(ax: Axes) -> None:
    ax.set_xlim(0, 1.12)
    ax.set_xticks(np.linspace(0, 1, 6))
    in_per_cent(ax.xaxis)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _among(found: Stability, who: str) -> str:
    return f"{who} the best again" if found.k == 1 else f"{who} among the {found.k} best again"


def _title(found: Stability, subgroup: str, often: float) -> str:
    where = shortened(subgroup, LONGEST_LINE)
    again = _among(found, "the best set is")
    return f"{where}: {again} in {100 * often:.0f} % of {found.resamples} resamples"


def _map(selection: Selection, found: Stability, told: list[str], ax: Axes | None) -> Axes:
    """Draw the features of all subgroups, and how often the best set comes again."""
    names = selection.feature_names
    held = {(one.subgroup, one.feature): one.in_top_k for one in found.features}
    best = {one.subgroup: one for one in found.sets if one.rank == 1}
    shares = np.array([[held[subgroup, name] for name in names] for subgroup in told])
    order = np.argsort(-shares.mean(axis=0), kind="stable")[: int(shares.any(axis=0).sum())]
    rows_of = [told[place] for place in side_by_side(shares)]
    values = np.array(
        [
            [*(held[subgroup, names[f]] for f in order), best[subgroup].frequency]
            for subgroup in rows_of
        ]
    )
    rows = [shortened(subgroup, LONGEST_LINE) for subgroup in rows_of]
    columns = [*(shortened(names[f], LONGEST_LINE) for f in order), "best set again"]
    sets = [set_label(best[subgroup].features, (), LONGEST_LINE) for subgroup in rows_of]
    wide = COLUMN if len(columns) <= MOST_NUMBERED else NARROW_COLUMN
    width = max(inches(rows) + inches(sets) + wide * len(columns) + 2.2, 5.5)
    ax = axes(ax, width, max(ROW * len(rows) + inches(columns) + 1.5, 2.8))
    places = last_apart(len(columns))
    image = draw_cells(ax, values, places, top=1.0)
    mark_cells(ax, image, values, places, np.zeros(values.shape, dtype=bool), _whole)
    name_columns(ax, columns, places)
    name_rows(ax, rows)
    name_on_the_right(ax, sets)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    never = _in_none(len(names) - len(order))
    ax.set(xlabel=f"feature, the most stable on the left{never}", ylabel="subgroup")
    explain_colours(ax, image, f"share of {found.resamples} resamples")
    best_of = "the best set" if found.k == 1 else f"one of the {found.k} best sets"
    crown(ax, f"How often a feature is in {best_of} of {counted(found.size, 'feature')}")
    return ax
