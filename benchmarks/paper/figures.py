"""The paper's figures, drawn from a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.common.output import COLOURS, lines, panels, save, styled, with_legend
from benchmarks.paper.plan import CLOSURE, DATASETS, METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchmarks.paper.results import Results

    Row = dict[str, Any]


def draw_figures(results: Results, folder: Path) -> None:
    """Draw every figure as PNG and SVG."""
    drawings = {
        "table_4": _effectiveness,
        "figures_3_to_5": _robustness,
        "figure_6": _sampling,
        "figure_7": _closure,
        "figure_8": _timing,
        "figure_9": _precomputation,
    }
    with styled():
        for name, draw in drawings.items():
            save(draw(results), folder, name)


def _effectiveness(results: Results) -> Any:
    rows = results.effectiveness()
    datasets = [d for d in DATASETS if any(row["dataset"] == d for row in rows)]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    figure, axes = panels(len(datasets), 3.2)
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
    figure, axes = panels(len(tables), 3.0)
    for axis, table in zip(axes, tables, strict=True):
        shown = [row for row in rows if row["dataset"] == table]
        lines(axis, _only(shown, ("paper", "knn", "transfer")), "hidden", "ndcg_5", "method")
        axis.set(title=table, xlabel="p", ylabel=METRICS["ndcg_5"], ylim=(0, 1))
    return with_legend(figure, axes)


def _only(rows: Iterable[Row], methods: Iterable[str]) -> list[Row]:
    wanted = tuple(methods)
    return [row for row in rows if row["method"] in wanted]


def _sampling(results: Results) -> Any:
    rows = results.sampling()
    tables = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = panels(len(tables))
    for axis, table in zip(axes, tables, strict=True):
        shown = [row for row in rows if row["dataset"] == table]
        lines(axis, shown, "budget", "distance", "sampler")
        axis.set(title=table, xlabel="budget", ylabel="distance")
        axis.set_ylim(bottom=0)
    return with_legend(figure, axes)


def _closure(results: Results) -> Any:
    rows = results.closure()
    tables = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = panels(len(tables))
    for axis, table in zip(axes, tables, strict=True):
        printed = [
            {"method": "paper, as printed", "level": size, "accuracy": value, "dataset": table}
            for size, value in enumerate(CLOSURE.get(table, ()), start=2)
        ]
        shown = [row for row in rows if row["dataset"] == table]
        lines(axis, shown + printed, "level", "accuracy", "method")
        axis.set(title=table, xlabel="size of set", ylabel="upward closure", ylim=(0, 1.02))
    return with_legend(figure, axes)


def _timing(results: Results) -> Any:
    return _seconds(results.timing())


def _precomputation(results: Results) -> Any:
    return _seconds(results.precomputation())


def _seconds(rows: list[Row]) -> Any:
    varied = list(dict.fromkeys(row["varied"] for row in rows))
    figure, axes = panels(len(varied))
    for axis, name in zip(axes, varied, strict=True):
        lines(axis, [row for row in rows if row["varied"] == name], name, "seconds", "method")
        axis.set(xlabel="p" if name == "hidden" else name, ylabel="seconds", yscale="log")
    return with_legend(figure, axes)
