"""How often sets and features come out again in resamples of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.stability import RESAMPLES, stability_of
from misfeat.show.plots import canvas
from misfeat.show.plots.quantities import no_best_set, one_subgroup, selection_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from misfeat.selection import Selection
    from misfeat.show.plots.quantities import Fitted

HEIGHT = 0.62  # of a bar, in rows


def stability(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    resamples: int = RESAMPLES,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often sets and features come out again when rows are drawn anew.

    Bars show in which share of the resamples each of the k best sets is among the k best again,
    and each feature in one of them; a line across the bar of a feature shows how often it is in
    the best set. Features that never are, are counted only.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    size, k : int, default=None
        Features per set, and how many of the best sets count. Defaults to the selector's.
    resamples : int, default=60
        How often rows are drawn. Each draw takes about as long as a fit.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

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
    subgroup = one_subgroup(selection, subgroup)
    canvas.check_axes(ax)
    found = stability_of(selection, size, k, resamples)
    sets = [one for one in found.sets if one.subgroup == subgroup]
    own = [one for one in found.features if one.subgroup == subgroup]
    if not sets:
        raise no_best_set(selection, subgroup)
    among = "the best again" if found.k == 1 else f"among the {found.k} best again"
    features = sorted(
        (one for one in own if one.in_top_k > 0), key=lambda one: (-one.in_top_k, -one.in_best)
    )
    set_names = [f"{one.rank}. {canvas.set_label(one.features, ())}" for one in sets]
    feature_names = [canvas.shortened(one.feature, canvas.LONGEST_LINE) for one in features]
    labels = [*set_names, "", *feature_names]
    ax = canvas.axes(ax, 4.6 + canvas.inches(labels), max(2.6, 1.8 + canvas.ROW * len(labels)))
    places = np.arange(len(sets) + 1, len(labels))  # an empty row between sets and features
    again = _bar(ax, np.arange(len(sets)), [one.frequency for one in sets], canvas.BLUE)
    again.set_label(f"the set is {among}")
    held = _bar(ax, places, [one.in_top_k for one in features], canvas.GREY)
    held.set_label("feature in one of these" if found.k > 1 else "feature in the best set")
    handles = [again, held]
    if found.k > 1:
        best = np.array([one.in_best for one in features])
        places, best = places[best > 0], best[best > 0]
        look: dict[str, Any] = {"color": canvas.BLUE, "label": "feature in the best set"}
        ends = places - HEIGHT / 2, places + HEIGHT / 2
        handles.append(ax.vlines(best, *ends, linewidth=2.5, **look))
    canvas.name_rows(ax, labels)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.12)
    ax.set_xticks(np.linspace(0, 1, 6))
    canvas.in_per_cent(ax.xaxis)
    canvas.guide_lines(ax, "x")
    ax.spines[["top", "right"]].set_visible(False)
    never = len(own) - len(features)
    counted = f"; {canvas.counted(never, 'feature')} in none of them" if never else ""
    ax.set_xlabel(f"share of {found.resamples} resamples{counted}")
    often = f"{100 * sets[0].frequency:.0f} % of {found.resamples} resamples"
    where = canvas.shortened(subgroup, canvas.LONGEST_LINE)
    title = f"{where}: the best set is {among} in {often}"
    canvas.crown(ax, title, handles, columns=2)
    return ax


def _bar(ax: Axes, places: Any, shares: list[float], colour: str) -> Any:
    bars = ax.barh(places, shares, height=HEIGHT, color=colour)
    for place, share in zip(places, shares, strict=True):
        look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8}
        ax.annotate(f"{100 * share:.0f} %", (share, place), xytext=(3, 0), **look)
    return bars
