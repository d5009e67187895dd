"""Which features tell more together and which the same in part, as a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.interactions import REDUNDANCY, SYNERGY, UNCLEAR, pair_interactions
from misfeat.show.plot.asking import most_telling, one_subgroup, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLOUR,
    LONGEST_LINE,
    MARKER,
    axes,
    crown,
    inches,
    ink,
    per_cent,
    say_nothing_to_show,
    shortened,
)
from misfeat.show.plot.pairs import how_pairs_tell, why_no_pairs
from misfeat.show.seriation import side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.answers.interactions import Interaction
    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

    Floats = NDArray[np.float64]

LOOKS: dict[str, tuple[str, Any, str]] = {
    SYNERGY: ("#542788", "solid", "tell more together"),
    REDUNDANCY: ("#B35806", (0, (4, 2)), "tell the same in part"),
}
"""Colour, dash and words; the colours of `interactions`, which colour-blind readers tell apart."""
LINE = 0.22
"""Inches from one label to the next."""
LEAST_DIAMETER = 2.6
"""Inches of the circle of features."""
WIDEST, THINNEST = 4.0, 0.8
"""Points of an edge."""
LARGEST_NODE, SMALLEST_NODE = 220.0, 10.0
"""Area of a node in square points."""
NODE_ROOM = 0.25
"""Inches between the circle and the labels, for half a node."""
BENT = 0.55
"""How far an edge between features of one side keeps from the middle; 1 makes it straight."""


def synergy_network(
    selected: Fitted | Selection, subgroup: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw which features tell more together, and which the same in part, as a network.

    A node is a feature; its area shows what it tells alone, and it is hollow where the subgroup
    never recorded it. An edge joins two features whose interaction is clearly not zero (its
    interval does not hold 0): a purple line where they tell more together than one by one, a dashed
    orange one where they tell the same in part; the wider, the more. Features with wide edges
    between them stand opposite each other; those without any follow below, by what they tell.

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
    >>> " ".join(misfeat.plot.synergy_network(selector).get_title().split())
    'all rows: 1 pair tells more together, 0 pairs the same in part'
    """
    selection = selection_of(selected)
    subgroup = one_subgroup(selection, subgroup)
    pairs = pair_interactions(selection, subgroup)
    if not pairs:
        return say_nothing_to_show(axes(ax, 4.0, 1.5), why_no_pairs(selection))
    nodes = _nodes(selection, subgroup, pairs)
    widths = inches(nodes.labels) + NODE_ROOM
    diameter = max(LEAST_DIAMETER, LINE * -(-len(nodes.labels) // 2))
    # The units of the axes are inches, so that there is room for the labels.
    ax = axes(ax, max(diameter + 2 * widths, 5.6), diameter + 1.1)
    middles = nodes.places * diameter / 2
    handles = _draw_edges(ax, nodes, middles) + _draw_nodes(ax, nodes, middles)
    _write_labels(ax, nodes, middles)
    ax.set_xlim(-diameter / 2 - widths, diameter / 2 + widths)
    ax.set_ylim(-diameter / 2, diameter / 2)
    ax.set_axis_off()
    crown(ax, how_pairs_tell(subgroup, pairs), handles, columns=2)
    return ax


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Features as they stand on a circle of radius 1, and the clear interactions between them."""

    labels: list[str]
    places: Floats
    alone: Floats
    predicted: NDArray[np.bool_]
    edges: list[tuple[int, int, str, float]]

    @property
    def areas(self) -> Floats:
        """Of the nodes, in square points."""
        most = max(float(self.alone.max()), 1e-12)
        return np.maximum(LARGEST_NODE * self.alone / most, SMALLEST_NODE)


def _nodes(selection: Selection, subgroup: str, pairs: list[Interaction]) -> _Nodes:
    cohort, names = selection.cohorts.position(subgroup), selection.feature_names
    whole, single = float(most_telling(selection)[cohort]), selection.completed(1)
    numbers = {name: number for number, name in enumerate(names)}
    clear = [
        (numbers[one.feature], numbers[one.other], one.kind, abs(one.interaction) / whole)
        for one in pairs
        if one.kind != UNCLEAR
    ]
    shares = single.score[cohort] / whole
    order = _order(shares, clear)
    turn = {number: place for place, number in enumerate(order.tolist())}
    alone = shares[order]
    return _Nodes(
        labels=[
            f"{shortened(names[number], LONGEST_LINE)} {per_cent(share)}"
            for number, share in zip(order, alone, strict=True)
        ],
        places=_on_a_circle(len(names)),
        alone=alone,
        predicted=single.predicted[cohort, order],
        edges=[(turn[one], turn[other], kind, size) for one, other, kind, size in clear],
    )


def _order(shares: Floats, edges: Sequence[tuple[int, int, str, float]]) -> NDArray[np.intp]:
    """Features such that those with wide edges between them are neighbours; the others follow."""
    joined = np.zeros((len(shares), len(shares)))
    for one, other, _, size in edges:
        joined[one, other] = joined[other, one] = size
    ends, alone = (np.flatnonzero(some) for some in (joined.any(axis=0), ~joined.any(axis=0)))
    if len(ends):
        among = joined[np.ix_(ends, ends)]
        ends = ends[side_by_side(among + np.diag(np.full(len(ends), among.max())))]
    return np.concatenate([ends, alone[np.argsort(-shares[alone], kind="stable")]])


def _on_a_circle(count: int) -> Floats:
    """Places on a circle, from its top down, left and right in turn, as far apart in height.

    Examples
    --------
    >>> _on_a_circle(4).round(2).tolist()
    [[-0.87, 0.5], [0.87, 0.5], [-0.87, -0.5], [0.87, -0.5]]
    """
    levels = -(-count // 2)
    height = 1 - (2 * (np.arange(count) // 2) + 1) / levels
    side = np.where(np.arange(count) % 2, 1.0, -1.0)
    return np.column_stack([side * np.sqrt(1 - height**2), height])


def _draw_edges(ax: Axes, nodes: _Nodes, middles: Floats) -> list[Any]:
    """Draw the edges, the widest last; what the legend explains."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    most = max((size for *_, size in nodes.edges), default=1.0)
    for one, other, kind, size in sorted(nodes.edges, key=lambda edge: edge[-1]):
        start, end = middles[one], middles[other]
        # Towards the middle of the circle, past the features in between.
        via = (start + end) / 2 * (BENT, 1)
        bent = Path([start, via, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
        look: dict[str, Any] = {"edgecolor": LOOKS[kind][0], "linestyle": LOOKS[kind][1]}
        look |= {"linewidth": max(WIDEST * size / most, THINNEST), "alpha": 0.8}
        ax.add_patch(PathPatch(bent, facecolor="none", capstyle="butt", zorder=1, **look))
    handles: list[Any] = []
    for kind, (colour, dash, words) in LOOKS.items():
        sizes = [size for *_, which, size in nodes.edges if which == kind]
        if sizes:
            label = f"{words}, by up to {per_cent(max(sizes))}"
            handles.append(Line2D([], [], color=colour, linestyle=dash, linewidth=2.5, label=label))
    return handles


def _draw_nodes(ax: Axes, nodes: _Nodes, middles: Floats) -> list[Any]:
    handles = []
    for source in COLOUR:
        predicted = source == "predicted"
        shown = nodes.predicted == predicted
        if not shown.any():
            continue
        ax.scatter(
            middles[shown, 0],
            middles[shown, 1],
            nodes.areas[shown],
            marker=MARKER[source],
            facecolors=ax.get_facecolor() if predicted else COLOUR[source],
            edgecolors=COLOUR[source],
            linewidths=1.5,
            zorder=2,
            clip_on=False,
            label=source,
        )
        handles.append(_node_handle(ax, source))
    return handles


def _node_handle(ax: Axes, source: str) -> Any:
    from matplotlib.lines import Line2D

    predicted = source == "predicted"
    look: dict[str, Any] = {"color": COLOUR[source], "marker": MARKER[source]}
    look["markerfacecolor"] = ax.get_facecolor() if predicted else COLOUR[source]
    words = "the same, never recorded" if predicted else "tells alone (area: share)"
    return Line2D([], [], linestyle="none", label=words, **look)


def _write_labels(ax: Axes, nodes: _Nodes, middles: Floats) -> None:
    away = 4 + 0.75 * np.sqrt(nodes.areas)  # half a diamond
    for label, (x, y), beside in zip(nodes.labels, middles, away, strict=True):
        side = 1 if x > 0 else -1
        look: dict[str, Any] = {"xytext": (beside * side, 0), "textcoords": "offset points"}
        look |= {"ha": "left" if side > 0 else "right", "va": "center", "fontsize": 9}
        ax.annotate(label, (x, y), color=ink(ax), annotation_clip=False, **look, **AS_TEXT)
