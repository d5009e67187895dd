"""Ranked lists, best on top: the best sets (`top_k`), and what recording features is worth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.collecting import SMALLEST_SCALE, feature_worths
from misfeat.answers.top import best_sets
from misfeat.exceptions import check_count
from misfeat.show.plot.asking import (
    nothing_to_tell,
    one_subgroup,
    selection_of,
    told_label,
    whole_of,
)
from misfeat.show.plot.canvas import (
    AS_TEXT,
    BLUE,
    COLOUR,
    DARK,
    GREEN,
    GREY,
    MARKER,
    ORANGE,
    ROW,
    axes,
    counted,
    crown,
    in_per_cent,
    inches,
    name_rows,
    say_nothing_to_show,
    set_label,
    shortened,
    star,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from misfeat.answers.collecting import Worth
    from misfeat.answers.top import ScoredSet
    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

SUPPORTS = {
    "joint": (BLUE, "o", "recorded together elsewhere"),
    "pairs": (GREEN, "s", "recorded pair by pair elsewhere"),
    "singles": (ORANGE, "^", "some pair recorded nowhere"),
    "none": (DARK, "X", "recorded nowhere"),
}
"""Colour, marker and words for what a prediction rests on."""


def top_k(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    relative: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the best sets of a subgroup, best on top.

    Exact scores are blue circles, predicted ones vermillion diamonds with their interval; a star
    marks a feature that the subgroup never recorded.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    size, k : int, default=None
        Features a set, and how many sets; the selector's where None.
    relative : bool, default=True
        Scores as a share of what there is to tell in the subgroup; else in nats.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selector = misfeat.SubgroupSelector(size=1).fit(table, "y")
    >>> ax = misfeat.plot.top_k(selector)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    selection = selection_of(selected)
    subgroup = one_subgroup(selection, subgroup)
    sets = best_sets(selection, size, k, subgroup)
    if not sets:
        raise nothing_to_tell(selection, subgroup)
    labels = [set_label(best.features, best.missing) for best in sets]
    ax = axes(ax, 4.5 + inches(labels), max(2.2, 1.6 + ROW * len(sets)))
    whole = whole_of(selection, subgroup, relative)
    sources = {best.source for best in sets}
    shown = [_draw_source(ax, sets, source, whole) for source in COLOUR if source in sources]
    name_rows(ax, labels)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.set_xlabel(told_label(selection, relative), **AS_TEXT)
    if relative:
        in_per_cent(ax.xaxis)
    ax.set_ylabel("set of features")
    if any(best.missing for best in sets):
        shown.append(star(ax))
    many = f"The {len(sets)} best sets" if len(sets) > 1 else "The best set"
    features = counted(len(sets[0].features), "feature")
    crown(ax, f"{many} of {features} in {shortened(subgroup, 40)}", shown, columns=2)
    return ax


def _draw_source(ax: Axes, sets: list[ScoredSet], source: str, whole: float) -> Any:
    """Draw the sets of one source, each at its rank; what the legend explains."""
    places = [place for place, best in enumerate(sets) if best.source == source]
    score, low, high = (
        np.array([getattr(sets[place], name) / whole for place in places])
        for name in ("score", "low", "high")
    )
    recorded = source == "recorded"
    # An interval that a prediction just touches may pass it by a rounding.
    spread = np.maximum([score - low, high - score], 0)
    return ax.errorbar(
        score,
        places,
        xerr=spread if spread.any() else None,
        fmt=MARKER[source],
        color=COLOUR[source],
        markerfacecolor=COLOUR[source] if recorded else ax.get_facecolor(),
        markersize=7,
        markeredgewidth=1.5,
        capsize=3,
        label=f"{source}, with its interval" if spread.any() else source,
    )


def worth_collecting(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
    n: int = 15,
    relative: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw what the unrecorded features most worth collecting would be worth, best on top.

    Colour and marker say what the prediction rests on: whether the features of the best set with
    the new one were recorded together elsewhere.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        One subgroup only; all of them together where None.
    size : int, default=None
        Features a set; the selector's where None.
    costs : mapping of str to float, default=None
        What recording a feature costs, 1 where it does not say; gains are then drawn for every unit
        of cost.
    n : int, default=15
        How many features are drawn.
    relative : bool, default=True
        Gains as a share of what there is to tell in the subgroup; else in nats.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_cohorts=3, n_rows=300, n_features=5, hide=0.3, random_state=0)
    >>> selector = misfeat.SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    >>> ax = misfeat.plot.worth_collecting(selector, n=3)
    >>> ax.get_yticklabels()[0].get_text()
    'f2 in cohort=c3'
    """
    selection = selection_of(selected)
    check_count(n, "n")
    subgroup = None if subgroup is None else selection.cohorts.full_name(subgroup)
    found = [
        _in_units(selection, worth, relative)
        for worth in feature_worths(selection, subgroup, size, costs)
    ]
    best = sorted(found, key=lambda worth: -worth.gain_per_cost)[:n]
    if not best:
        return say_nothing_to_show(axes(ax, 5.0, 1.5), _why_nothing(selection, subgroup))
    several = subgroup is None and len(selection.cohorts) > 1
    labels = [_label(worth, several) for worth in best]
    ax = axes(ax, 4.8 + inches(labels), max(2.4, 1.7 + ROW * len(best)))
    supports = {worth.support for worth in best}
    handles = [_draw_support(ax, best, support) for support in SUPPORTS if support in supports]
    ax.axvline(0, color=GREY, linewidth=1, zorder=0)
    # Gains that are next to nothing are to look like it.
    ceiling = 1.0 if relative else float(selection.set_scores.measure.ceiling.max())
    ax.set_xlim(right=max(ax.get_xlim()[1], SMALLEST_SCALE * ceiling))
    name_rows(ax, labels)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    per_cost = ", for every unit of cost" if costs else ""
    told = told_label(selection, relative)
    ax.set_xlabel(f"expected gain{per_cost}: rise of the best\n{told}", **AS_TEXT)
    if relative:
        in_per_cent(ax.xaxis)
    ax.set_ylabel("unrecorded feature")
    sets = f"sets of {counted(len(best[0].best_set), 'feature')}"
    where = f" in {shortened(subgroup, 40)}" if subgroup is not None else ""
    crown(ax, f"Worth collecting for {sets}{where}", handles, columns=2)
    return ax


def _in_units(selection: Selection, worth: Worth, relative: bool) -> Worth:
    """The worth of a feature in shares of what there is to tell, or as it is."""
    whole = whole_of(selection, worth.subgroup, relative)
    gains = ("gain", "low", "high")
    return replace(worth, **{name: getattr(worth, name) / whole for name in gains})


def _why_nothing(selection: Selection, subgroup: str | None) -> str:
    shown = [selection.cohorts.position(name) for name in selection.subgroup_names(subgroup)]
    if selection.missing[shown].any():
        return "Too few features were recorded\nfor a set with one unrecorded feature."
    whose = "The subgroup" if subgroup is not None else "Every subgroup"
    return f"{whose} recorded every feature."


def _label(worth: Worth, several: bool) -> str:
    feature = shortened(worth.feature)
    return f"{feature} in {shortened(worth.subgroup)}" if several else feature


def _draw_support(ax: Axes, best: list[Worth], support: str) -> Any:
    """Draw the features whose worth rests on one kind of evidence; what the legend explains."""
    places = [place for place, worth in enumerate(best) if worth.support == support]
    colour, marker, words = SUPPORTS[support]
    gain, low, high = (
        np.array([getattr(best[place], name) / best[place].cost for place in places])
        for name in ("gain", "low", "high")
    )
    return ax.errorbar(
        gain,
        places,
        xerr=np.maximum([gain - low, high - gain], 0),
        fmt=marker,
        color=colour,
        markersize=7,
        capsize=3,
        label=words,
    )
