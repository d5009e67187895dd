"""Ranked lists, best on top: sets, what recording is worth, and what is stable."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.recording_gains import SMALLEST_SCALE, feature_worths
from misfeat.answers.stability import RESAMPLES, stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.exceptions import MisfeatError, check_count
from misfeat.number_formatting import count_words
from misfeat.selection import Selection
from misfeat.show.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUPPORTS = {
    "joint": (drawing.BLUE, "o", "recorded together elsewhere"),
    "pairs": (drawing.GREEN, "s", "recorded pair by pair elsewhere"),
    "singles": (drawing.ORANGE, "^", "some pair recorded nowhere"),
    "none": (drawing.DARK, "X", "recorded nowhere"),
}
"""Colour, marker and words for what a prediction rests on."""
HEIGHT = 0.62  # of a bar, in rows


def top_k(
    selected: drawing.Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
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
        Features per set, and how many sets. Defaults to the selector's.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selector = misfeat.SubgroupSelector(size=1).fit(table, "y")
    >>> ax = misfeat.plot.top_k(selector)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    selection, subgroup = drawing.one_subgroup(selected, subgroup)
    sets = best_sets(selection, size, k, subgroup)
    if not sets:
        raise _no_best_set(selection, subgroup)
    labels = [drawing.set_label(best.features, best.missing) for best in sets]
    ax = drawing.axes(ax, 4.5 + drawing.inches(labels), max(2.2, 1.6 + drawing.ROW * len(sets)))
    whole = drawing.whole_of(selection, subgroup)
    shares = np.array([(best.score, best.low, best.high) for best in sets]) / whole
    shown = []
    for source in drawing.COLOUR:
        rows = [row for row, best in enumerate(sets) if best.source == source]
        if rows:
            certain = (shares[rows, 1] == shares[rows, 2]).all()
            look: dict[str, Any] = {"fmt": drawing.MARKER[source], "color": drawing.COLOUR[source]}
            look |= {"label": source if certain else f"{source}, with its interval"}
            if source == "predicted":
                look["markerfacecolor"] = ax.get_facecolor()
            shown.append(_values(ax, rows, shares, bars=not certain, markeredgewidth=1.5, **look))
    drawing.rows_of_shares(ax, labels, drawing.share_label(selection))
    ax.set_ylabel("set of features")
    if any(best.missing for best in sets):
        star: dict[str, Any] = {"marker": (5, 2), "color": drawing.ink(ax), "linestyle": "none"}
        shown.append(drawing.sign("never recorded there", **star))
    many = f"The {len(sets)} best sets" if len(sets) > 1 else "The best set"
    features = count_words(len(sets[0].features), "feature")
    title = f"{many} of {features} in {drawing.shortened(subgroup, 40)}"
    drawing.title_and_legend(ax, title, shown, columns=2)
    return ax


def worth_collecting(
    selected: drawing.Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
    n: int = 15,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw what the unrecorded features most worth collecting would be worth, best on top.

    Colour and marker say what the prediction rests on: whether the features of the best set with
    the new one were recorded together elsewhere.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        One subgroup only. Defaults to all of them together.
    size : int, default=None
        Features per set. Defaults to the selector's.
    costs : mapping of str to float, default=None
        What recording a feature costs, by default 1; gains are then drawn per unit of cost.
    n : int, default=15
        How many features are drawn.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

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
    selection = drawing.selection_of(selected)
    check_count(n, "n")
    subgroup = None if subgroup is None else selection.cohorts.full_name(subgroup)
    worths = feature_worths(selection, subgroup, size, costs)
    divisors = [worth.cost * drawing.whole_of(selection, worth.subgroup) for worth in worths]
    shares = np.array([(worth.gain, worth.low, worth.high) for worth in worths]).reshape(-1, 3)
    shares /= np.array(divisors)[:, None]
    order = np.argsort(-shares[:, 0], kind="stable")[:n]
    best, shares = [worths[index] for index in order], shares[order]
    if not best:
        why = f"{'Every' if subgroup is None else 'The'} subgroup recorded every feature."
        asked = [selection.cohorts.position(name) for name in selection.subgroup_names(subgroup)]
        if selection.missing[asked].any():
            why = "Too few features were recorded\nfor a set with one unrecorded feature."
        return drawing.nothing_to_show(drawing.axes(ax, 5.0, 1.5), why)
    labels = [drawing.shortened(worth.feature) for worth in best]
    if subgroup is None and len(selection.cohorts) > 1:
        where = [drawing.shortened(worth.subgroup) for worth in best]
        labels = [f"{feature} in {name}" for feature, name in zip(labels, where, strict=True)]
    ax = drawing.axes(ax, 4.8 + drawing.inches(labels), max(2.4, 1.7 + drawing.ROW * len(best)))
    handles = []
    for support, (colour, marker, words) in SUPPORTS.items():
        rows = [row for row, worth in enumerate(best) if worth.support == support]
        if rows:
            handles.append(_values(ax, rows, shares, fmt=marker, color=colour, label=words))
    ax.axvline(0, color=drawing.GREY, linewidth=1, zorder=0)
    # Gains that are almost nothing are to look like it.
    ax.set_xlim(right=max(ax.get_xlim()[1], SMALLEST_SCALE))
    for_cost = ", for every unit of cost" if costs else ""
    label = f"expected gain{for_cost}: rise of the best\n{drawing.share_label(selection)}"
    drawing.rows_of_shares(ax, labels, label)
    ax.set_ylabel("unrecorded feature")
    title = f"Worth collecting for sets of {count_words(len(best[0].best_set), 'feature')}"
    if subgroup is not None:
        title += f" in {drawing.shortened(subgroup, 40)}"
    drawing.title_and_legend(ax, title, handles, columns=2)
    return ax


def _values(ax: "Axes", rows: Sequence[int], shares: Any, *, bars: bool = True, **look: Any) -> Any:
    """Draw values with their intervals in some of the rows; what the legend explains."""
    value, low, high = shares[rows].T
    # An interval that a prediction just touches may pass it by a rounding.
    spread = np.maximum([value - low, high - value], 0) if bars else None
    return ax.errorbar(value, rows, xerr=spread, markersize=7, capsize=3, **look)


def stability(
    selected: drawing.Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    resamples: int = RESAMPLES,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how stable the best sets and features are when rows are resampled.

    Bars show in which share of the resamples each of the k best sets is among the k best again, and
    each feature in one of them, if ever; a line across shows how often it is in the best set.

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

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
    >>> selector = misfeat.SubgroupSelector(size=1, k=1).fit(table, "y")
    >>> " ".join(misfeat.plot.stability(selector, resamples=10).get_title().split())
    'all rows: the best set is the best again in 100 % of 10 resamples'
    """
    selection, subgroup = drawing.one_subgroup(selected, subgroup)
    drawing.check_axes(ax)
    found = stability_of(selection, size, k, resamples)
    sets = [one for one in found.sets if one.subgroup == subgroup]
    own = [one for one in found.features if one.subgroup == subgroup]
    if not sets:
        raise _no_best_set(selection, subgroup)
    among = "the best again" if found.k == 1 else f"among the {found.k} best again"
    features = [one for one in own if one.in_top_k > 0]
    features.sort(key=lambda one: (-one.in_top_k, -one.in_best))
    set_names = [f"{one.rank}. {drawing.set_label(one.features, ())}" for one in sets]
    feature_names = [drawing.shortened(one.feature, drawing.LONGEST_LINE) for one in features]
    labels = [*set_names, "", *feature_names]
    ax = drawing.axes(ax, 4.6 + drawing.inches(labels), max(2.6, 1.8 + drawing.ROW * len(labels)))
    places = np.arange(len(sets) + 1, len(labels))  # an empty row between sets and features
    again = _bar(ax, np.arange(len(sets)), [one.frequency for one in sets], drawing.BLUE)
    again.set_label(f"the set is {among}")
    held = _bar(ax, places, [one.in_top_k for one in features], drawing.GREY)
    held.set_label("feature in one of these" if found.k > 1 else "feature in the best set")
    handles = [again, held]
    if found.k > 1:
        best = np.array([one.in_best for one in features])
        places, best = places[best > 0], best[best > 0]
        look: dict[str, Any] = {"color": drawing.BLUE, "label": "feature in the best set"}
        ends = places - HEIGHT / 2, places + HEIGHT / 2
        handles.append(ax.vlines(best, *ends, linewidth=2.5, **look))
    never = len(own) - len(features)
    counted = f"; {count_words(never, 'feature')} in none of them" if never else ""
    drawing.rows_of_shares(ax, labels, f"share of {found.resamples} resamples{counted}")
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0, 1.12)
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.spines[["top", "right"]].set_visible(False)
    often = f"{100 * sets[0].frequency:.0f} % of {found.resamples} resamples"
    where = drawing.shortened(subgroup, drawing.LONGEST_LINE)
    title = f"{where}: the best set is {among} in {often}"
    drawing.title_and_legend(ax, title, handles, columns=2)
    return ax


def _bar(ax: "Axes", places: Any, shares: list[float], colour: str) -> Any:
    bars = ax.barh(places, shares, height=HEIGHT, color=colour)
    ax.bar_label(bars, [f"{100 * share:.0f} %" for share in shares], padding=3, fontsize=8)
    return bars


def _no_best_set(selection: Selection, subgroup: str) -> MisfeatError:
    return MisfeatError(
        f"The target {selection.cohorts.target!r} has a single value in {subgroup!r}, so that "
        "there is no best set to show; choose another subgroup.",
        column=selection.cohorts.target,
    )
