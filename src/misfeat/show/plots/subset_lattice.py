"""The lattice of the paper: the subsets of a few features, coloured by their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.cohorts.feature_blocks import check_names, not_a_feature
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice import edges_beside, edges_between, level, rank
from misfeat.show.plots import canvas
from misfeat.words import count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection import Selection

MOST_FEATURES = 6  # more features have more subsets and edges than can be distinguished on a page
LONGEST_LABEL = 9  # characters of a feature's name under a node


def lattice(
    selected: canvas.Fitted | Selection,
    subgroup: str | None = None,
    features: Sequence[str] | None = None,
    largest: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the subsets of up to six features in one subgroup, coloured by their scores.

    A node is a subset, a level holds the subsets of a size. Solid lines join a subset with those
    that hold one feature more; dashed arcs join subsets of a size that differ in one feature.
    Exact scores are circles with a blue rim, predicted ones diamonds with a vermillion rim.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`; may be left out where there is only one.
    features : sequence of str, default=None
        Up to six features; needed where the table has more.
    largest : int, default=None
        Size of the largest subsets, small where the table is wide. Defaults to all of `features`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw. Defaults to a new figure.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> selector = misfeat.SubgroupSelector(size=1).fit(table, "y")
    >>> misfeat.plot.lattice(selector).get_title()
    '3 subsets of 2 features in all rows'
    """
    selection, subgroup = canvas.one_subgroup(selected, subgroup)
    names = selection.feature_names
    wanted = list(names) if features is None else check_names(features, "features")
    for name in wanted:
        if name not in names:
            raise not_a_feature(name, "a feature to draw", selection.cohorts, names)
    if not 1 <= len(set(wanted)) <= MOST_FEATURES:
        whose = "the table has" if features is None else "features= has"
        raise MisfeatError(
            f"A lattice is drawn of 1 to {MOST_FEATURES} features, but {whose} {len(wanted)}; "
            f"choose some with features=, such as {list(names[:4])!r}."
        )
    chosen = sorted({names.index(name) for name in wanted})
    largest = len(chosen) if largest is None else largest
    check_count(largest, "largest")
    nodes = _nodes(selection, subgroup, chosen, min(largest, len(chosen)))
    widest = max(np.bincount(nodes.size))
    n_levels = int(nodes.size.max())
    ax = canvas.axes(ax, max(6.0, 0.72 * widest + 2.2), 1.35 * n_levels + 1.6)
    handles = _draw_edges(ax, nodes, len(chosen)) + _draw_nodes(ax, nodes)
    measure, target = selection.set_scores.measure, canvas.shortened(selection.cohorts.target, 16)
    unit = "" if measure.name == "r2" else f" ({measure.unit})"
    bar = ax.figure.colorbar(ax.collections[-1], ax=ax, pad=0.02, fraction=0.04)
    bar.set_label(f"{measure.words} with {target}{unit}", **canvas.AS_TEXT)
    box: dict[str, Any] = {"facecolor": ax.get_facecolor(), "alpha": 0.75, "edgecolor": "none"}
    look: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 7, "linespacing": 1.3}
    look |= {"textcoords": "offset points", "bbox": box | {"pad": 0.6}, "zorder": 4}
    for x, size, label in zip(nodes.x, nodes.size, nodes.label, strict=True):
        ax.annotate(label, (x, size), xytext=(0, -11), **look, **canvas.AS_TEXT)
    if any("*" in label for label in nodes.label):
        handles.append(canvas.star(ax))
    ax.set_ylabel("features in the subset")
    ax.set_yticks(range(1, n_levels + 1))
    ax.set_ylim(0.55, n_levels + 0.4)
    ax.set_xlim(-widest / 2 - 0.1, widest / 2 + 0.1)
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    subsets, of = count_words(len(nodes.x), "subset"), count_words(len(chosen), "feature")
    title = f"{subsets} of {of} in {canvas.shortened(subgroup, 40)}"
    canvas.crown(ax, title, handles, columns=3 if widest < 8 else 5)
    return ax


class _Nodes(NamedTuple):
    """The subsets of the chosen features, level after level, each in the order of ranks."""

    size: NDArray[np.int64]
    x: NDArray[np.float64]
    score: NDArray[np.float64]
    predicted: NDArray[np.bool_]
    label: list[str]


def _nodes(selection: Selection, subgroup: str, chosen: list[int], largest: int) -> _Nodes:
    cohort = selection.cohorts.position(subgroup)
    names = [canvas.shortened(name, LONGEST_LABEL) for name in selection.feature_names]
    for feature in np.flatnonzero(selection.missing[cohort]):
        names[feature] += "*"
    levels = [np.array(chosen)[level(len(chosen), size)] for size in range(1, largest + 1)]
    held = [(selection.completed(size), rank(sets)) for size, sets in enumerate(levels, start=1)]
    return _Nodes(
        np.repeat(np.arange(1, largest + 1), [len(sets) for sets in levels]),
        np.concatenate([np.arange(len(sets)) - (len(sets) - 1) / 2 for sets in levels]),
        np.concatenate([scores.score[cohort, ranks] for scores, ranks in held]),
        np.concatenate([scores.predicted[cohort, ranks] for scores, ranks in held]),
        ["\n".join(names[feature] for feature in subset) for sets in levels for subset in sets],
    )


def _draw_edges(ax: Axes, nodes: _Nodes, n_features: int) -> list[Any]:
    """Draw lines between levels and arcs within them; what the legend explains."""
    from matplotlib.collections import LineCollection

    largest = int(nodes.size.max())
    points = np.column_stack([nodes.x, nodes.size])
    lines = [points[[a, b]] for a, b in edges_between(n_features, 1, largest).T]
    arcs = [_arc(points[a], points[b]) for a, b in edges_beside(n_features, 1, largest).T]
    few = n_features <= 4
    kinds: list[tuple[str, Any, dict[str, Any]]] = [
        ("one feature more", lines, {"color": canvas.ink(ax), "alpha": 0.45 if few else 0.25}),
        ("one feature swapped", arcs, {"color": canvas.GREY, "alpha": 0.9 if few else 0.5}),
    ]
    handles = []
    for (name, edges, look), dash in zip(kinds, ("solid", "dashed"), strict=True):
        if edges:
            look["linestyle"] = dash
            ax.add_collection(LineCollection(edges, linewidth=0.9, zorder=1, label=name, **look))
            handles.append(canvas.sign(name, linewidth=1.2, **look))
    return handles


def _arc(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """A curve above the nodes of a level, higher the further it goes, so that arcs differ."""
    share = np.linspace(0, 1, 25)
    height = 0.12 + 0.3 * (1 - np.exp(-abs(end[0] - start[0]) / 6))
    x = start[0] + share * (end[0] - start[0])
    return np.column_stack([x, start[1] + 4 * height * share * (1 - share)])


def _draw_nodes(ax: Axes, nodes: _Nodes) -> list[Any]:
    """Draw the nodes; what the legend explains."""
    handles: list[Any] = []
    scale: dict[str, Any] = {"vmin": 0, "vmax": max(float(nodes.score.max()), 1e-12)}
    for source, shown in (("recorded", ~nodes.predicted), ("predicted", nodes.predicted)):
        if not shown.any():
            continue
        rim, marker = canvas.COLOUR[source], canvas.MARKER[source]
        look: dict[str, Any] = {"cmap": canvas.SCALE, "s": 190 if source == "recorded" else 170}
        look |= scale | {"edgecolors": rim, "linewidths": 2.2, "zorder": 3, "label": source}
        x, size = nodes.x[shown], nodes.size[shown]
        ax.scatter(x, size, c=nodes.score[shown], marker=marker, **look)
        hollow: dict[str, Any] = {"markeredgecolor": rim, "markerfacecolor": "none"}
        handles.append(canvas.sign(source, linestyle="none", marker=marker, **hollow))
    return handles
