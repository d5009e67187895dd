"""Which features each subgroup never recorded, as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.selection.ranking import subgroup_rows
from misfeat.show.plot.asking import selection_of
from misfeat.show.plot.canvas import (
    BLUE,
    COLUMN,
    NARROWEST,
    ROW,
    VERMILLION,
    axes,
    crown,
    inches,
    name_columns,
    name_rows,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch
    from numpy.typing import NDArray

    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted

RECORDED = "#DCE9F2"
"""A light tint of the colour of recorded scores."""


def missing(selected: Fitted | Selection, ax: Axes | None = None) -> Axes:
    """Draw which features each subgroup recorded, and which it never did.

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
    >>> misfeat.plot.missing(selector).get_title()
    'Never recorded: 4 of 15 pairs of subgroup and feature'
    """
    selection = selection_of(selected)
    features, absent = selection.feature_names, selection.missing
    rows = [
        f"{shortened(row['subgroup'])} ({row['rows']:,} rows)"
        for row in subgroup_rows(selection.cohorts)
    ]
    columns = [shortened(feature) for feature in features]
    width = inches(rows) + max(COLUMN * len(columns), NARROWEST) + 0.5
    ax = axes(ax, width, ROW * len(rows) + inches(columns) + 1.3)
    handles = _draw_cells(ax, absent)
    name_rows(ax, rows)
    name_columns(ax, columns)
    ax.set(xlabel="feature", ylabel="subgroup")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    pairs = f"{absent.sum()} of {absent.size} pairs of subgroup and feature"
    crown(ax, f"Never recorded: {pairs}", handles)
    return ax


def _draw_cells(ax: Axes, absent: NDArray[np.bool_]) -> list[Patch]:
    """Draw a cell for every subgroup and feature; what the legend explains."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    looks: dict[str, dict[str, Any]] = {
        "recorded": {"facecolor": RECORDED, "edgecolor": BLUE},
        "never recorded": {"facecolor": VERMILLION, "edgecolor": "white", "hatch": "////"},
    }
    for (label, look), shown in zip(looks.items(), (~absent, absent), strict=True):
        cells = [Rectangle((x - 0.46, y - 0.44), 0.92, 0.88) for y, x in np.argwhere(shown)]
        ax.add_collection(PatchCollection(cells, linewidth=0, label=label, **look))
    return [Patch(label=label, linewidth=0, **look) for label, look in looks.items()]
