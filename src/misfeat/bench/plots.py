"""What the plots of all benchmarks share: style, panels, lines and one legend."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    Row = dict[str, Any]

STYLE: Any = {
    "font.family": "serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "misfeat",
}
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Told apart by colour-blind readers too (Okabe and Ito)."""
MARKERS = "osD^vPX*"


@contextmanager
def styled() -> Iterator[None]:
    """Draw into files, in the style of all benchmarks."""
    import matplotlib as mpl

    mpl.use("Agg")
    with mpl.rc_context(STYLE):
        yield


def save(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as PNG and SVG."""
    from matplotlib import pyplot as plt

    figure.tight_layout()
    for kind in ("png", "svg"):
        # Without the date, so that the same results give the same file.
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(folder / f"{name}.{kind}", dpi=200, metadata=metadata, bbox_inches="tight")
    plt.close(figure)


def panels(count: int, height: float = 2.4) -> tuple[Any, list[Axes]]:
    """Panels side by side."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, count, figsize=(2.7 * count + 0.6, height), squeeze=False)
    return figure, list(axes[0])


def lines(axis: Axes, rows: list[Row], x: str, y: str, by: str) -> None:
    """A line of y over x for every value of another column."""
    for place, name in enumerate(dict.fromkeys(row[by] for row in rows)):
        line = sorted((row[x], row[y]) for row in rows if row[by] == name)
        axis.plot(
            [a for a, _ in line],
            [b for _, b in line],
            color=COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            markersize=3.5,
            linewidth=1.1,
            linestyle="-" if place < len(COLOURS) else "--",
            label=name,
        )


def over_rows(axis: Axes, rows: list[Row]) -> None:
    """Label an axis of numbers of rows, in equal steps of their ratio."""
    numbers = sorted({row["rows"] for row in rows})
    axis.set(xlabel="rows a subgroup", xscale="log")
    axis.set_xticks(numbers, [f"{number:,}" for number in numbers])
    axis.minorticks_off()


def with_legend(figure: Any, axes: list[Axes]) -> Any:
    """One legend for all panels, above them."""
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=min(len(labels), 6)
    )
    return figure
