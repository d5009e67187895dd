"""What single features tell in every subgroup, as a map, with the best set beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.show.plot.asking import most_telling, nothing_to_tell, score_label, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLUMN,
    ROW,
    SCALE,
    axes,
    crown,
    inches,
    ink,
    name_columns,
    name_rows,
    on_colour,
    set_label,
    shortened,
    star,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted

MOST_NUMBERED = 16
"""Columns in which every cell can hold its number."""
POWER = 0.6
"""Colours rise with this power of a score."""
GAP = 0.4
"""Between single features and the best set, in cells."""


def subgroups(
    selected: Fitted | Selection,
    size: int | None = None,
    relative: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of single features in every subgroup, and of its best set.

    Features come best first, by their mean over the subgroups. A triangle in its corner marks a
    score that was predicted; on the right stands what the best set of each subgroup holds.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    size : int, default=None
        Size of the best set; the selector's where None.
    relative : bool, default=True
        Scores as a share of the subgroup's target entropy, so that subgroups compare; else in nats.
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
    >>> misfeat.plot.subgroups(selector).get_title()
    'f2 tells most by itself in 3 of 3 subgroups'
    """
    selection = selection_of(selected)
    names, features = selection.feature_names, selection.completed(1)
    found = {one.subgroup: one for one in selection.best_sets(size, 1)}
    if not found:
        raise nothing_to_tell(selection)
    best = [found.get(name) for name in selection.cohorts.names]
    unit = _units(selection, relative)
    order = np.argsort(-(features.score / unit).mean(axis=0), kind="stable")
    score = [0.0 if one is None else one.score for one in best]
    values = np.column_stack([features.score[:, order], score]) / unit
    source = [one is not None and one.source == "predicted" for one in best]
    predicted = np.column_stack([features.predicted[:, order], source])
    rows = [shortened(name) for name in selection.cohorts.names]
    members = len(next(iter(found.values())).features)
    columns = [*[shortened(names[f]) for f in order], f"best set of {members}"]
    sets = ["" if one is None else set_label(one.features, one.missing, 40) for one in best]
    width = inches(rows) + inches(sets) + COLUMN * len(columns) + 2.2
    ax = axes(ax, max(width, 5.5), max(ROW * len(rows) + inches(columns) + 1.3, 2.8))
    image = _draw_cells(ax, values)
    _mark(ax, image, values, predicted, relative)
    name_columns(ax, columns, _columns(len(columns)))
    name_rows(ax, rows)
    _name_sets(ax, sets)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="feature by itself, best on the left", ylabel="subgroup")
    _explain_colours(ax, image, _label(selection, relative), relative)
    handles = _legend(ax) if predicted.any() else []
    if any(one.missing for one in found.values()):
        handles.append(star(ax))
    crown(ax, _title(selection, features.score), handles)
    return ax


def _units(selection: Selection, relative: bool) -> NDArray[np.float64]:
    """What scores are divided by, a row a cohort; a constant target can be told nothing about."""
    most = most_telling(selection)
    whole = np.where(most > 0, most, 1.0) if relative else np.ones_like(most)
    return whole[:, None]


def _label(selection: Selection, relative: bool) -> str:
    if relative and selection.book.measure.name != "r2":
        return f"share of the\nentropy of {shortened(selection.cohorts.target)}"
    return score_label(selection, 16).replace(" with ", "\nwith ")


def _title(selection: Selection, scores: NDArray[np.float64]) -> str:
    features, n_cohorts = selection.feature_names, len(scores)
    ((best, often),) = Counter(scores.argmax(axis=1).tolist()).most_common(1)
    where = f"in {often} of {n_cohorts} subgroups" if n_cohorts > 1 else "here"
    return f"{shortened(features[best])} tells most by itself {where}"


def _columns(count: int) -> NDArray[np.float64]:
    """The middles of the columns; the last one stands apart."""
    places = np.arange(count, dtype=float)
    places[-1] += GAP
    return places


def _draw_cells(ax: Axes, values: NDArray[np.float64]) -> Any:
    """Draw a coloured cell for every value."""
    from matplotlib.colors import PowerNorm

    n_rows, n_columns = values.shape
    # The gap is a column of its own, without a value.
    apart = np.insert(values, n_columns - 1, np.nan, axis=1)
    edges = np.insert(np.arange(n_columns) - 0.5, n_columns - 1, n_columns - 1.5)
    edges = np.append(edges[: n_columns - 1], [n_columns - 1.5, n_columns - 1.5 + GAP])
    edges = np.append(edges, n_columns - 0.5 + GAP)
    return ax.pcolormesh(
        edges,
        np.arange(n_rows + 1) - 0.5,
        np.ma.masked_invalid(apart),
        cmap=SCALE,
        # Single features tell far less than sets: a power of the score tells them apart.
        norm=PowerNorm(POWER, 0, max(float(values.max()), 1e-12)),
        edgecolors="white",
        linewidth=0.8,
    )


def _mark(
    ax: Axes,
    image: Any,
    values: NDArray[np.float64],
    predicted: NDArray[np.bool_],
    relative: bool,
) -> None:
    """Put a triangle into the corner of predicted cells, and numbers where there is room."""
    from matplotlib.collections import PolyCollection

    places = _columns(values.shape[1])
    corners, colours = [], []
    for (row, column), value in np.ndenumerate(values):
        x, colour = float(places[column]), on_colour(image.cmap(image.norm(value)))
        if predicted[row, column]:
            right, top = x + 0.45, row - 0.44
            corners.append([(right - 0.3, top), (right, top), (right, top + 0.36)])
            colours.append(colour)
        if values.shape[1] <= MOST_NUMBERED:
            ax.text(
                x,
                row + 0.05,
                _number(value, relative),
                ha="center",
                va="center",
                color=colour,
                fontsize=8,
            )
    ax.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0))


def _number(value: float, relative: bool) -> str:
    """A score in four characters, in percent where it is a share.

    Examples
    --------
    >>> _number(0.031, True), _number(0.31, True), _number(0.31, False)
    ('3.1', '31', '.31')
    """
    if relative:
        return f"{100 * value:.1f}" if value < 0.0995 else f"{100 * value:.0f}"
    return f"{value:.3f}".lstrip("0") if value < 0.0995 else f"{value:.2f}".lstrip("0")


def _explain_colours(ax: Axes, image: Any, label: str, relative: bool) -> None:
    from matplotlib.ticker import PercentFormatter

    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=12)
    bar.set_label(label, **AS_TEXT)
    if relative:
        bar.formatter = PercentFormatter(1)


def _name_sets(ax: Axes, sets: list[str]) -> None:
    """Write on the right what the best sets hold."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(sets)), labels=sets, fontsize="small", **AS_TEXT)
    right.tick_params(length=0)
    right.spines[:].set_visible(False)


def _legend(ax: Axes) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.path import Path

    corner = Path([(-1, 1), (1, 1), (1, -1), (-1, 1)])  # as in the cells
    look: dict[str, Any] = {"marker": corner, "color": ink(ax), "linestyle": "none"}
    return [Line2D([], [], label="predicted", **look)]
