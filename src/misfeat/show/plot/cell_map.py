"""Why two features tell: the share of a class in every cell of their values, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.selection.explaining import condition
from misfeat.show.plot.asking import one_subgroup, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    SCALE,
    axes,
    crown,
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

    from misfeat.selection.explaining import Cell, Explanation, Share
    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted

CELL_WIDTH, CELL_HEIGHT = 0.95, 0.55
"""Inches, room for a share and a number of rows."""
LEAST_SCALE = 0.01
"""Colours tell no finer shares apart than a hundredth."""


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
    found = selection.explanation(subgroup, features)
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
    image = _draw_cells(ax, shares)
    _write(ax, image, places, label, predicted=found.predicted)
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


def _draw_cells(ax: Axes, shares: Any) -> Any:
    return ax.pcolormesh(
        np.arange(shares.shape[1] + 1) - 0.5,
        np.arange(shares.shape[0] + 1) - 0.5,
        np.ma.masked_invalid(shares),
        cmap=SCALE,
        vmin=0.0,
        vmax=max(float(np.nanmax(shares)), LEAST_SCALE),
        edgecolors="white",
        linewidth=0.8,
    )


def _write(
    ax: Axes, image: Any, places: dict[tuple[int, int], Cell], label: str, *, predicted: bool
) -> None:
    """Write the share of the class and the rows into every cell, a tilde before predicted ones."""
    about = "~" if predicted else ""
    for (row, column), cell in sorted(places.items()):
        share = _share(cell, label).share
        many = f"{cell.rows:,.0f} row{'' if round(cell.rows) == 1 else 's'}"
        ax.text(
            column,
            row,
            f"{about}{100 * share:.0f} %\n{about}{many}",
            ha="center",
            va="center",
            fontsize=8,
            color=on_colour(image.cmap(image.norm(share))),
        )


def _explain_colours(ax: Axes, image: Any, told: str) -> None:
    from matplotlib.ticker import PercentFormatter

    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label(f"share of\n{told}", **AS_TEXT)
    bar.formatter = PercentFormatter(1)


def _predicted_mark(ax: Axes) -> Any:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"marker": r"$\sim$", "color": ink(ax), "linestyle": "none"}
    return Line2D([], [], label="predicted, rows as expected", **look)
