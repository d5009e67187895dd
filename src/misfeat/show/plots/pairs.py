"""How every two features of a subgroup go together: synergy and redundancy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.features import REDUNDANCY, SYNERGY, UNCLEAR, pair_interactions
from misfeat.show.plots import canvas
from misfeat.show.plots.quantities import one_subgroup, selection_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection import Selection
    from misfeat.show.plots.quantities import Fitted

DIVERGING = "PuOr"
"""From orange (the same in part) to purple (more together), told apart by the colour-blind."""
MOST_NUMBERED = 16  # features of which every cell can hold its number


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
        Where to draw. Defaults to a new figure.

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
        why = "The target has a single value there:\nthere is nothing to tell."
        if len(selection.feature_names) < 2:
            why = "There is one feature only, and no pair."
        return canvas.nothing_to_show(canvas.axes(ax, 4.0, 1.5), why)
    names = [canvas.shortened(name) for name in selection.feature_names]
    side = canvas.COLUMN * len(names) + canvas.inches(names)
    ax = canvas.axes(ax, max(side + 2.3, 5.2), max(side + 1.2, 3.4))
    values = np.full((len(names), len(names)), np.nan)  # on the diagonal it stays so
    faded, predicted = np.zeros((2, *values.shape), dtype=bool)
    for one in pairs:
        both = [selection.feature_names.index(name) for name in (one.feature, one.other)]
        for cell in (tuple(both), tuple(both[::-1])):
            values[cell], faded[cell] = one.interaction, one.kind == UNCLEAR
            predicted[cell] = one.source == "predicted"
    most = max(float(np.nanmax(np.abs(values))), 1e-12)
    look: dict[str, Any] = {"vmin": -most, "vmax": most, "edgecolors": "white", "linewidth": 0.8}
    look |= {"cmap": DIVERGING, "alpha": np.where(faded, canvas.FADED, 1.0)}
    edges = np.arange(len(names) + 1) - 0.5
    image = ax.pcolormesh(edges, edges, np.ma.masked_invalid(values), **look)
    label = "faded"
    if len(names) <= MOST_NUMBERED:
        label = "hundredths; faded, (in brackets)"
        _number(ax, image, values, faded)
    handles = [canvas.faded_patch(ax, f"{label}: interval holds 0")]
    if predicted.any():
        rows, columns = np.nonzero(predicted)
        dot: dict[str, Any] = {"marker": ".", "s": 14, "linewidths": 0, "color": canvas.ink(ax)}
        handles.append(ax.scatter(columns + 0.38, rows - 0.38, label="predicted", **dot))
    canvas.name_cells(ax, names, names)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05, aspect=18)
    unit = selection.set_scores.measure.unit
    bar.set_label(f"together, less one by one ({unit})", **canvas.AS_TEXT)
    more, same = (sum(one.kind == kind for one in pairs) for kind in (SYNERGY, REDUNDANCY))
    together = f"{canvas.counted(more, 'pair')} {'tells' if more == 1 else 'tell'} more together"
    in_part = f"{canvas.counted(same, 'pair')} the same in part"
    title = f"{canvas.shortened(subgroup, 40)}: {together}, {in_part}"
    canvas.crown(ax, title, handles, columns=2)
    return ax


def _number(ax: Axes, image: Any, values: NDArray[Any], faded: NDArray[Any]) -> None:
    """Write interactions in hundredths into their cells, those that are unclear in brackets."""
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        text = f"{100 * value:.1f}" if abs(value) < 0.0995 else f"{100 * value:.0f}"
        text = "0" if float(text) == 0 else text.replace("-", "−")
        colour = canvas.on_colour(image.cmap(image.norm(value)))
        if faded[row, column]:
            text, colour = f"({text})", canvas.ink(ax)
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
        ax.text(column, row, text, color=colour, **look)
