"""Ranked lists with intervals, best on top: the best sets, and what recording is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.feature_worth import SMALLEST_SCALE, feature_worths
from misfeat.answers.top import best_sets
from misfeat.exceptions import check_count
from misfeat.show.plots import canvas
from misfeat.show.plots.quantities import no_best_set, one_subgroup, selection_of, share_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from misfeat.selection import Selection
    from misfeat.show.plots.quantities import Fitted

SUPPORTS = {
    "joint": (canvas.BLUE, "o", "recorded together elsewhere"),
    "pairs": (canvas.GREEN, "s", "recorded pair by pair elsewhere"),
    "singles": (canvas.ORANGE, "^", "some pair recorded nowhere"),
    "none": (canvas.DARK, "X", "recorded nowhere"),
}
"""Colour, marker and words for what a prediction rests on."""


def top_k(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
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
        Features per set, and how many sets. Defaults to the selector's.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

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
        raise no_best_set(selection, subgroup)
    labels = [canvas.set_label(best.features, best.missing) for best in sets]
    ax = canvas.axes(ax, 4.5 + canvas.inches(labels), max(2.2, 1.6 + canvas.ROW * len(sets)))
    whole = _whole(selection, subgroup)
    shares = np.array([(best.score, best.low, best.high) for best in sets]) / whole
    shown = []
    for source in canvas.COLOUR:
        rows = [row for row, best in enumerate(sets) if best.source == source]
        if rows:
            certain = (shares[rows, 1] == shares[rows, 2]).all()
            look: dict[str, Any] = {"fmt": canvas.MARKER[source], "color": canvas.COLOUR[source]}
            look |= {"label": source if certain else f"{source}, with its interval"}
            if source == "predicted":
                look["markerfacecolor"] = ax.get_facecolor()
            shown.append(
                _intervals(ax, rows, shares, bars=not certain, markeredgewidth=1.5, **look)
            )
    _finish(ax, labels, "set of features", share_label(selection))
    if any(best.missing for best in sets):
        shown.append(canvas.star(ax))
    many = f"The {len(sets)} best sets" if len(sets) > 1 else "The best set"
    features = canvas.counted(len(sets[0].features), "feature")
    title = f"{many} of {features} in {canvas.shortened(subgroup, 40)}"
    canvas.crown(ax, title, shown, columns=2)
    return ax


def worth_collecting(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
    n: int = 15,
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
        One subgroup only. Defaults to all of them together.
    size : int, default=None
        Features per set. Defaults to the selector's.
    costs : mapping of str to float, default=None
        What recording a feature costs, 1 where it does not say; gains are then drawn for every unit
        of cost.
    n : int, default=15
        How many features are drawn.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

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
    worths = feature_worths(selection, subgroup, size, costs)
    divisors = [worth.cost * _whole(selection, worth.subgroup) for worth in worths]
    shares = np.array([(worth.gain, worth.low, worth.high) for worth in worths]).reshape(-1, 3)
    shares /= np.array(divisors)[:, None]
    order = np.argsort(-shares[:, 0], kind="stable")[:n]
    best, shares = [worths[index] for index in order], shares[order]
    if not best:
        why = f"{'Every' if subgroup is None else 'The'} subgroup recorded every feature."
        asked = [selection.cohorts.position(name) for name in selection.subgroup_names(subgroup)]
        if selection.missing[asked].any():
            why = "Too few features were recorded\nfor a set with one unrecorded feature."
        return canvas.nothing_to_show(canvas.axes(ax, 5.0, 1.5), why)
    labels = [canvas.shortened(worth.feature) for worth in best]
    if subgroup is None and len(selection.cohorts) > 1:
        where = [canvas.shortened(worth.subgroup) for worth in best]
        labels = [f"{feature} in {name}" for feature, name in zip(labels, where, strict=True)]
    ax = canvas.axes(ax, 4.8 + canvas.inches(labels), max(2.4, 1.7 + canvas.ROW * len(best)))
    handles = []
    for support, (colour, marker, words) in SUPPORTS.items():
        rows = [row for row, worth in enumerate(best) if worth.support == support]
        if rows:
            handles.append(_intervals(ax, rows, shares, fmt=marker, color=colour, label=words))
    ax.axvline(0, color=canvas.GREY, linewidth=1, zorder=0)
    # Gains that are next to nothing are to look like it.
    ax.set_xlim(right=max(ax.get_xlim()[1], SMALLEST_SCALE))
    for_cost = ", for every unit of cost" if costs else ""
    label = f"expected gain{for_cost}: rise of the best\n{share_label(selection)}"
    _finish(ax, labels, "unrecorded feature", label)
    title = f"Worth collecting for sets of {canvas.counted(len(best[0].best_set), 'feature')}"
    if subgroup is not None:
        title += f" in {canvas.shortened(subgroup, 40)}"
    canvas.crown(ax, title, handles, columns=2)
    return ax


def _whole(selection: Selection, subgroup: str) -> float:
    """What scores of a subgroup are divided by to be shares."""
    return float(selection.set_scores.measure.whole[selection.cohorts.position(subgroup)]) or 1.0


def _intervals(
    ax: Axes, rows: Sequence[int], shares: Any, *, bars: bool = True, **look: Any
) -> Any:
    """Draw values with their intervals in some of the rows; what the legend explains."""
    value, low, high = shares[rows].T
    # An interval that a prediction just touches may pass it by a rounding.
    spread = np.maximum([value - low, high - value], 0) if bars else None
    return ax.errorbar(value, rows, xerr=spread, markersize=7, capsize=3, **look)


def _finish(ax: Axes, labels: Sequence[str], rows: str, values: str) -> None:
    """Label rows and axes."""
    canvas.name_rows(ax, labels)
    canvas.guide_lines(ax, "x")
    canvas.in_per_cent(ax.xaxis)
    ax.set_xlabel(values, **canvas.AS_TEXT)
    ax.set_ylabel(rows)
