"""What each feature tells alone in every subgroup, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.selection.ranking import subgroup_rows
from misfeat.show.plot.asking import (
    as_shares,
    chance_words,
    no_more_than_chance,
    selection_of,
    share_label,
)
from misfeat.show.plot.canvas import (
    COLUMN,
    LONGEST_LINE,
    NARROWEST,
    ROW,
    axes,
    crown,
    faded_patch,
    inches,
    name_columns,
    name_rows,
    shortened,
)
from misfeat.show.plot.grid import (
    MOST_NUMBERED,
    NARROW_COLUMN,
    corner_mark,
    draw_cells,
    explain_colours,
    hundredths,
    mark_cells,
)
from misfeat.show.plot.score_map import who_tells_most
from misfeat.show.seriation import side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted


def feature_map(selected: Fitted | Selection, ax: Axes | None = None) -> Axes:
    """Draw what each feature tells alone in every subgroup, in per cent of what there is to tell.

    Features come best first, by their mean over the subgroups; subgroups in which the same
    features tell stand side by side (average linkage, optimal order of leaves). A triangle in its
    corner marks a feature that the subgroup never recorded, whose share is predicted. After
    `significance` was asked, cells are grey, with their number in brackets, where a feature tells
    no more than chance. `subgroups` draws the best sets beside the features.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
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
    >>> ax = misfeat.plot.feature_map(selector)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['f2', 'f1', 'f3', 'f5', 'f4']
    """
    selection = selection_of(selected)
    single = selection.completed(1)
    shares = as_shares(selection, single.score)
    columns_of = np.argsort(-shares.mean(axis=0), kind="stable")
    rows_of = side_by_side(shares)
    cells = np.ix_(rows_of, columns_of)
    values, predicted = shares[cells], single.predicted[cells]
    faded = no_more_than_chance(selection, 1)[cells]
    subgroups = subgroup_rows(selection.cohorts)
    rows = [_row(**subgroups[place]) for place in rows_of]
    columns = [shortened(selection.feature_names[f], LONGEST_LINE) for f in columns_of]
    wide = COLUMN if len(columns) <= MOST_NUMBERED else NARROW_COLUMN
    width = max(inches(rows) + wide * len(columns) + 1.9, inches(rows) + NARROWEST)
    ax = axes(ax, width, max(ROW * len(rows) + inches(columns) + 1.6, 2.8))
    places = np.arange(len(columns), dtype=float)
    image = draw_cells(ax, values, places, faded)
    mark_cells(ax, image, values, places, predicted, hundredths, faded)
    name_columns(ax, columns)
    name_rows(ax, rows)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    alike = ",\nalike ones side by side" if len(rows) > 2 else ""
    ax.set(xlabel="feature by itself, best on the left", ylabel=f"subgroup{alike}")
    explain_colours(ax, image, share_label(selection, 16).replace(" tell ", " tell\n"))
    handles = [corner_mark(ax, "never recorded, predicted")] if predicted.any() else []
    if faded.any():
        brackets = " (in brackets)" if len(columns) <= MOST_NUMBERED else ""
        handles.append(faded_patch(ax, f"grey{brackets}: {chance_words(selection)}"))
    crown(ax, who_tells_most(selection, single.score), handles, columns=2)
    return ax


def _row(subgroup: str, rows: float, **_: object) -> str:
    return f"{shortened(subgroup, LONGEST_LINE)} ({rows:,.0f} rows)"
