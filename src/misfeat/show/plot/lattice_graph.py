"""The lattice: the subsets of a few features, and whether scores rise along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.top import TIED_DECIMALS
from misfeat.cohorts.features import check_names, not_a_feature
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice import count, edges_beside, edges_between, level, rank, ranks_below
from misfeat.show.plot.asking import one_subgroup, score_label, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLOUR,
    GREY,
    MARKER,
    SCALE,
    axes,
    counted,
    crown,
    ink,
    shortened,
    star,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

MOST_FEATURES = 6
"""More features have more subsets and edges than can be told apart on a page."""
LONGEST_LABEL = 9
"""Characters of a feature's name under a node."""
MOST_DRAWN = 20_000
"""Points of a source; of more, every so many-th is drawn. The title counts them all."""


def lattice(
    selected: Fitted | Selection,
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
        Size of the largest subsets; all of the features where None. Scores of a size are found for
        all features of the table at once, so with many of them small sizes are fast.
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
    >>> misfeat.plot.lattice(selector).get_title()
    '3 subsets of 2 features in all rows'
    """
    selection = selection_of(selected)
    subgroup = one_subgroup(selection, subgroup)
    chosen = _chosen(selection, features)
    largest = len(chosen) if largest is None else largest
    check_count(largest, "largest")
    nodes = _nodes(selection, subgroup, chosen, min(largest, len(chosen)))
    widest = max(np.bincount(nodes.sizes))
    n_levels = int(nodes.sizes.max())
    ax = axes(ax, max(6.0, 0.72 * widest + 2.2), 1.35 * n_levels + 1.6)
    handles = _draw_edges(ax, nodes, len(chosen)) + _draw_nodes(ax, nodes, selection)
    _write_labels(ax, nodes)
    if any("*" in label for label in nodes.labels):
        handles.append(star(ax))
    ax.set_ylabel("features in the subset")
    ax.set_yticks(range(1, n_levels + 1))
    ax.set_ylim(0.55, n_levels + 0.4)
    ax.set_xlim(-widest / 2 - 0.1, widest / 2 + 0.1)
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    many = f"{counted(len(nodes.sizes), 'subset')} of {counted(len(chosen), 'feature')}"
    crown(ax, f"{many} in {shortened(subgroup, 40)}", handles, columns=3 if widest < 8 else 5)
    return ax


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The subsets of the chosen features, level after level, each in the order of ranks."""

    sizes: NDArray[np.int64]
    x: NDArray[np.float64]
    labels: list[str]
    score: NDArray[np.float64]
    predicted: NDArray[np.bool_]


def _chosen(selection: Selection, features: Sequence[str] | None) -> list[int]:
    """The numbers of the features to draw, in the table's order."""
    names = selection.feature_names
    wanted = list(names) if features is None else check_names(features, "features")
    for name in wanted:
        if name not in names:
            raise not_a_feature(name, "a feature to draw", selection.cohorts, names)
    if not 1 <= len(set(wanted)) <= MOST_FEATURES:
        whose = (
            f"the table has {len(names)}" if features is None else f"features= has {len(wanted)}"
        )
        raise MisfeatError(
            f"A lattice is drawn of 1 to {MOST_FEATURES} features, but {whose}; choose some with "
            f"features=, such as {list(names[:4])!r}."
        )
    return sorted({names.index(name) for name in wanted})


def _nodes(selection: Selection, subgroup: str, chosen: list[int], largest: int) -> _Nodes:
    names, cohort = selection.feature_names, selection.cohorts.position(subgroup)
    absent = selection.missing[cohort]
    sizes, x, labels, score, predicted = [], [], [], [], []
    for size in range(1, largest + 1):
        subsets = np.array(chosen)[level(len(chosen), size)]
        ranks, completed = rank(subsets), selection.completed(size)
        sizes += [size] * len(subsets)
        x += (np.arange(len(subsets)) - (len(subsets) - 1) / 2).tolist()
        labels += [
            "\n".join(shortened(names[f], LONGEST_LABEL) + "*" * bool(absent[f]) for f in subset)
            for subset in subsets
        ]
        score += completed.score[cohort, ranks].tolist()
        predicted += completed.predicted[cohort, ranks].tolist()
    places = np.array(x)
    return _Nodes(np.array(sizes), places, labels, np.array(score), np.array(predicted))


def _draw_edges(ax: Axes, nodes: _Nodes, n_features: int) -> list[Any]:
    """Draw lines between levels and arcs within them; what the legend explains."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    largest = int(nodes.sizes.max())
    places = np.column_stack([nodes.x, nodes.sizes])
    between = edges_between(n_features, 1, largest)
    beside = edges_beside(n_features, 1, largest)
    lines = [places[[a, b]] for a, b in between.T]
    arcs = [_arc(places[a], places[b]) for a, b in beside.T]
    few = count(n_features, 2) <= count(4, 2)
    looks: list[tuple[Any, dict[str, Any]]] = [
        (lines, {"color": ink(ax), "linestyle": "solid", "alpha": 0.45 if few else 0.25}),
        (arcs, {"color": GREY, "linestyle": "dashed", "alpha": 0.9 if few else 0.5}),
    ]
    names = ("one feature more", "one feature swapped")
    handles = []
    for (edges, look), name in zip(looks, names, strict=True):
        if edges:
            ax.add_collection(LineCollection(edges, linewidth=0.9, zorder=1, label=name, **look))
            handles.append(Line2D([], [], linewidth=1.2, label=name, **look))
    return handles


def _arc(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """A curve above the nodes of a level, higher the further it goes, so that arcs differ."""
    share = np.linspace(0, 1, 25)
    height = 0.12 + 0.3 * (1 - np.exp(-abs(end[0] - start[0]) / 6))
    x = start[0] + share * (end[0] - start[0])
    return np.column_stack([x, start[1] + 4 * height * share * (1 - share)])


def _draw_nodes(ax: Axes, nodes: _Nodes, selection: Selection) -> list[Any]:
    """Draw the nodes and the scale of their colours; what the legend explains."""
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    norm = Normalize(0, max(float(nodes.score.max()), 1e-12))
    handles: list[Any] = []
    drawn = None
    for source, shown in (("recorded", ~nodes.predicted), ("predicted", nodes.predicted)):
        if not shown.any():
            continue
        drawn = ax.scatter(
            nodes.x[shown],
            nodes.sizes[shown],
            c=nodes.score[shown],
            cmap=SCALE,
            norm=norm,
            s=190 if source == "recorded" else 170,
            marker=MARKER[source],
            edgecolors=COLOUR[source],
            linewidths=2.2,
            zorder=3,
            label=source,
        )
        look: dict[str, Any] = {"markeredgecolor": COLOUR[source], "markerfacecolor": "none"}
        handles.append(
            Line2D([], [], linestyle="none", marker=MARKER[source], label=source, **look)
        )
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, fraction=0.04)  # type: ignore[arg-type]
    bar.set_label(score_label(selection, 16), **AS_TEXT)
    return handles


def _write_labels(ax: Axes, nodes: _Nodes) -> None:
    for x, size, label in zip(nodes.x, nodes.sizes, nodes.labels, strict=True):
        ax.annotate(
            label,
            (x, size),
            xytext=(0, -11),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
            linespacing=1.3,
            bbox={"facecolor": ax.get_facecolor(), "alpha": 0.75, "edgecolor": "none", "pad": 0.6},
            zorder=4,
            **AS_TEXT,
        )


def closure(
    selected: Fitted | Selection, subgroup: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the score of every set over the best score of a part of it.

    What a set tells, a larger one tells too (upward closure), so that no point may lie below the
    diagonal. How far above it lies is what the last feature adds. Sets of two features up to the
    selector's `size` are drawn; a part has one feature less.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        One subgroup only; all of them together where None.
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
    >>> selector = misfeat.SubgroupSelector(size=2).fit(table, "y")
    >>> misfeat.plot.closure(selector).get_title()
    'Upward closure holds in 100 % of 2 pairs (all rows)'
    """
    selection = selection_of(selected)
    names = selection.subgroup_names(subgroup)
    pairs = _pairs(selection, [selection.cohorts.position(name) for name in names])
    ax = axes(ax, 6.0, 5.6)
    top = max(float(pairs.score.max()), 1e-12)
    ax.plot([0, top], [0, top], color=GREY, linewidth=1.2, linestyle="dashed", zorder=1)
    handles = []
    for source, shown in (("recorded", ~pairs.predicted), ("predicted", pairs.predicted)):
        if (shown & pairs.holds).any():
            handles.append(_draw_pairs(ax, pairs, shown & pairs.holds, source))
    if not pairs.holds.all():
        crosses: dict[str, Any] = {"marker": "x", "s": 30, "linewidths": 1.2, "color": ink(ax)}
        handles.append(_scatter(ax, pairs, ~pairs.holds, label="below a part", **crosses))
    ax.set_aspect("equal")
    ax.grid(alpha=0.3)
    ax.set_axisbelow(True)
    ax.set_xlabel("the same of its best part, with one feature less")
    ax.set_ylabel(f"{score_label(selection)} of a set", **AS_TEXT)
    where = shortened(names[0], 30) if len(names) == 1 else counted(len(names), "subgroup")
    many = counted(pairs.n_pairs, "pair")
    share = _percent(pairs.n_holding, pairs.n_pairs)
    crown(ax, f"Upward closure holds in {share} of {many} ({where})", handles)
    return ax


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Sets with the best of their parts, and how many of all pairs rise."""

    best_part: NDArray[np.float64]
    score: NDArray[np.float64]
    predicted: NDArray[np.bool_]
    n_pairs: int
    n_holding: int

    @property
    def holds(self) -> NDArray[np.bool_]:
        return _no_less(self.score, self.best_part)


def _pairs(selection: Selection, cohorts: list[int]) -> _Pairs:
    n_features, size = len(selection.feature_names), selection.size
    # A table of one feature has but the empty set as a part, which tells nothing.
    first, last = min(2, n_features), min(max(size, 2), n_features)
    best, score, predicted = [], [], []
    n_pairs = n_holding = 0
    for m in range(first, last + 1):
        sets = selection.completed(m)
        own = sets.score[cohorts]
        smaller = selection.completed(m - 1).score[cohorts] if m > 1 else np.zeros((len(own), 1))
        parts = smaller[:, ranks_below(sets.subsets)]
        n_pairs += parts.size
        n_holding += int(_no_less(own[:, :, None], parts).sum())
        best.append(parts.max(axis=2).ravel())
        score.append(own.ravel())
        predicted.append(sets.predicted[cohorts].ravel())
    best_part, scores, guessed = map(np.concatenate, (best, score, predicted))
    return _Pairs(best_part, scores, guessed, n_pairs, n_holding)


def _no_less(larger: NDArray[np.float64], smaller: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a score is no less than another, apart from rounding."""
    return larger >= smaller - 10.0**-TIED_DECIMALS


def _percent(some: int, of: int) -> str:
    """A share in words that says 100 % of all only, and 0 % of none only.

    Examples
    --------
    >>> _percent(2, 2), _percent(9999, 10000)
    ('100 %', '99.9 %')
    """
    if some == of:
        return "100 %"
    return f"{min(max(100 * some / of, 0.1 if some else 0), 99.9):.1f} %"


def _draw_pairs(ax: Axes, pairs: _Pairs, shown: NDArray[np.bool_], source: str) -> Any:
    places = np.flatnonzero(shown)
    places = places[:: -(-len(places) // MOST_DRAWN)]
    look: dict[str, Any] = {"edgecolors": COLOUR[source], "linewidths": 0.8, "alpha": 0.6}
    look |= {"facecolors": COLOUR[source] if source == "recorded" else "none"}
    return _scatter(ax, pairs, places, s=16, marker=MARKER[source], label=source, **look)


def _scatter(ax: Axes, pairs: _Pairs, shown: NDArray[Any], **look: Any) -> Any:
    return ax.scatter(pairs.best_part[shown], pairs.score[shown], rasterized=True, **look)
