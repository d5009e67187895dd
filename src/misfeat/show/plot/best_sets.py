"""The best sets of one subgroup, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.show.plot.asking import (
    nothing_to_tell,
    one_subgroup,
    selection_of,
    told_label,
    whole_of,
)
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLOUR,
    MARKER,
    ROW,
    axes,
    counted,
    crown,
    in_per_cent,
    inches,
    name_rows,
    set_label,
    shortened,
    star,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted


def top_k(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    k: int | None = None,
    relative: bool = True,
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
        Features a set, and how many sets; the selector's where None.
    relative : bool, default=True
        Scores as a share of what there is to tell in the subgroup; else in nats.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; a new figure where None.

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
    sets = selection.best_sets(size, k, subgroup)
    if not sets:
        raise nothing_to_tell(selection, subgroup)
    labels = [set_label(best.features, best.missing) for best in sets]
    ax = axes(ax, 4.5 + inches(labels), max(2.2, 1.6 + ROW * len(sets)))
    whole = whole_of(selection, subgroup, relative)
    shown = [_draw_source(ax, sets, source, whole) for source in COLOUR if _places(sets, source)]
    name_rows(ax, labels)
    ax.grid(axis="x", alpha=0.3)
    ax.set_axisbelow(True)
    ax.set_xlabel(told_label(selection, relative), **AS_TEXT)
    if relative:
        in_per_cent(ax.xaxis)
    ax.set_ylabel("set of features")
    if any(best.missing for best in sets):
        shown.append(star(ax))
    many = f"The {len(sets)} best sets" if len(sets) > 1 else "The best set"
    features = counted(len(sets[0].features), "feature")
    crown(ax, f"{many} of {features} in {shortened(subgroup, 40)}", shown, columns=2)
    return ax


def _places(sets: list[ScoredSet], source: str) -> list[int]:
    return [place for place, best in enumerate(sets) if best.source == source]


def _draw_source(ax: Axes, sets: list[ScoredSet], source: str, whole: float) -> Any:
    """Draw the sets of one source, each at its rank; what the legend explains."""
    places = _places(sets, source)
    score, low, high = (
        np.array([getattr(sets[place], name) / whole for place in places])
        for name in ("score", "low", "high")
    )
    recorded = source == "recorded"
    # An interval that a prediction just touches may pass it by a rounding.
    spread = np.maximum([score - low, high - score], 0)
    return ax.errorbar(
        score,
        places,
        xerr=spread if spread.any() else None,
        fmt=MARKER[source],
        color=COLOUR[source],
        markerfacecolor=COLOUR[source] if recorded else ax.get_facecolor(),
        markersize=7,
        markeredgewidth=1.5,
        capsize=3,
        label=f"{source}, with its interval" if spread.any() else source,
    )
