"""Maps: features by subgroups, each by itself, and features by features of a subgroup."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.feature_contributions import REDUNDANCY, SYNERGY, UNCLEAR, pair_interactions
from misfeat.answers.selection_base import subgroup_rows
from misfeat.number_formatting import count_words
from misfeat.runtime.array_types import Flags, Floats
from misfeat.selection import Selection
from misfeat.show.answer_with_map import side_by_side
from misfeat.show.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NARROWEST = 4.2  # inches of a map, so that its title fits
MOST_NUMBERED = 16  # columns in which every cell can hold its number
POWER = 0.6  # colours rise with this power of a value: single features explain far less than sets
GREYS, PALE = "Greys", 3.0  # scale of cells that may be nothing, and how many times paler it is
NARROW_COLUMN = 0.25  # inches of a column without numbers: room for a turned label


def feature_map(selected: drawing.Fitted | Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw what each feature explains alone in every subgroup, in per cent of the uncertainty.

    Features come best first, by their mean over the subgroups; subgroups in which the same
    features inform stand side by side (average linkage, optimal order of leaves). A triangle is a
    feature that the subgroup never recorded, whose share is predicted. After `significance` was
    asked, cells are grey, with brackets, where it is not clearly more than chance.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

    Examples
    --------
    >>> import misfeat
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_cohorts=3, n_rows=300, n_features=5, hide=0.3, random_state=0)
    >>> selector = misfeat.SubgroupSelector(data.groups, size=2).fit(data.columns, data.target)
    >>> ax = misfeat.plot.feature_map(selector)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['f2', 'f1', 'f3', 'f5', 'f4']
    """
    selection = drawing.selection_of(selected)
    single = selection.completed(1)
    shares = drawing.as_shares(selection, single.score)
    columns_of = np.argsort(-shares.mean(axis=0), kind="stable")
    rows_of = side_by_side(shares)
    cells = np.ix_(rows_of, columns_of)
    values, predicted = shares[cells], single.predicted[cells]
    tests = drawing.significance_of(selection, 1)
    faded = np.zeros(values.shape, dtype=bool) if tests is None else tests[1][cells]
    subgroups = subgroup_rows(selection.cohorts)
    rows = [
        f"{drawing.shortened(subgroups[cohort]['subgroup'], drawing.LONGEST_LINE)} "
        f"({subgroups[cohort]['rows']:,.0f} rows)"
        for cohort in rows_of
    ]
    features = selection.feature_names
    columns = [drawing.shortened(features[f], drawing.LONGEST_LINE) for f in columns_of]
    wide = drawing.COLUMN if len(columns) <= MOST_NUMBERED else NARROW_COLUMN
    width = max(drawing.inches(rows) + wide * len(columns) + 1.9, drawing.inches(rows) + NARROWEST)
    ax = drawing.axes(ax, width, max(drawing.ROW * len(rows) + drawing.inches(columns) + 1.6, 2.8))
    from matplotlib.colors import PowerNorm

    top = max(float(values.max()), 1e-12)
    x, y = (np.arange(count + 1) - 0.5 for count in values.T.shape)
    edge: dict[str, Any] = {"edgecolors": "white", "linewidth": 0.8}
    image = ax.pcolormesh(x, y, values, cmap=drawing.SCALE, norm=PowerNorm(POWER, 0, top), **edge)
    if faded.any():
        shown, pale = np.ma.array(values, mask=~faded), PowerNorm(POWER, 0, PALE * top)
        ax.pcolormesh(x, y, shown, cmap=GREYS, norm=pale, **edge)
    _mark_corners(ax, image, values, predicted)
    _number(ax, image, values, faded, 8)
    drawing.name_cells(ax, rows, columns)
    alike = ",\nalike ones side by side" if len(rows) > 2 else ""
    ax.set(xlabel="feature by itself, best on the left", ylabel=f"subgroup{alike}")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label(drawing.share_label(selection, 16, "\n"), **drawing.AS_TEXT)
    drawing.in_per_cent(bar.ax.yaxis)
    handles = []
    if predicted.any():
        from matplotlib.path import Path

        corner = Path([(-1, 1), (1, 1), (1, -1), (-1, 1)])
        look: dict[str, Any] = {"marker": corner, "linestyle": "none", "color": drawing.ink(ax)}
        handles.append(drawing.sign("never recorded, predicted", **look))
    if faded.any():
        brackets = " (in brackets)" if len(columns) <= MOST_NUMBERED else ""
        grey = f"grey{brackets}: {drawing.chance_words(selection)}"
        handles.append(drawing.faded_patch(ax, grey))
    ((best, often),) = Counter(single.score.argmax(axis=1).tolist()).most_common(1)
    where = f"in {often} of {len(rows)} subgroups" if len(rows) > 1 else "here"
    title = f"{drawing.shortened(features[best])} explains most by itself {where}"
    drawing.title_and_legend(ax, title, handles, columns=2)
    return ax


def _mark_corners(ax: "Axes", image: Any, values: Floats, predicted: Flags) -> None:
    from matplotlib.collections import PolyCollection

    rows, columns = np.nonzero(predicted)
    right, upper = columns + 0.45, rows - 0.44
    corners = [[(x - 0.3, y), (x, y), (x, y + 0.36)] for x, y in zip(right, upper, strict=True)]
    colours = [drawing.on_colour(image.cmap(image.norm(value))) for value in values[predicted]]
    ax.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0))


def _number(ax: "Axes", image: Any, values: Floats, faded: Flags, size: int) -> None:
    """Write hundredths into cells where there is room, those that may be nothing in brackets."""
    if values.shape[1] > MOST_NUMBERED:
        return
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        text = f"{100 * value:.1f}" if abs(value) < 0.0995 else f"{100 * value:.0f}"
        text = "0" if float(text) == 0 else text.replace("-", "−")
        colour = drawing.on_colour(image.cmap(image.norm(value)))
        if faded[row, column]:
            text, colour = f"({text})", drawing.ink(ax)
        ax.text(column, row, text, color=colour, fontsize=size, ha="center", va="center")


def interactions(
    selected: drawing.Fitted | Selection, subgroup: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw what every two features explain together, less what they explain one by one.

    Purple pairs explain more together (synergy), orange ones the same in part (redundancy). Where
    the interval holds 0, the colour is faded and the number in brackets. A dot marks a prediction.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "y": [0, 1, 1, 0] * 25}
    >>> selector = misfeat.SubgroupSelector(size=2).fit(table, "y")
    >>> " ".join(misfeat.plot.interactions(selector).get_title().split())
    'all rows: 1 pair explains more together, 0 pairs the same in part'
    """
    selection, subgroup = drawing.one_subgroup(selected, subgroup)
    pairs = pair_interactions(selection, subgroup)
    if not pairs:
        why = "The target has a single value there:\nthere is nothing to explain."
        if len(selection.feature_names) < 2:
            why = "There is one feature only, and no pair."
        return drawing.nothing_to_show(drawing.axes(ax, 4.0, 1.5), why)
    names = [drawing.shortened(name) for name in selection.feature_names]
    side = drawing.COLUMN * len(names) + drawing.inches(names)
    ax = drawing.axes(ax, max(side + 2.3, 5.2), max(side + 1.2, 3.4))
    values = np.full((len(names), len(names)), np.nan)  # on the diagonal it stays so
    faded, predicted = np.zeros((2, *values.shape), dtype=bool)
    for one in pairs:
        both = [selection.feature_names.index(name) for name in (one.feature, one.other)]
        for cell in (tuple(both), tuple(both[::-1])):
            values[cell], faded[cell] = one.interaction, one.kind == UNCLEAR
            predicted[cell] = one.source == "predicted"
    most = max(float(np.nanmax(np.abs(values))), 1e-12)
    look: dict[str, Any] = {"vmin": -most, "vmax": most, "edgecolors": "white", "linewidth": 0.8}
    # Orange (the same in part) and purple (more together) are distinct for the colour-blind.
    look |= {"cmap": "PuOr", "alpha": np.where(faded, drawing.FADED, 1.0)}
    edges = np.arange(len(names) + 1) - 0.5
    image = ax.pcolormesh(edges, edges, np.ma.masked_invalid(values), **look)
    _number(ax, image, values, faded, 7)
    numbered = len(names) <= MOST_NUMBERED
    label = "hundredths; faded, (in brackets)" if numbered else "faded"
    handles = [drawing.faded_patch(ax, f"{label}: interval holds 0")]
    if predicted.any():
        rows, columns = np.nonzero(predicted)
        dot: dict[str, Any] = {"marker": ".", "s": 14, "linewidths": 0, "color": drawing.ink(ax)}
        handles.append(ax.scatter(columns + 0.38, rows - 0.38, label="predicted", **dot))
    drawing.name_cells(ax, names, names)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=18)
    unit = selection.set_scores.measure.unit
    bar.set_label(f"together, less one by one ({unit})", **drawing.AS_TEXT)
    more, same = (sum(one.kind == kind for one in pairs) for kind in (SYNERGY, REDUNDANCY))
    together = f"{count_words(more, 'pair')} {'explains' if more == 1 else 'explain'} more together"
    in_part = f"{count_words(same, 'pair')} the same in part"
    title = f"{drawing.shortened(subgroup, 40)}: {together}, {in_part}"
    drawing.title_and_legend(ax, title, handles, columns=2)
    return ax
