"""How every two features of a subgroup go together, as a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.selection.contrasts import REDUNDANCY, SYNERGY, UNCLEAR
from misfeat.show.plot.asking import one_subgroup, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLUMN,
    FADED,
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
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection.contrasts import Interaction
    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted

    Floats = NDArray[np.float64]

DIVERGING = "PuOr"
"""From orange (the same in part) over white to purple (more together); colour-blind readers tell
these apart."""
MOST_NUMBERED = 16
"""Features of which every cell can hold its number."""
LEAST_SCALE = 1e-12


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
    pairs = selection.pair_interactions(subgroup)
    if not pairs:
        return say_nothing_to_show(axes(ax, 4.0, 1.5), why_no_pairs(selection))
    names = [shortened(name) for name in selection.feature_names]
    side = COLUMN * len(names)
    ax = axes(ax, max(side + inches(names) + 2.3, 5.2), max(side + inches(names) + 1.2, 3.4))
    places = {name: place for place, name in enumerate(selection.feature_names)}
    values, faded = _matrix(pairs, places)
    image = _draw_cells(ax, values, faded)
    numbered = len(names) <= MOST_NUMBERED
    if numbered:
        _number(ax, image, values, faded)
    predicted = [(places[one.feature], places[one.other]) for one in _predicted(pairs)]
    handles = _mark_predicted(ax, predicted)
    name_rows(ax, names)
    name_columns(ax, names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    unit = selection.book.measure.unit
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


def _draw_cells(ax: Axes, values: Floats, faded: NDArray[np.bool_]) -> Any:
    most = max(float(np.nanmax(np.abs(values))), LEAST_SCALE)
    edges = np.arange(len(values) + 1) - 0.5
    shown = np.ma.masked_invalid(values)
    look: dict[str, Any] = {"cmap": DIVERGING, "vmin": -most, "vmax": most}
    look |= {"edgecolors": "white", "linewidth": 0.8, "alpha": np.where(faded, FADED, 1.0)}
    return ax.pcolormesh(edges, edges, shown, **look)


def _number(ax: Axes, image: Any, values: Floats, faded: NDArray[np.bool_]) -> None:
    """Write interactions in hundredths into their cells, those that are unclear in brackets."""
    for (row, column), value in np.ndenumerate(values):
        if row == column:
            continue
        unclear = faded[row, column]
        colour = ink(ax) if unclear else on_colour(image.cmap(image.norm(value)))
        text = _hundredths(value)
        ax.text(
            column,
            row,
            f"({text})" if unclear else text,
            ha="center",
            va="center",
            fontsize=7,
            color=colour,
        )


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
