"""Rows of results as means, CSV files, Markdown tables and plots."""

from __future__ import annotations

import csv
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]
    from pathlib import Path

    from matplotlib.axes import Axes


def mean_rows(rows: Iterable[Row], keys: Sequence[str], names: Sequence[str]) -> list[Row]:
    """Means of some columns, a row for each combination of others.

    A figure that is None in some rows is the mean of the others, and None where it is None in all.

    Examples
    --------
    >>> mean_rows([{"a": 1, "x": 2.0}, {"a": 1, "x": 4.0}], ["a"], ["x"])
    [{'a': 1, 'x': 3.0}]
    >>> mean_rows([{"a": 1, "x": None}, {"a": 1, "x": 4.0}, {"a": 2, "x": None}], ["a"], ["x"])
    [{'a': 1, 'x': 4.0}, {'a': 2, 'x': None}]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [
        {
            **dict(zip(keys, key, strict=True)),
            **{name: mean_of([row[name] for row in found]) for name in names},
        }
        for key, found in groups.items()
    ]


def mean_of(figures: Iterable[float | None]) -> float | None:
    """The mean of those that are known.

    Examples
    --------
    >>> mean_of([1.0, None, 2.0]), mean_of([None])
    (1.5, None)
    """
    known = [figure for figure in figures if figure is not None]
    return float(np.mean(known)) if known else None


def at_every_n(rows: Sequence[Row], key: str = "rows") -> list[Row]:
    """The rows of tables that every number of rows was drawn from; of all where there is none.

    Means over tables can be compared between numbers of rows (or other values of a `key`) only
    where the tables are the same.

    Examples
    --------
    >>> rows = [{"table": t, "rows": n} for t, n in (("a", 1), ("a", 2), ("b", 1))]
    >>> at_every_n(rows)
    [{'table': 'a', 'rows': 1}, {'table': 'a', 'rows': 2}]
    """
    numbers = {row[key] for row in rows}
    drawn: dict[str, set[int]] = {}
    for row in rows:
        drawn.setdefault(row["table"], set()).add(row[key])
    return [row for row in rows if drawn[row["table"]] == numbers] or list(rows)


def tables_meant(rows: Sequence[Row]) -> str:
    """Which tables means are over, in words.

    Examples
    --------
    >>> tables_meant([{"table": t, "rows": n} for t, n in (("a", 1), ("a", 2), ("b", 1))])
    'a (not b, which is too small for some n)'
    """
    meant = list(dict.fromkeys(row["table"] for row in at_every_n(rows)))
    others = [t for t in dict.fromkeys(row["table"] for row in rows) if t not in meant]
    which = "is" if len(others) == 1 else "are"
    left = f" (not {', '.join(others)}, which {which} too small for some n)" if others else ""
    return f"{', '.join(meant)}{left}"


def write_csv(rows: Sequence[Row], path: Path) -> None:
    """Write rows to a CSV file, figures to four digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names, lineterminator="\n")
        table.writeheader()
        for row in rows:
            table.writerow({k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()})


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table.

    Examples
    --------
    >>> list(markdown_table(["n", "share"], [["100", "0.90"]]))
    ['| n | share |', '| --- | --- |', '| 100 | 0.90 |']
    """
    yield "| " + " | ".join(header) + " |"
    yield "| --- " * len(header) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def in_digits(figure: float | None, digits: int = 2) -> str:
    """A figure as it stands in a table; a dash where it is not known.

    Examples
    --------
    >>> in_digits(0.954), in_digits(None)
    ('0.95', '–')
    """
    return "–" if figure is None else f"{figure:.{digits}f}"


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
