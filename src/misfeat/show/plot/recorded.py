"""What was recorded, and which share of the sets that it allows was scored, as maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.top import subgroup_rows
from misfeat.lattice import count
from misfeat.show.plot.asking import selection_of
from misfeat.show.plot.canvas import (
    BLUE,
    COLUMN,
    NARROWEST,
    ROW,
    SCALE,
    VERMILLION,
    axes,
    counted,
    crown,
    inches,
    name_columns,
    name_rows,
    on_colour,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch
    from numpy.typing import NDArray

    from misfeat.selection import Selection
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


def sampling(selected: Fitted | Selection, ax: Axes | None = None) -> Axes:
    """Draw which share of the computable sets of each size was scored exactly.

    With a `budget` below 1, `sampler` chooses among the sets whose features a subgroup recorded;
    the scores of the others are predicted. A cell says how many of how many were scored; under each
    size stands which part of the computable and of the scored sets it makes up, so that a sampler
    which prefers some sizes shows. All sizes that were scored up to now are drawn.

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
    >>> data = make_cohorts(n_cohorts=2, n_rows=300, n_features=5, hide=0.0, random_state=0)
    >>> selector = misfeat.SubgroupSelector(data.groups, size=2, budget=0.4, random_state=0)
    >>> misfeat.plot.sampling(selector.fit(data.columns, data.target)).get_title()
    '40 % of 30 computable sets scored (budget 40 %, randwalk)'
    """
    selection = selection_of(selected)
    counts = _counts(selection)
    rows = [shortened(name) for name in selection.cohorts.names]
    n_sizes = counts.scored.shape[1]
    ax = axes(ax, max(6.4, inches(rows) + 1.5 * n_sizes + 1.6), max(2.4, ROW * len(rows) + 1.9))
    shares = np.ma.masked_invalid(counts.shares)
    image = ax.imshow(shares, cmap=SCALE, vmin=0, vmax=1, aspect="auto")
    for (row, column), share in np.ndenumerate(counts.shares):
        if np.isfinite(share):
            text = f"{counts.scored[row, column]:,} of {counts.computable[row, column]:,}"
            colour = on_colour(image.cmap(share))
            ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
    name_rows(ax, rows)
    ax.set_xticks(range(n_sizes), labels=_size_labels(counts))
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="features in the set", ylabel="subgroup")
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05)
    bar.set_label("share scored exactly")
    bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
    crown(ax, _title(selection, counts))
    return ax


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many sets were scored, and could be, of shape (n_cohorts, n_sizes) from size 1."""

    scored: NDArray[np.int64]
    computable: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """NaN where a cohort recorded too few features for a set of the size."""
        with np.errstate(invalid="ignore"):
            return self.scored / self.computable


def _counts(selection: Selection) -> _Counts:
    by_size = selection.set_scores.computed[1:]
    n_recorded = (~selection.missing).sum(axis=1)
    scored = [np.isfinite(scores).sum(axis=1) for scores in by_size]
    computable = [[count(n, size) for n in n_recorded] for size in range(1, len(by_size) + 1)]
    return _Counts(np.array(scored).T, np.array(computable).T)


def _size_labels(counts: _Counts) -> list[str]:
    parts = [100 * n.sum(axis=0) / max(n.sum(), 1) for n in (counts.computable, counts.scored)]
    return [
        f"{size}\n{computable:.0f} % of computable\n{scored:.0f} % of scored"
        for size, (computable, scored) in enumerate(zip(*parts, strict=True), start=1)
    ]


def _title(selection: Selection, counts: _Counts) -> str:
    total = int(counts.computable.sum())
    share = 100 * counts.scored.sum() / max(total, 1)
    budget, sampler = selection.set_scores.budget, selection.set_scores.sampler
    how = f"budget {100 * budget:.0f} %, {sampler}" if budget < 1 else "budget 100 %"
    return f"{share:.0f} % of {counted(total, 'computable set')} scored ({how})"
