"""What `misfeat bench population` shows: a summary to print, plots and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.bench.plots import lines, over_rows, panels, save, styled, with_legend
from misfeat.bench.summaries import (
    at_every_n,
    in_digits,
    markdown_table,
    mean_of,
    mean_rows,
    tables_meant,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Row = dict[str, Any]

COVERAGE = ("recorded", "predicted", "best")
FIGURES = ("share", "ndcg", *COVERAGE, "width")
"""What is measured of every draw and method."""
NAMES = {
    "sample": 'plug-in (`estimate="sample"`)',
    "above_chance": 'above chance (`"above_chance"`)',
    "population": '**population** (`"population"`)',
}


def summary(means: Sequence[Row]) -> Iterator[str]:
    """Lines to print: the share of the five best of every method, a line a table, n and p."""
    methods = list(dict.fromkeys(row["method"] for row in means))
    found: dict[tuple[str, int, float], dict[str, Row]] = {_cell(row): {} for row in means}
    for row in means:
        found[_cell(row)][row["method"]] = row
    names = "".join(f"{method:>14}" for method in methods)
    yield f"{'table':28}{'rows':>6}{'hidden':>8}{names}{'held':>8}"
    for (table, n_rows, share), by_method in found.items():
        shares = "".join(f"{by_method[m]['share']:14.3f}" for m in methods)
        held = in_digits(mean_of(by_method[methods[-1]][name] for name in COVERAGE))
        yield f"{table:28}{n_rows:6}{share:8}{shares}{held:>8}"


def _cell(row: Row) -> tuple[str, int, float]:
    return row["table"], row["rows"], row["hidden"]


def draw_plots(means: Sequence[Row], folder: Path) -> Iterator[str]:
    """Draw the share of the five best by rows, a panel a share of hidden features, as files."""
    try:
        with styled():
            hidden = sorted({row["hidden"] for row in means})
            figure, axes = panels(len(hidden), 3.0)
            for axis, share in zip(axes, hidden, strict=True):
                shown = [row for row in at_every_n(means) if row["hidden"] == share]
                rows = mean_rows(shown, ("rows", "method"), ("share",))
                lines(axis, rows, "rows", "share", "method")
                over_rows(axis, rows)
                axis.set_title(f"p = {share:g}")
                axis.set_ylim(0, 1)
            axes[0].set_ylabel("share of the five best")
            save(with_legend(figure, axes), folder, "share")
    except ImportError:
        yield "No plot: pip install 'misfeat[plot]'."


def page(means: Sequence[Row], n_seeds: int) -> str:
    """The whole page in Markdown."""
    return "\n".join(_lines(means, n_seeds)) + "\n"


def _lines(means: Sequence[Row], n_seeds: int) -> Iterator[str]:
    size = means[0]["size"]
    yield "# Do the sets that look best tell most?"
    yield ""
    yield (
        "Written by `misfeat bench population`. From every subgroup of a large table n rows are "
        "drawn, features are hidden from subgroups with probability p, and the sets of "
        f"{size} that look best are held against the truth: the population where it is known "
        "(generated tables), else scores above chance of the rows that were not drawn, which are "
        f"right on the mean. Means over {n_seeds} draws."
    )
    yield ""
    yield "## Share of the five best"
    yield ""
    yield (
        "The true information of the five sets that look best, over that of the five truly best, "
        f"and nDCG@5; all sets, means over {tables_meant(means)}."
    )
    yield ""
    yield "![Share of the five best by rows](share.svg)"
    yield ""
    yield from _by_rows(means)
    yield ""
    yield (
        "Share of the five best, a line a table. Where few rows are left to judge by (nhanes), "
        "the truly best sets are themselves found by chance in part, and all shares are too low."
    )
    yield ""
    yield from _by_table(means)
    yield ""
    yield "## Intervals"
    yield ""
    yield from _intervals(means)


def _by_rows(means: Sequence[Row]) -> Iterator[str]:
    numbers = sorted({row["rows"] for row in means})
    averages = mean_rows(at_every_n(means), ("hidden", "method", "rows"), ("share", "ndcg"))
    found = {(row["hidden"], row["method"], row["rows"]): row for row in averages}
    yield from markdown_table(
        ["p", "", *(f"n = {n:,}" for n in numbers)],
        [
            [
                f"{hidden:g}",
                NAMES[method],
                *(_pair(found.get((hidden, method, n))) for n in numbers),
            ]
            for hidden, method in dict.fromkeys((key[0], key[1]) for key in found)
        ],
    )


def _pair(row: Row | None) -> str:
    return "–" if row is None else f"{in_digits(row['share'])} / {in_digits(row['ndcg'])}"


def _by_table(means: Sequence[Row]) -> Iterator[str]:
    methods = list(dict.fromkeys(row["method"] for row in means))
    found = {(*_cell(row), row["method"]): row["share"] for row in means}
    yield from markdown_table(
        ["table", "n", "p", *methods],
        [
            [
                cell[0],
                f"{cell[1]:,}",
                f"{cell[2]:g}",
                *(in_digits(found[*cell, m]) for m in methods),
            ]
            for cell in dict.fromkeys(map(_cell, means))
        ],
    )


def _intervals(means: Sequence[Row]) -> Iterator[str]:
    known = [row for row in means if row["width"] is not None and row["method"] == "population"]
    if not known:
        yield "No table of a known population was drawn from."
        return
    yield (
        'How often the 90 % intervals of `estimate="population"` hold the population\'s score, '
        "where it is known: over recorded sets, over predicted ones, and over the ten sets of "
        "every subgroup that look best; and their mean width over the mean score."
    )
    yield ""
    yield from markdown_table(
        ["table", "n", "p", "recorded", "predicted", "ten best-looking", "width"],
        [
            [row["table"], f"{row['rows']:,}", f"{row['hidden']:g}",
             *(in_digits(row[name]) for name in (*COVERAGE, "width"))]
            for row in known
        ],
    )  # fmt: skip
    yield ""
    overall = mean_rows(known, (), (*COVERAGE, "width"))[0]
    figures = ", ".join(f"{name} {in_digits(overall[name])}" for name in COVERAGE)
    yield f"Over all of these: {figures} (ten best-looking)."
