"""Two features: how every two of a subgroup go together, and why a pair tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.interactions import REDUNDANCY, SYNERGY, UNCLEAR, pair_interactions
from misfeat.answers.why import condition, explanation
from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.show.plot.asking import one_subgroup, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLUMN,
    FADED,
    SCALE,
    axes,
    counted,
    crown,
    faded_patch,
    inches,
    ink,
    name_columns,
    name_rows,
    on_colour,
    say_nothing_to_show,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.answers.interactions import Interaction
    from misfeat.answers.why import Cell, Explanation, Share
    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

    Floats = NDArray[np.float64]

DIVERGING = "PuOr"
"""From orange (the same in part) over white to purple (more together); colour-blind readers tell
these apart."""
MOST_NUMBERED = 16
"""Features of which every cell can hold its number."""
LEAST_SCALE = 1e-12
CELL_WIDTH, CELL_HEIGHT = 0.95, 0.55
"""Inches, room for a share and a number of rows."""
LEAST_SHARE = 0.01
"""Colours tell no finer shares apart than a hundredth."""


def interactions(
    selected: Fitted | Selection, subgroup: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw what every two features tell together, less what they tell one by one.

    Purple pairs tell more together (synergy), orange ones tell the same in part (redundancy). Where
    the interval holds 0, the colour is faded and the number in brackets. A dot marks a prediction.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 0, 1] * 25, "y": [0, 1, 1, 0] * 25}
    >>> selector = misfeat.SubgroupSelector(size=2).fit(table, "y")
    >>> " ".join(misfeat.plot.interactions(selector).get_title().split())
    'all rows: 1 pair tells more together, 0 pairs the same in part'
    """
    selection = selection_of(selected)
    subgroup = one_subgroup(selection, subgroup)
    pairs = pair_interactions(selection, subgroup)
    if not pairs:
        return say_nothing_to_show(axes(ax, 4.0, 1.5), why_no_pairs(selection))
    names = [shortened(name) for name in selection.feature_names]
    side = COLUMN * len(names)
    ax = axes(ax, max(side + inches(names) + 2.3, 5.2), max(side + inches(names) + 1.2, 3.4))
    places = {name: place for place, name in enumerate(selection.feature_names)}
    values, faded = _matrix(pairs, places)
    most = max(float(np.nanmax(np.abs(values))), LEAST_SCALE)
    faint = np.where(faded, FADED, 1.0)
    image = _draw_cells(ax, values, cmap=DIVERGING, vmin=-most, vmax=most, alpha=faint)
    numbered = len(names) <= MOST_NUMBERED
    if numbered:
        _number(ax, image, values, faded)
    predicted = [(places[one.feature], places[one.other]) for one in _predicted(pairs)]
    handles = _mark_predicted(ax, predicted)
    name_rows(ax, names)
    name_columns(ax, names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    unit = selection.set_scores.measure.unit
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=18)
    bar.set_label(f"together, less one by one ({unit})", **AS_TEXT)
    crown(ax, how_pairs_tell(subgroup, pairs), [_explained(ax, numbered), *handles], columns=2)
    return ax


def how_pairs_tell(subgroup: str, pairs: list[Interaction]) -> str:
    """The title of a picture of pairs."""
    more, same = (sum(one.kind == kind for one in pairs) for kind in (SYNERGY, REDUNDANCY))
    tell = "tells" if more == 1 else "tell"
    return (
        f"{shortened(subgroup, 40)}: {counted(more, 'pair')} {tell} more together, "
        f"{counted(same, 'pair')} the same in part"
    )


def why_no_pairs(selection: Selection) -> str:
    """What stands where there is no pair to draw."""
    if len(selection.feature_names) < 2:
        return "There is one feature only, and no pair."
    return "The target has a single value there:\nthere is nothing to tell."


def _predicted(pairs: list[Interaction]) -> list[Interaction]:
    return [one for one in pairs if one.source == "predicted"]


def _matrix(pairs: list[Interaction], places: dict[str, int]) -> tuple[Floats, NDArray[np.bool_]]:
    """Interactions by two features, NaN on the diagonal; and which of them are unclear."""
    values = np.full((len(places), len(places)), np.nan)
    faded = np.zeros(values.shape, dtype=bool)
    for one in pairs:
        both = places[one.feature], places[one.other]
        for cell in (both, both[::-1]):
            values[cell], faded[cell] = one.interaction, one.kind == UNCLEAR
    return values, faded


def _draw_cells(ax: Axes, values: Floats, **look: Any) -> Any:
    """Draw a coloured cell for every value, none where it is NaN."""
    rows, columns = (np.arange(count + 1) - 0.5 for count in values.shape)
    look |= {"edgecolors": "white", "linewidth": 0.8}
    return ax.pcolormesh(columns, rows, np.ma.masked_invalid(values), **look)


def _write(ax: Axes, place: tuple[int, ...], text: str, colour: str, size: int) -> None:
    """Write a text into the cell of a row and a column."""
    row, column = place
    ax.text(column, row, text, ha="center", va="center", fontsize=size, color=colour)


def _number(ax: Axes, image: Any, values: Floats, faded: NDArray[np.bool_]) -> None:
    """Write interactions in hundredths into their cells, those that are unclear in brackets."""
    for place, value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        colour = ink(ax) if faded[place] else on_colour(image.cmap(image.norm(value)))
        text = _hundredths(value)
        _write(ax, place, f"({text})" if faded[place] else text, colour, size=7)


def _hundredths(value: float) -> str:
    """A number times a hundred in four characters.

    Examples
    --------
    >>> _hundredths(0.0312), _hundredths(-0.314), _hundredths(-0.0001)
    ('3.1', '−31', '0')
    """
    text = f"{100 * value:.1f}" if abs(value) < 0.0995 else f"{100 * value:.0f}"
    return "0" if float(text) == 0 else text.replace("-", "−")


def _mark_predicted(ax: Axes, cells: list[tuple[int, int]]) -> list[Any]:
    """Put a dot into the corner of predicted cells; what the legend says of it."""
    if not cells:
        return []
    places = np.array([cell for both in cells for cell in (both, both[::-1])])
    look: dict[str, Any] = {"marker": ".", "s": 14, "linewidths": 0, "color": ink(ax)}
    return [ax.scatter(places[:, 1] + 0.38, places[:, 0] - 0.38, label="predicted", **look)]


def _explained(ax: Axes, numbered: bool) -> Any:
    """What a legend says of faded cells and numbers."""
    label = "hundredths; faded, (in brackets)" if numbered else "faded"
    return faded_patch(ax, f"{label}: interval holds 0")


def cells(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    features: Sequence[str] | None = None,
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw what the cells of two features hold of one class of the target.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    features : sequence of str, default=None
        Two features; the values of the first are the rows of the map. Defaults to the best pair.
    label : str, default=None
        The class. Defaults to the second one of two, else to the rarest of the subgroup.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 0, 1] * 9}
    >>> selector = misfeat.SubgroupSelector(size=2).fit(table, "y")
    >>> ax = misfeat.plot.cells(selector, features=["a", "b"])
    >>> ax.get_title(), ax.texts[-1].get_text()
    ('y = 1 in all rows: 25 % overall', '100 %\n9 rows')
    """
    selection = selection_of(selected)
    subgroup = one_subgroup(selection, subgroup)
    if features is None and len(selection.feature_names) < 2:
        return say_nothing_to_show(axes(ax, 4.0, 1.5), "There is one feature only, and no pair.")
    if features is None:
        features = _best_pair(selection, subgroup)
    found = explanation(selection, subgroup, features)
    crossed = _crossed(found, features)
    label = _class(found, selection.cohorts.classes, label)
    rows, columns = (_values(found, place, selection) for place in crossed)
    row_names, column_names = ([shortened(value, 18) for value in v] for v in (rows, columns))
    width = CELL_WIDTH * len(columns) + inches(row_names) + 1.9
    ax = axes(ax, max(width, 4.6), max(CELL_HEIGHT * len(rows) + inches(column_names) + 1.3, 2.6))
    places = {
        (rows.index(cell.values[crossed[0]]), columns.index(cell.values[crossed[1]])): cell
        for cell in found.cells
    }
    shares = np.full((len(rows), len(columns)), np.nan)
    for place, cell in places.items():
        shares[place] = _share(cell, label).share
    most = max(float(np.nanmax(shares)), LEAST_SHARE)
    image = _draw_cells(ax, shares, cmap=SCALE, vmin=0.0, vmax=most)
    _write_shares(ax, image, places, label, predicted=found.predicted)
    name_rows(ax, row_names)
    name_columns(ax, column_names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel(shortened(found.features[crossed[0]]), **AS_TEXT)
    ax.set_xlabel(shortened(found.features[crossed[1]]), **AS_TEXT)
    told = shortened(condition(found.target, label), 40)
    _explain_colours(ax, image, told)
    overall = _share(found.cells[0], label).overall
    title = f"{told} in {shortened(subgroup, 40)}: {100 * overall:.0f} % overall"
    crown(ax, title, [_predicted_mark(ax)] if found.predicted else [])
    return ax


def _best_pair(selection: Selection, subgroup: str) -> tuple[str, ...]:
    """The pair that tells most, whatever sets must hold."""
    scores, cohort = selection.completed(2), selection.cohorts.position(subgroup)
    best = scores.subsets[int(np.argmax(scores.score[cohort]))]
    return tuple(selection.feature_names[member] for member in best)


def _crossed(found: Explanation, features: Sequence[str]) -> tuple[int, int]:
    """The places of two features in what was found, in the order that they were named in."""
    if len(found.features) != 2:
        raise MisfeatError(
            "{features}; a map has two features.",
            remedy="Name two of them.",
            features=Setting("features", features),
        )
    first = found.features.index(str(features[0]))
    return first, 1 - first


def _class(found: Explanation, classes: Sequence[str], label: str | None) -> str:
    """The class that is shown: the one asked for, the second of two, or the rarest there is."""
    if label is None:
        shares = [share for share in found.cells[0].shares if share.overall > 0]
        if len(classes) == 2:
            return shares[-1].label
        return min(shares, key=lambda share: share.overall).label
    if str(label) not in classes:
        raise MisfeatError(
            "{label} is no class of the target {target!r}; it has {classes}.",
            label=Setting("label", label),
            target=found.target,
            classes=listed(classes),
        )
    return str(label)


def _values(found: Explanation, place: int, selection: Selection) -> list[str]:
    """The values of a feature that cells have, in the order of its codes."""
    held = {cell.values[place] for cell in found.cells}
    number = selection.cohorts.features.index(found.features[place])
    ordered = [value for value in selection.cohorts.categories[number] if value in held]
    return [*ordered, *sorted(held - set(ordered))]


def _share(cell: Cell, label: str) -> Share:
    return next(share for share in cell.shares if share.label == label)


def _write_shares(
    ax: Axes, image: Any, places: dict[tuple[int, int], Cell], label: str, *, predicted: bool
) -> None:
    """Write the share of the class and the rows into every cell, a tilde before predicted ones."""
    about = "~" if predicted else ""
    for place in sorted(places):
        cell = places[place]
        share = _share(cell, label).share
        many = f"{cell.rows:,.0f} row{'' if round(cell.rows) == 1 else 's'}"
        colour = on_colour(image.cmap(image.norm(share)))
        _write(ax, place, f"{about}{100 * share:.0f} %\n{about}{many}", colour, size=8)


def _explain_colours(ax: Axes, image: Any, told: str) -> None:
    from matplotlib.ticker import PercentFormatter

    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label(f"share of\n{told}", **AS_TEXT)
    bar.formatter = PercentFormatter(1)


def _predicted_mark(ax: Axes) -> Any:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": r"$\sim$", "color": ink(ax), "linestyle": "none"}
    return Line2D([], [], label="predicted, rows as expected", **look)
