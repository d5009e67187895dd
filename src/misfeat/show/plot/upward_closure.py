"""Whether scores rise along the lattice: sets beside the best of their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.lattice import ranks_below
from misfeat.selection.ranking import TIED_DECIMALS
from misfeat.show.plot.asking import score_label, selection_of
from misfeat.show.plot.canvas import (
    AS_TEXT,
    COLOUR,
    GREY,
    MARKER,
    axes,
    counted,
    crown,
    ink,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.selection.selection import Selection
    from misfeat.show.plot.asking import Fitted

MOST_DRAWN = 20_000
"""Points of a source; of more, every so many-th is drawn. The title counts them all."""


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
            handles.append(_draw(ax, pairs, shown & pairs.holds, source))
    if not pairs.holds.all():
        handles.append(_draw_below(ax, pairs))
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
    return _Pairs(
        np.concatenate(best),
        np.concatenate(score),
        np.concatenate(predicted),
        n_pairs,
        n_holding,
    )


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


def _draw(ax: Axes, pairs: _Pairs, shown: NDArray[np.bool_], source: str) -> Any:
    places = np.flatnonzero(shown)
    places = places[:: -(-len(places) // MOST_DRAWN)]
    return ax.scatter(
        pairs.best_part[places],
        pairs.score[places],
        s=16,
        marker=MARKER[source],
        facecolors=COLOUR[source] if source == "recorded" else "none",
        edgecolors=COLOUR[source],
        linewidths=0.8,
        alpha=0.6,
        rasterized=True,
        label=source,
    )


def _draw_below(ax: Axes, pairs: _Pairs) -> Any:
    below = ~pairs.holds
    return ax.scatter(
        pairs.best_part[below],
        pairs.score[below],
        s=30,
        marker="x",
        color=ink(ax),
        linewidths=1.2,
        rasterized=True,
        label="below a part",
    )
