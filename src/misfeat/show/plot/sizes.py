"""How much the best set of every size tells, and how many features are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.enough import enough_features
from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.show.plot.asking import interval_words, most_telling, selection_of, share_label
from misfeat.show.plot.canvas import (
    AS_TEXT,
    BLUE,
    FADED,
    LONGEST_LINE,
    axes,
    check_axes,
    counted,
    crown,
    faded_patch,
    in_per_cent,
    inches,
    ink,
    panels,
    say_nothing_to_show,
    set_label,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from misfeat.answers.enough import Enough
    from misfeat.selection import Selection
    from misfeat.show.plot.asking import Fitted

    Floats = NDArray[np.float64]

PANEL = 4.0, 2.7
"""Width and height of one of several panels, in inches: room for a name of 48 characters."""
MOST_BESIDE = 4
"""Panels in a row."""
LONGEST_SET = 60
"""Characters of the features of a set."""
LINE = 14
"""Points from one line of text to the next."""
LEAST_SCALE = 0.02
"""Shares that are next to nothing are to look like it."""


def size_curve(
    selected: Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    ax: Axes | None = None,
) -> Axes | NDArray[np.object_]:
    """Draw how much the best recorded set of every size tells, and where it is enough.

    A circle around a point marks the size beyond which nothing more than chance is added, as
    `enough` finds it; larger sizes are faded. Where no size is marked, either no feature tells more
    than chance, and all is faded, or the largest size that was tried still added something.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`. Defaults to all of them, each in a panel of its own.
    size : int, default=None
        The largest size to try. Defaults to the selector's `size` and one more.
    ax : matplotlib.axes.Axes, default=None
        Where to draw one subgroup; a new figure where None.

    Returns
    -------
    matplotlib.axes.Axes, or ndarray of them
        What was drawn on; an array with one a subgroup where there are several.

    Examples
    --------
    >>> import misfeat
    >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
    >>> selector = misfeat.SubgroupSelector(size=1).fit(table, "y")
    >>> misfeat.plot.size_curve(selector).get_title()
    'all rows: 1 feature is enough'
    """
    selection = selection_of(selected)
    names = selection.subgroup_names(subgroup)
    check_axes(ax)
    if len(names) > 1 and ax is not None:
        raise MisfeatError(
            "One axes shows the curve of one subgroup; name it with {setting}, one of {names}, or "
            "leave {ax} out for a panel for each.",
            setting=Setting("subgroup"),
            ax=Setting("ax"),
            names=listed(names),
        )
    if len(names) > 1:
        return _several(selection, size)
    (curve,) = _curves(selection, names, size)
    found = curve.found
    sets = [set_label(step.features, (), LONGEST_SET) for step in found.steps]
    ax = axes(ax, 5.2 + max(inches(sets), 1.2), 3.6)
    if not found.steps:
        return say_nothing_to_show(ax, "The target has a single value there:\nnothing to tell.")
    _draw(ax, curve)
    _scale(ax, [curve])
    ax.set_ylabel(share_label(selection, 16).replace(" tell ", " tell\n"), **AS_TEXT)
    ax.set_xlabel("features in the set")
    _write_sets(ax, curve)
    title = f"{shortened(found.subgroup, LONGEST_LINE)}: {_verdict(found)}"
    crown(ax, title, _legend(ax, [curve], selection), columns=2)
    return ax


@dataclass(frozen=True, eq=False)
class _Curve:
    """How many features are enough for a subgroup, with shares by size and how far they reach."""

    found: Enough
    share: Floats
    low: Floats
    high: Floats

    @property
    def n_telling(self) -> int:
        """The sizes up to this one add more than chance."""
        return self.found.size if self.found.settled else len(self.found.steps)


def _curves(selection: Selection, names: Sequence[str], size: int | None) -> list[_Curve]:
    curves = []
    for name in names:
        (found,) = enough_features(selection, name, size)
        whole = float(most_telling(selection)[selection.cohorts.position(name)])
        scores = np.array([(step.score, step.low, step.high) for step in found.steps])
        share, low, high = scores.reshape(-1, 3).T / (whole or 1.0)
        curves.append(_Curve(found, share, low, high))
    return curves


def _several(selection: Selection, size: int | None) -> NDArray[np.object_]:
    """Draw every subgroup in a panel of its own, all on one scale."""
    curves = _curves(selection, selection.subgroup_names(), size)
    drawn = panels(len(curves), MOST_BESIDE, *PANEL)
    for ax, curve in zip(drawn, curves, strict=True):
        _draw(ax, curve)
        title = f"{shortened(curve.found.subgroup, LONGEST_LINE)}\n{_in_short(curve.found)}"
        ax.set_title(title, fontsize="small", loc="left", **AS_TEXT)
    _scale(drawn[0], curves)
    figure = drawn[0].figure
    figure.supxlabel("features in the set", fontsize="medium")
    told = share_label(selection, 16).replace(" tell ", " tell\n")
    figure.supylabel(told, fontsize="medium", **AS_TEXT)
    handles = _legend(drawn[0], curves, selection)
    look: dict[str, Any] = {"loc": "outside upper left", "frameon": False, "fontsize": "small"}
    figure.legend(handles=handles, ncols=min(len(handles), len(drawn)), **look)
    return drawn


def _draw(ax: Axes, curve: _Curve) -> None:
    """Draw the curve of a subgroup, faded beyond the size that is enough."""
    sizes, told, found = np.arange(1, len(curve.share) + 1), curve.n_telling, curve.found
    spread = np.maximum([curve.share - curve.low, curve.high - curve.share], 0)
    for shown, alpha in ((sizes <= told, 1.0), (sizes > told, FADED)):
        look: dict[str, Any] = {"color": BLUE, "alpha": alpha, "capsize": 3, "markersize": 6}
        if shown.any():
            ax.errorbar(sizes[shown], curve.share[shown], yerr=spread[:, shown], fmt="o", **look)
        joined = shown if alpha == 1 else sizes >= max(told, 1)
        ax.plot(sizes[joined], curve.share[joined], color=BLUE, alpha=alpha, linewidth=1.4)
    if found.settled and found.size:
        ring: dict[str, Any] = {"s": 170, "facecolors": "none", "linewidths": 1.6, "zorder": 4}
        ax.scatter([found.size], [curve.share[found.size - 1]], edgecolors=ink(ax), **ring)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)


def _scale(ax: Axes, curves: list[_Curve]) -> None:
    """Show all sizes, and shares from 0."""
    highest = max(float(curve.high.max(initial=0.0)) for curve in curves)
    largest = max(1, *(len(curve.share) for curve in curves))
    ax.set_ylim(0, max(LEAST_SCALE, 1.06 * highest))
    ax.set_xlim(0.5, largest + 0.5)
    ax.set_xticks(range(1, largest + 1))
    in_per_cent(ax.yaxis)


def _verdict(found: Enough) -> str:
    if not found.settled:
        return f"{counted(len(found.steps), 'feature')} tell, and more may add"
    if not found.size:
        return "no feature tells more than chance"
    return f"{counted(found.size, 'feature')} {'is' if found.size == 1 else 'are'} enough"


def _in_short(found: Enough) -> str:
    """The set that is enough, for the title of a panel."""
    if not found.steps:
        return "nothing to tell"
    if not found.size:
        return "none tells more than chance"
    words = "enough" if found.settled else "more may add to"
    features = found.steps[found.size - 1].features
    return f"{words}: {set_label(features, (), LONGEST_LINE - len(words))}"


def _write_sets(ax: Axes, curve: _Curve) -> None:
    """Write on the right which set is the best of its size."""
    where: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    where |= {"annotation_clip": False, "fontsize": 9, "va": "top", "color": ink(ax)}
    ax.annotate("best recorded set", (1, 1), xytext=(12, 0), weight="bold", **where)
    for place, step in enumerate(curve.found.steps, start=1):
        text = f"{step.size}: {set_label(step.features, (), LONGEST_SET)}"
        look = where | AS_TEXT | {"alpha": 1.0 if step.size <= curve.n_telling else 0.6}
        ax.annotate(text, (1, 1), xytext=(12, -LINE * place), **look)


def _legend(ax: Axes, curves: list[_Curve], selection: Selection) -> list[Any]:
    from matplotlib.lines import Line2D

    words = interval_words(selection)
    handles: list[Any] = [Line2D([], [], marker="o", color=BLUE, label=f"share, with its {words}")]
    if any(curve.found.settled and curve.found.size for curve in curves):
        ring: dict[str, Any] = {"marker": "o", "markersize": 11, "markerfacecolor": "none"}
        handles.append(Line2D([], [], color=ink(ax), linestyle="none", label="enough", **ring))
    if any(curve.n_telling < len(curve.share) for curve in curves):
        handles.append(faded_patch(ax, "faded: adds no more than chance"))
    return handles
