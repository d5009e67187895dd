"""Ranked lists, best on top: sets, what recording is worth, what is stable, and subgroups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.answers.fit_result import set_members, subgroup_rows
from misfeat.answers.recording_gains import SMALLEST_SCALE, feature_worths
from misfeat.answers.stability import RESAMPLES, stability_of
from misfeat.answers.top_sets import best_sets
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice.levels import rank
from misfeat.selection import Selection
from misfeat.show.plots import drawing
from misfeat.words import count_words, p_words

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
LARGEST_SQUARE = 130.0  # area of the square of the largest subgroup, in square points
SMALLEST_SQUARE = 4.0
LONGEST_SET = 120  # characters of the features in the title
LEAST_SCALE = 0.02  # shares that are almost nothing are to look like it
CHARACTER, BETWEEN = 5.9, 16.0  # points of a character of a column of text, and between two columns


def top_k(
    selected: drawing.Fitted | Selection,
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


def _values(ax: Axes, rows: Sequence[int], shares: Any, *, bars: bool = True, **look: Any) -> Any:
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
    ax: Axes | None = None,
) -> Axes:
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
    features = sorted(
        (one for one in own if one.in_top_k > 0), key=lambda one: (-one.in_top_k, -one.in_best)
    )
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


def _bar(ax: Axes, places: Any, shares: list[float], colour: str) -> Any:
    bars = ax.barh(places, shares, height=HEIGHT, color=colour)
    ax.bar_label(bars, [f"{100 * share:.0f} %" for share in shares], padding=3, fontsize=8)
    return bars


def _no_best_set(selection: Selection, subgroup: str) -> MisfeatError:
    return MisfeatError(
        f"The target {selection.cohorts.target!r} has a single value in {subgroup!r}, so that "
        "there is no best set to show; choose another subgroup.",
        column=selection.cohorts.target,
    )


def forest(
    selected: drawing.Fitted | Selection, features: Sequence[str], ax: Axes | None = None
) -> Axes:
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
    ['site=hungarian', 'site=cleveland', 'site=va', 'site=switzerland']
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
    ax.set_xlim(0, max(LEAST_SCALE, 1.04 * max(line.high for line in lines)))
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
    bounds = [
        drawing.as_shares(selection, one)[:, 0] for one in (scores.score, scores.low, scores.high)
    ]
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


def _draw_row(ax: Axes, row: int, line: _ForestRow, area: float) -> None:
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
    ax.scatter([line.share], [row], s=max(area, SMALLEST_SQUARE), **square)


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


def _forest_legend(ax: Axes, lines: list[_ForestRow], selection: Selection) -> list[Any]:
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
