"""What `misfeat bench downstream` shows: a summary to print, plots and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.bench.plots import lines, over_rows, panels, save, styled, with_legend
from misfeat.bench.summaries import at_every_n, in_digits, markdown_table, mean_rows, tables_meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    Row = dict[str, Any]
    Means = dict[tuple[str, int, int], Row]

FIGURES = ("auc", "log_loss")
"""What is measured of every draw, method and size."""
LABELS = {"auc": "AUC", "log_loss": "log loss"}
OURS = "population"
NO_PEERS = (OURS, "sample", "all features")
"""Methods that the best peer is not chosen from."""


def summary(means: Sequence[Row]) -> Iterator[str]:
    """Lines to print: mean figures over tables of every method, a column a size and n."""
    yield f"Means over {tables_meant(means)}:"
    found = _over_tables(at_every_n(means))
    columns = _columns(found)
    for name in FIGURES:
        heads = "".join(f"{f'm={size} n={n}':>12}" for size, n in columns)
        yield f"{LABELS[name]:22}{heads}"
        for method in _methods(means):
            figures = (found.get((method, *column)) for column in columns)
            shown = "".join(f"{_shown(row, name, 4):>12}" for row in figures)
            yield f"{method:22}{shown}"
    yield from verdicts(means)


def verdicts(means: Sequence[Row]) -> Iterator[str]:
    """In how many columns `estimate="population"` is at least as good as the best peer."""
    found = _over_tables(means)
    for name, sign in (("auc", 1), ("log_loss", -1)):
        margins = []
        for column in _columns(found):
            peers = [
                sign * row[name]
                for (method, *at), row in found.items()
                if tuple(at) == column and method not in NO_PEERS
            ]
            ours = found.get((OURS, *column))
            if peers and ours is not None:
                margins.append(sign * ours[name] - max(peers))
        if margins:
            ahead = sum(margin >= 0 for margin in margins)
            yield (
                f"{LABELS[name]}: at least as good as the best peer in {ahead} of {len(margins)} "
                f"columns; margins {', '.join(f'{margin:+.4f}' for margin in margins)}."
            )


def _over_tables(means: Sequence[Row]) -> Means:
    rows = mean_rows(means, ("method", "size", "rows"), FIGURES)
    return {(row["method"], row["size"], row["rows"]): row for row in rows}


def _columns(found: Means) -> list[tuple[int, int]]:
    return sorted({(size, n_rows) for _, size, n_rows in found})


def _methods(means: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in means))


def draw_plots(means: Sequence[Row], folder: Path) -> Iterator[str]:
    """Draw AUC and log loss by rows, a panel a size, as files."""
    try:
        with styled():
            for name, label in LABELS.items():
                sizes = sorted({row["size"] for row in means})
                figure, axes = panels(len(sizes), 3.4)
                for axis, size in zip(axes, sizes, strict=True):
                    shown = [row for row in at_every_n(means) if row["size"] == size]
                    rows = mean_rows(shown, ("rows", "method"), (name,))
                    lines(axis, rows, "rows", name, "method")
                    over_rows(axis, rows)
                    axis.set_title(f"{size} features")
                axes[0].set_ylabel(label)
                save(with_legend(figure, axes), folder, name)
    except ImportError:
        yield "No plot: pip install 'misfeat[plot]'."


def page(means: Sequence[Row], n_seeds: int) -> str:
    """The whole page in Markdown."""
    return "\n".join(_lines(means, n_seeds)) + "\n"


def _lines(means: Sequence[Row], n_seeds: int) -> Iterator[str]:
    yield "# How well do models predict with the chosen features?"
    yield ""
    yield (
        "Written by `misfeat bench downstream`. From every subgroup of a large table n rows are "
        "drawn. Features are chosen on them, a logistic regression (one column a value of each "
        "chosen feature) is fitted to them in every subgroup, and judged on the subgroup's other "
        f"rows. Means over subgroups and {n_seeds} draws. `sample` and `population` are "
        "the best sets of `SubgroupSelector` by `estimate`; peers choose on the rows of all "
        "subgroups together (pooled) or of each alone; `all features` leaves the choice to the "
        "regression. Features that a subgroup never recorded are left out."
    )
    for name in FIGURES:
        yield ""
        yield f"## {LABELS[name]}"
        yield ""
        yield f"![{LABELS[name]} by rows]({name}.svg)"
        yield ""
        yield f"Means over {tables_meant(means)}:"
        yield ""
        yield from _figure_table(at_every_n(means), name)
        yield ""
        yield "A line a table, `population` / the best peer there:"
        yield ""
        yield from _by_table(means, name)
    yield ""
    yield "Over all tables of each column:"
    yield ""
    for verdict in verdicts(means):
        yield f"- {verdict}"


def _figure_table(means: Sequence[Row], name: str) -> Iterator[str]:
    found = _over_tables(means)
    columns = _columns(found)
    yield from markdown_table(
        ["", *(f"{size} features, n = {n:,}" for size, n in columns)],
        [
            [
                f"**{method}**" if method == OURS else method,
                *(_shown(found.get((method, *column)), name) for column in columns),
            ]
            for method in _methods(means)
        ],
    )


def _shown(row: Row | None, name: str, digits: int = 3) -> str:
    return in_digits(None if row is None else row[name], digits)


def _by_table(means: Sequence[Row], name: str) -> Iterator[str]:
    columns = _columns(_over_tables(means))
    best = max if name == "auc" else min
    rows = []
    for table in dict.fromkeys(row["table"] for row in means):
        cells = []
        for column in columns:
            found = {
                row["method"]: row[name]
                for row in means
                if row["table"] == table and (row["size"], row["rows"]) == column
            }
            peers = [figure for method, figure in found.items() if method not in NO_PEERS]
            cells.append(
                f"{in_digits(found.get(OURS), 3)} / {in_digits(best(peers) if peers else None, 3)}"
            )
        rows.append([table, *cells])
    yield from markdown_table(["table", *(f"{size}, {n:,}" for size, n in columns)], rows)
