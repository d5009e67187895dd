"""What single features tell in every subgroup, as maps, one with the best set beside it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.top import best_sets, subgroup_rows
from misfeat.show.plot.asking import (
    as_shares,
    chance_words,
    no_more_than_chance,
    nothing_to_tell,
    selection_of,
    share_label,
    told_label,
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
    set_label,
    shortened,
    star,
)
from misfeat.show.plot.grid import (
    MOST_NUMBERED,
    NARROW_COLUMN,
    corner_mark,
    draw_cells,
    explain_colours,
    hundredths,
    last_apart,
    mark_cells,
    name_on_the_right,
)
from misfeat.show.seriation import side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted


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
        Scores as a share of what there is to tell in the subgroup, so that subgroups compare; else
        in nats.
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
    found = {one.subgroup: one for one in best_sets(selection, size, 1)}
    if not found:
        raise nothing_to_tell(selection)
    best = [found.get(name) for name in selection.cohorts.names]
    score = [0.0 if one is None else one.score for one in best]
    values = np.column_stack([features.score, score])
    values = as_shares(selection, values) if relative else values
    order = np.argsort(-values[:, :-1].mean(axis=0), kind="stable")
    values = values[:, [*order, -1]]
    source = [one is not None and one.source == "predicted" for one in best]
    predicted = np.column_stack([features.predicted[:, order], source])
    rows = [shortened(name) for name in selection.cohorts.names]
    members = len(next(iter(found.values())).features)
    columns = [*[shortened(names[f]) for f in order], f"best set of {members}"]
    sets = ["" if one is None else set_label(one.features, one.missing, 40) for one in best]
    width = inches(rows) + inches(sets) + COLUMN * len(columns) + 2.2
    ax = axes(ax, max(width, 5.5), max(ROW * len(rows) + inches(columns) + 1.3, 2.8))
    places = last_apart(len(columns))
    image = draw_cells(ax, values, places)
    mark_cells(ax, image, values, places, predicted, hundredths if relative else _number)
    name_columns(ax, columns, places)
    name_rows(ax, rows)
    name_on_the_right(ax, sets)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="feature by itself, best on the left", ylabel="subgroup")
    explain_colours(ax, image, _label(selection, relative), shares=relative)
    handles = [corner_mark(ax, "predicted")] if predicted.any() else []
    if any(one.missing for one in found.values()):
        handles.append(star(ax))
    crown(ax, who_tells_most(selection, features.score), handles)
    return ax


def _label(selection: Selection, relative: bool) -> str:
    label = told_label(selection, relative, 16)
    return label.replace(" tell ", " tell\n").replace(" with ", "\nwith ")


def who_tells_most(selection: Selection, scores: NDArray[np.float64]) -> str:
    """The title of a map of what single features tell."""
    features, n_cohorts = selection.feature_names, len(scores)
    ((best, often),) = Counter(scores.argmax(axis=1).tolist()).most_common(1)
    where = f"in {often} of {n_cohorts} subgroups" if n_cohorts > 1 else "here"
    return f"{shortened(features[best])} tells most by itself {where}"


def _number(value: float) -> str:
    """A score in four characters.

    Examples
    --------
    >>> _number(0.031), _number(0.31)
    ('.031', '.31')
    """
    return f"{value:.3f}".lstrip("0") if value < 0.0995 else f"{value:.2f}".lstrip("0")


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
