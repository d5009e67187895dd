"""The paper's figures, drawn from a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from misfeat.bench.paper.printed import CLOSURE, DATASETS, METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.axes import Axes

    from misfeat.bench.paper.results import Results

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


def draw_figures(results: Results, folder: Path) -> None:
    """Draw every figure as PNG and SVG."""
    import matplotlib as mpl

    mpl.use("Agg")
    drawings = {
        "table_4": _effectiveness,
        "figures_3_to_5": _robustness,
        "figure_6": _sampling,
        "figure_7": _closure,
        "figure_8": _timing,
        "figure_9": _precomputation,
    }
    with mpl.rc_context(STYLE):
        for name, draw in drawings.items():
            _save(draw(results), folder, name)


def _save(figure: Any, folder: Path, name: str) -> None:
    from matplotlib import pyplot as plt

    figure.tight_layout()
    for kind in ("png", "svg"):
        # Without the date, so that the same results give the same file.
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(folder / f"{name}.{kind}", dpi=200, metadata=metadata, bbox_inches="tight")
    plt.close(figure)


def _panels(count: int, height: float = 2.4) -> tuple[Any, list[Axes]]:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, count, figsize=(2.7 * count + 0.6, height), squeeze=False)
    return figure, list(axes[0])


def _lines(axis: Axes, rows: list[Row], x: str, y: str, by: str) -> None:
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
            label=name,
        )


def _with_legend(figure: Any, axes: list[Axes]) -> Any:
    """One legend for all panels, above them."""
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", bbox_to_anchor=(0.5, 0.98), ncols=len(labels)
    )
    return figure


def _effectiveness(results: Results) -> Any:
    rows = results.effectiveness()
    datasets = [d for d in DATASETS if any(row["dataset"] == d for row in rows)]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = _panels(len(datasets), 3.2)
    for axis, dataset in zip(axes, datasets, strict=True):
        found = {row["method"]: row["ndcg_5"] for row in rows if row["dataset"] == dataset}
        axis.barh(
            methods[::-1],
            [found.get(method, 0.0) for method in methods[::-1]],
            color=[COLOURS[0] if m == "transfer" else "#BBBBBB" for m in methods[::-1]],
        )
        axis.set(title=dataset, xlabel="nDCG@5", xlim=(0, 1))
        if axis is not axes[0]:
            axis.set_yticklabels([])
    return figure


def _robustness(results: Results) -> Any:
    rows = results.robustness()
    tables = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = _panels(len(tables), 3.0)
    for axis, table in zip(axes, tables, strict=True):
        shown = [row for row in rows if row["dataset"] == table]
        _lines(axis, _only(shown, ("paper", "knn", "transfer")), "hidden", "ndcg_5", "method")
        axis.set(title=table, xlabel="p", ylabel=METRICS["ndcg_5"], ylim=(0, 1))
    return _with_legend(figure, axes)


def _only(rows: Iterable[Row], methods: Iterable[str]) -> list[Row]:
    wanted = tuple(methods)
    return [row for row in rows if row["method"] in wanted]


def _sampling(results: Results) -> Any:
    rows = results.sampling()
    tables = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = _panels(len(tables))
    for axis, table in zip(axes, tables, strict=True):
        shown = [row for row in rows if row["dataset"] == table]
        _lines(axis, shown, "budget", "distance", "sampler")
        axis.set(title=table, xlabel="budget", ylabel="distance")
        axis.set_ylim(bottom=0)
    return _with_legend(figure, axes)


def _closure(results: Results) -> Any:
    rows = results.closure()
    tables = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = _panels(len(tables))
    for axis, table in zip(axes, tables, strict=True):
        printed = [
            {"method": "paper, as printed", "level": size, "accuracy": value, "dataset": table}
            for size, value in enumerate(CLOSURE.get(table, ()), start=2)
        ]
        shown = [row for row in rows if row["dataset"] == table]
        _lines(axis, shown + printed, "level", "accuracy", "method")
        axis.set(title=table, xlabel="size of set", ylabel="upward closure", ylim=(0, 1.02))
    return _with_legend(figure, axes)


def _timing(results: Results) -> Any:
    rows = results.timing()
    varied = list(dict.fromkeys(row["varied"] for row in rows))
    figure, axes = _panels(len(varied))
    for axis, name in zip(axes, varied, strict=True):
        _lines(axis, [row for row in rows if row["varied"] == name], name, "seconds", "method")
        axis.set(xlabel="p" if name == "hidden" else name, ylabel="seconds", yscale="log")
    return _with_legend(figure, axes)


def _precomputation(results: Results) -> Any:
    rows = results.precomputation()
    varied = list(dict.fromkeys(row["varied"] for row in rows))
    figure, axes = _panels(len(varied))
    for axis, name in zip(axes, varied, strict=True):
        _lines(axis, [row for row in rows if row["varied"] == name], name, "seconds", "method")
        axis.set(xlabel=name, ylabel="seconds", yscale="log")
    return _with_legend(figure, axes)
