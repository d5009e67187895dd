"""The best set of every size, and how many features are enough."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from misfeat.answers.number_of_features import Enough, enough_features
from misfeat.answers.recommendation import EXPLAINED, answer_of
from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting, listed
from misfeat.runtime.array_types import Floats
from misfeat.selection import Selection
from misfeat.show.plots import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = 4.0, 2.7  # inches of one of several panels: room for a name of 48 characters
MOST_BESIDE = 4  # panels in a row


def size_curve(
    selected: drawing.Fitted | Selection,
    subgroup: str | None = None,
    size: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes | NDArray[np.object_]":
    """Draw how much the best recorded set of every size explains, and where it is enough.

    A circle marks the size that is `enough`; larger sizes are faded. Where none is marked, there
    is no evidence for any feature (all is faded), or the largest size still added something.

    Parameters
    ----------
    selected : SubgroupSelector or Selection
        A fitted one.
    subgroup : str, default=None
        Its name, as in `subgroups_`. Defaults to all of them, each in a panel of its own.
    size : int, default=None
        The largest size to try. Defaults to the selector's `size` and one more.
    ax : matplotlib.axes.Axes, default=None
        Where to draw one subgroup. Defaults to a new figure.

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
    'all rows: enough: a'
    """
    selection = drawing.selection_of(selected)
    names = selection.subgroup_names(subgroup)
    drawing.check_axes(ax)
    if len(names) > 1 and ax is not None:
        raise MisfeatError(
            f"One axes shows the curve of one subgroup; name it with {Setting('subgroup')}, one "
            f"of {listed(names)}, or leave {Setting('ax')} out for a panel for each."
        )
    answer = answer_of(selection, subgroup, size)
    curves = []
    for enough in answer.enough.values() or enough_features(selection, subgroup, size):
        name = enough.subgroup
        scores = np.array([(step.score, step.low, step.high) for step in enough.steps])
        chosen = answer[name].features if answer[name].verdict == EXPLAINED else ()
        shares = scores.reshape(-1, 3).T / drawing.whole_of(selection, name)
        curves.append(_Curve(enough, len(chosen), *shares))
    panels = [drawing.axes(ax, 5.2, 3.6)] if len(curves) == 1 else _grid(len(curves))
    titles = [f"{drawing.shortened(c.enough.subgroup, drawing.LONGEST_LINE)}: " for c in curves]
    for panel, curve in zip(panels, curves, strict=True):
        _draw(panel, curve)
    highest = max(float(curve.high.max(initial=0.0)) for curve in curves)
    largest = max(1, *(len(curve.share) for curve in curves))
    panels[0].set_ylim(0, max(drawing.LEAST_SCALE, 1.06 * highest))
    panels[0].set_xlim(0.5, largest + 0.5)
    panels[0].set_xticks(range(1, largest + 1))
    drawing.in_per_cent(panels[0].yaxis)
    label, figure = drawing.share_label(selection, 16, "\n"), panels[0].figure
    interval = drawing.interval_words(selection)
    handles = [drawing.sign(f"share, with its {interval}", color=drawing.BLUE, marker="o")]
    if any(curve.size and not curve.more_may_help for curve in curves):
        ring: dict[str, Any] = {"marker": "o", "markersize": 11, "markerfacecolor": "none"}
        ring |= {"color": drawing.ink(panels[0]), "linestyle": "none"}
        handles.append(drawing.sign("enough", **ring))
    if any(curve.size < len(curve.share) for curve in curves):
        handles.append(drawing.faded_patch(panels[0], "faded: no evidence that it adds"))
    if len(curves) == 1:
        panels[0].set_xlabel("features in the set")
        panels[0].set_ylabel(label, **drawing.AS_TEXT)
        drawing.title_and_legend(panels[0], titles[0] + curves[0].verdict, handles, columns=2)
        return panels[0]
    for panel, title, curve in zip(panels, titles, curves, strict=True):
        words = f"{title[:-2]}\n{curve.verdict}"
        panel.set_title(words, fontsize="small", loc="left", **drawing.AS_TEXT)
    figure.supxlabel("features in the set", fontsize="medium")
    figure.supylabel(label, fontsize="medium", **drawing.AS_TEXT)
    look: dict[str, Any] = {"loc": "outside upper left", "frameon": False, "fontsize": "small"}
    figure.legend(handles=handles, ncols=min(len(handles), len(panels)), **look)
    return np.array(panels, dtype=object)


class _Curve(NamedTuple):
    """Where a subgroup has enough features, with shares by size and their intervals."""

    enough: Enough
    size: int  # of the recommended set; 0 where there is no evidence for any
    share: Floats
    low: Floats
    high: Floats

    @property
    def more_may_help(self) -> bool:
        """Whether larger sets than those that were tried may explain more."""
        return self.size == self.enough.size and not self.enough.settled

    @property
    def verdict(self) -> str:
        """Which features are enough, in a few words."""
        if not self.enough.steps:
            return "nothing to explain"
        if not self.size:
            return "no evidence for any feature"
        words = "more may help" if self.more_may_help else "enough"
        features = self.enough.steps[self.size - 1].features
        return f"{words}: {drawing.set_label(features, (), drawing.LONGEST_LINE - len(words))}"


def _grid(count: int) -> list["Axes"]:
    columns = min(count, MOST_BESIDE)
    rows = -(-count // columns)
    look: dict[str, Any] = {"figsize": (PANEL[0] * columns, PANEL[1] * rows)}
    figure = drawing.check_axes(None).figure(layout="constrained", **look)
    drawn = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for spare in drawn[count:]:
        spare.remove()
    for ax in drawn[:count][-columns:]:
        ax.tick_params(labelbottom=True)  # also where there is no panel below
    return list(drawn[:count])


def _draw(ax: "Axes", curve: _Curve) -> None:
    """Draw the curve of a subgroup, faded beyond the size that is enough."""
    sizes, useful = np.arange(1, len(curve.share) + 1), curve.size
    spread = np.maximum([curve.share - curve.low, curve.high - curve.share], 0)
    for shown, alpha in ((sizes <= useful, 1.0), (sizes > useful, drawing.FADED)):
        look: dict[str, Any] = {"color": drawing.BLUE, "alpha": alpha}
        if shown.any():
            bars: dict[str, Any] = {"yerr": spread[:, shown], "capsize": 3, "markersize": 6}
            ax.errorbar(sizes[shown], curve.share[shown], fmt="o", **bars, **look)
        joined = shown if alpha == 1 else sizes >= max(useful, 1)
        ax.plot(sizes[joined], curve.share[joined], **look, linewidth=1.4)
    if useful and not curve.more_may_help:
        ring: dict[str, Any] = {"s": 170, "facecolors": "none", "linewidths": 1.6, "zorder": 4}
        ax.scatter([useful], [curve.share[useful - 1]], edgecolors=drawing.ink(ax), **ring)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
