"""`python -m benchmarks population`: do the sets that look best explain most in the population?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.draws import (
    CONFIDENCE,
    ESTIMATES,
    LARGEST_FROM_ROWS,
    OF_THE_POPULATION,
    SIZES,
    USUAL,
    check_asked,
    code_of_estimates,
    draw_of,
    estimated,
    made_draws,
    mask_of,
    source_of,
)
from benchmarks.common.metrics import ndcg_at
from benchmarks.common.output import (
    at_every_n,
    in_digits,
    lines,
    markdown_table,
    mean_of,
    mean_rows,
    over_rows,
    panels,
    save,
    styled,
    tables_meant,
    with_legend,
    write_csv,
)
from benchmarks.common.units import Unit
from misfeat.answers.validation import captured_at
from misfeat.cohorts.feature_removal import hide_features
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.common.units import Tell
    from misfeat.completion.completer_data import CompletedScores

    Floats = NDArray[np.float64]
    Row = dict[str, Any]
    Cell = tuple[str, int, float, int]

BEST = 5
"""So many of the sets that look best are held against as many of the truly best."""
USUAL_SIZE = 3
"""Of the sets whose shares are drawn by rows."""
LOOKED_AT = 10
"""The coverage of intervals is measured apart over so many of the sets that look best."""


@dataclass(frozen=True)
class PopulationBench:
    """Draws rows from large tables, hides features, and holds estimates against the truth.

    Tables are those of `benchmarks.common.draws.SOURCES`, rows are drawn from every subgroup,
    features hidden from one with the probabilities `shares`. The figures do not depend on `n_jobs`.
    """

    tables: Sequence[str] = USUAL
    rows: Sequence[int] = (100, 300, 1000, 3000)
    shares: Sequence[float] = (0.0, 0.2, 0.5)
    seeds: Sequence[int] = field(default_factory=lambda: tuple(range(1, 11)))
    sizes: Sequence[int] = SIZES
    n_jobs: int | None = 1

    def __post_init__(self) -> None:
        check_asked(self.tables, self.rows, self.seeds, self.sizes)
        if not self.shares:
            raise MisfeatError("hide: give one at least.")
        for share in self.shares:
            if not 0 <= share < 1:
                raise MisfeatError(f"hide: {share!r}; a share must be 0 or lie below 1.")

    def run(self, folder: str | Path, tell: Tell) -> list[str]:
        """Make the draws that are not made yet; write figures, plots and a page to a folder.

        An interrupted run goes on there. Returns the lines of a summary; `tell` is told what is
        done.
        """
        place = Path(folder)
        rows = made_draws(list(self.units()), place, tell, self.n_jobs)
        means = mean_rows(rows, ("table", "rows", "hidden", "size", "method"), FIGURES)
        write_csv(means, place / "means.csv")
        (place / "page.md").write_text(page(means, len(self.seeds)), encoding="utf-8")
        return [*summary(means), *draw_plots(means, place), f"Figures: {place}"]

    def units(self) -> Iterator[Unit]:
        """Every draw as a piece of work, those of one table after each other."""
        settings = {
            "confidence": CONFIDENCE,
            "methods": list(ESTIMATES),
            "code": code_of_estimates(),
        }
        for table in self.tables:
            for seed in self.seeds:
                for n_rows in self.rows:
                    for share, size in product(self.shares, self.sizes):
                        about = {"table": table, "rows": n_rows, "hidden": share, "seed": seed}
                        work = partial(one_draw, table, n_rows, share, seed, size)
                        yield Unit("population", {**about, "size": size}, settings, work)


def one_draw(table: str, n_rows: int, share: float, seed: int, size: int) -> list[Row]:
    """The figures of every method on one draw."""
    source = source_of(table, seed)
    draw = draw_of(source, n_rows, seed)
    mask = mask_of(source.cohorts.missing, share, seed)
    known = hide_features(draw.rows, mask)
    truth = source.truth(size, draw.left)
    rows = []
    for method in ESTIMATES:
        found = estimated(method, known, size)
        exact = source.populations is not None and method in OF_THE_POPULATION
        rows.append(
            {"method": method, **ranked(truth, found.score), **held(truth, found, exact=exact)}
        )
    return rows


def ranked(truth: Floats, score: Floats) -> dict[str, float]:
    """How much the sets that look best tell; means over subgroups, over sets of known truth."""
    judged = ~np.isnan(truth)
    pairs = [(true[j], said[j]) for true, said, j in zip(truth, score, judged, strict=True)]
    return {
        "share": float(np.mean([captured_at(BEST, *pair) for pair in pairs])),
        "ndcg": float(np.mean([ndcg_at(BEST, *pair) for pair in pairs])),
    }


def held(truth: Floats, found: CompletedScores, *, exact: bool) -> dict[str, float | None]:
    """How often intervals hold the truth, and how wide they are; None where that is not known."""
    if not exact:
        return dict.fromkeys(("recorded", "predicted", "best", "width"))
    inside = (found.low <= truth) & (truth <= found.high)
    first = np.argsort(-found.score, axis=1, kind="stable")[:, :LOOKED_AT]
    return {
        "recorded": _share(inside[~found.predicted]),
        "predicted": _share(inside[found.predicted]),
        "best": _share(np.take_along_axis(inside, first, axis=1)),
        "width": float((found.high - found.low).mean() / truth.mean()),
    }


def _share(flags: NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if flags.size else None


COVERAGE = ("recorded", "predicted", "best")
FIGURES = ("share", "ndcg", *COVERAGE, "width")
"""What is measured of every draw and method."""
NAMES = {"sample": "sample", "above_chance": "above chance", "population": "**population**"}
USUAL_SHARE = 0.2
"""Of hidden features, where sizes are compared."""


def summary(means: Sequence[Row]) -> Iterator[str]:
    """Lines to print: the share of the five best of every method, a line a table, n and p."""
    methods = list(dict.fromkeys(row["method"] for row in means))
    found: dict[Cell, dict[str, Row]] = {_cell(row): {} for row in means}
    for row in means:
        found[_cell(row)][row["method"]] = row
    names = "".join(f"{method:>14}" for method in methods)
    yield f"{'table':28}{'rows':>6}{'size':>5}{'hidden':>8}{names}{'held':>8}"
    for (table, n_rows, share, size), by_method in found.items():
        shares = "".join(f"{by_method[m]['share']:14.3f}" for m in methods)
        held = in_digits(mean_of(by_method[methods[-1]][name] for name in COVERAGE))
        yield f"{table:28}{n_rows:6}{size:5}{share:8}{shares}{held:>8}"


def _cell(row: Row) -> Cell:
    return row["table"], row["rows"], row["hidden"], row["size"]


def draw_plots(means: Sequence[Row], folder: Path) -> Iterator[str]:
    """Draw the share of the five best by rows, a panel a share of hidden features, as files.

    Of several sizes, by rows of the usual one, and by size at the most rows that all tables have.
    """
    sizes = _sizes(means)
    size = USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    try:
        with styled():
            of_size = [row for row in means if row["size"] == size]
            _plot(at_every_n(of_size), "rows", folder, "share")
            if len(sizes) > 1:
                most = max(row["rows"] for row in at_every_n(means))
                _plot(_of_all_sizes(means, most), "size", folder, "share_by_size")
    except ImportError:
        yield "No plot: pip install 'misfeat[plot]'."


def _plot(means: Sequence[Row], over: str, folder: Path, name: str) -> None:
    hidden = sorted({row["hidden"] for row in means})
    figure, axes = panels(len(hidden), 3.0)
    for axis, share in zip(axes, hidden, strict=True):
        shown = [row for row in means if row["hidden"] == share]
        rows = mean_rows(shown, (over, "method"), ("share",))
        lines(axis, rows, over, "share", "method")
        if over == "rows":
            over_rows(axis, rows)
        else:
            axis.set(xlabel="features per set", xticks=sorted({row[over] for row in rows}))
        axis.set_title(f"p = {share:g}")
        axis.set_ylim(0, 1)
    axes[0].set_ylabel("share of the five best")
    save(with_legend(figure, axes), folder, name)


def _sizes(means: Sequence[Row]) -> list[int]:
    return sorted({row["size"] for row in means})


def _of_all_sizes(means: Sequence[Row], n_rows: int) -> list[Row]:
    """The rows of tables whose sets of every size are held against the truth."""
    return at_every_n([row for row in means if row["rows"] == n_rows], "size")


def page(means: Sequence[Row], n_seeds: int) -> str:
    """The whole page in Markdown."""
    return "\n".join(_lines(means, n_seeds)) + "\n"


def _lines(means: Sequence[Row], n_seeds: int) -> Iterator[str]:
    sizes, shares = _sizes(means), sorted({row["hidden"] for row in means})
    size = USUAL_SIZE if USUAL_SIZE in sizes else sizes[0]
    share = USUAL_SHARE if USUAL_SHARE in shares else shares[-1]
    yield "# Do the sets that look best explain most?"
    yield ""
    yield (
        "Written by `python -m benchmarks population`. From every subgroup of a large table n rows "
        "are drawn, and features are hidden from subgroups with probability p. The truth is the "
        "population where it is known (generated tables), else scores above chance of the rows "
        f"that were not drawn. Means over {n_seeds} draws and over {tables_meant(means)}. "
        "[Every table](means.csv), with nDCG@5; [every draw](draws.csv)."
    )
    yield ""
    yield "## Share of the five best"
    yield ""
    yield (
        "The true information of the five sets that look best, over that of the five truly best; "
        f"rows are values of `estimate`. Sets of {size}:"
    )
    yield ""
    yield "![Share of the five best by rows](share.svg)"
    yield ""
    of_size = [row for row in means if row["size"] == size]
    yield from _share_table(at_every_n(of_size), "hidden", "p")
    if len(sizes) > 1:
        yield ""
        yield (
            f"By features per set, p = {share:g}; from rows, sets of up to {LARGEST_FROM_ROWS} "
            "can be judged, larger ones in known populations alone:"
        )
        yield ""
        yield "![Share of the five best by features per set](share_by_size.svg)"
        yield ""
        of_share = [
            row for row in means if row["hidden"] == share and row["method"] != "above_chance"
        ]
        of_sizes = [
            row for m in sizes for row in at_every_n([r for r in of_share if r["size"] == m])
        ]
        yield from _share_table(of_sizes, "size", "size")
    yield ""
    yield f"A line a table, sets of {size}, means over n and p:"
    yield ""
    yield from _by_table(of_size)
    yield ""
    yield "## Intervals"
    yield ""
    yield from _intervals(means)


def _share_table(means: Sequence[Row], key: str, label: str) -> Iterator[str]:
    """The share of the five best, a line a value of `key` and a method, a column an n."""
    numbers = sorted({row["rows"] for row in means})
    names = (key, "method", "rows")
    rows = {tuple(r[n] for n in names): r["share"] for r in mean_rows(means, names, ("share",))}
    lines_of = sorted(
        {found[:2] for found in rows}, key=lambda two: (two[0], [*NAMES].index(two[1]))
    )
    yield from markdown_table(
        [label, "", *(f"n = {n:,}" for n in numbers)],
        [
            [
                f"{value:g}",
                NAMES[method],
                *(in_digits(rows.get((value, method, n))) for n in numbers),
            ]
            for value, method in lines_of
        ],
    )


def _by_table(means: Sequence[Row]) -> Iterator[str]:
    methods = list(dict.fromkeys(row["method"] for row in means))
    rows = mean_rows(means, ("table", "method"), ("share",))
    found = {(row["table"], row["method"]): row["share"] for row in rows}
    yield from markdown_table(
        ["table", *(NAMES[m] for m in methods)],
        [
            [table, *(in_digits(found[table, m]) for m in methods)]
            for table in dict.fromkeys(row["table"] for row in means)
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
        "every subgroup that look best; and their mean width over the mean score. Lowest is the "
        "lowest figure of a table, n and p."
    )
    yield ""
    lines_of = []
    for size in _sizes(known):
        rows = [row for row in known if row["size"] == size]
        (mean,) = mean_rows(rows, (), (*COVERAGE, "width"))
        least = min(row[name] for row in rows for name in COVERAGE if row[name] is not None)
        cells = (*(mean[name] for name in COVERAGE), least, mean["width"])
        lines_of.append([str(size), *map(in_digits, cells)])
    head = ["size", "recorded", "predicted", "ten best-looking", "lowest", "width"]
    yield from markdown_table(head, lines_of)
