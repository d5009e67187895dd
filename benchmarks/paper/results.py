"""From rows of results to the paper's tables, and whether its claims come out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.output import mean_rows
from benchmarks.paper.plan import METRICS, PAPERS_METHODS, REAL_TABLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]
    from collections.abc import Callable, Iterable, Iterator


def dataset_of(table: str) -> str:
    """The paper's data set that a table belongs to.

    Examples
    --------
    >>> dataset_of("SD1, formula 2, with noise"), dataset_of("mobile")
    ('SD1', 'mobile')
    """
    return table.split(",")[0]


class Results:
    """All rows of a run, summed up as the paper sums them up."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = [
            {**row, "dataset": dataset_of(row["table"])} if "table" in row else row for row in rows
        ]

    def of(self, experiment: str) -> list[Row]:
        """The rows of one experiment."""
        return [row for row in self.rows if row["experiment"] == experiment]

    def effectiveness(self) -> list[Row]:
        """Table IV: means over tables and seeds at the smallest share, by data set and method."""
        found = self.of("completion")
        least = min(row["hidden"] for row in found)
        names = [name for name in found[0] if name.startswith(("ndcg", "precision"))]
        names += ["captured_5", "relative_error", "seconds"]
        return mean_rows(
            (row for row in found if row["hidden"] == least), ("dataset", "method"), names
        )

    def robustness(self) -> list[Row]:
        """Figures 3 to 5: means over seeds by table, method and share, where shares were varied."""
        found = self.of("completion")
        varied = {row["table"] for row in found if row["hidden"] != found[0]["hidden"]}
        rows = (row for row in found if row["table"] in varied)
        return mean_rows(rows, ("dataset", "method", "hidden"), list(METRICS))

    def drops(self) -> list[Row]:
        """The mean relative drop of every metric when the share grows by a step."""
        robustness = self.robustness()
        drops = []
        for key in dict.fromkeys((row["dataset"], row["method"]) for row in robustness):
            line = sorted(
                (row for row in robustness if (row["dataset"], row["method"]) == key),
                key=lambda row: float(row["hidden"]),
            )
            drops.append(
                {
                    "dataset": key[0],
                    "method": key[1],
                    **{name: mean_drop([row[name] for row in line]) for name in METRICS},
                }
            )
        return drops

    def sampling(self) -> list[Row]:
        """Figure 6: means over seeds by table, sampler and budget."""
        return mean_rows(self.of("sampling"), ("dataset", "sampler", "budget"), ["distance"])

    def closure(self) -> list[Row]:
        """Figure 7: means over seeds by table, method and level."""
        return mean_rows(self.of("closure"), ("dataset", "method", "level"), ["accuracy"])

    def timing(self) -> list[Row]:
        """Figure 8."""
        settings = ("varied", "features", "subgroups", "hidden", "budget")
        names = (*settings, "method", "seconds", "machine")
        return [{name: row[name] for name in names} for row in self.of("timing")]

    def precomputation(self) -> list[Row]:
        """Figure 9."""
        names = ("varied", "features", "subgroups", "method", "seconds", "machine")
        return [{name: row[name] for name in names} for row in self.of("precomputation")]


def mean_drop(values: Sequence[float]) -> float:
    """The paper's mean relative drop from each value to the next; NaN where one is 0.

    Examples
    --------
    >>> mean_drop([0.8, 0.4, 0.3])
    0.375
    """
    before, after = np.array(values[:-1]), np.array(values[1:])
    if len(before) == 0 or (before == 0).any():
        return float("nan")
    return float(np.mean((before - after) / before))


MUCH, THREE_TIMES = 1.5, 3.0
"""From which ratio on a time counts as grown, and the paper's ratio of times."""


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, in how many cases of a run it held, and what was measured."""

    claim: str
    held: int
    cases: int
    figures: str

    @property
    def verdict(self) -> str:
        """Reproduced where it holds in every case, in part where it holds in most."""
        if self.held == self.cases:
            return "reproduced"
        return "reproduced in part" if 2 * self.held > self.cases else "not reproduced"


def findings(results: Results) -> Iterator[Finding]:
    """Every claim that the run has rows for."""
    yield from _effectiveness(results)
    yield from _robustness(results)
    yield from _sampling(results)
    yield from _closure(results)
    yield from _timing(results)
    yield _sharing(results)


def _effectiveness(results: Results) -> Iterator[Finding]:
    found = {(row["dataset"], row["method"]): row for row in results.effectiveness()}
    datasets = list(dict.fromkeys(dataset for dataset, _ in found))

    def better(first: str, second: str, among: Iterable[str]) -> tuple[int, int, str]:
        cases = [(d, m) for d in among for m in METRICS]
        held = sum(found[d, first][m] > found[d, second][m] for d, m in cases)
        shown = "; ".join(
            f"{d} {found[d, first]['ndcg_5']:.2f} / {found[d, second]['ndcg_5']:.2f}" for d in among
        )
        return held, len(cases), f"nDCG@5: {shown}"

    real = [d for d in datasets if d in REAL_TABLES]
    synthetic = [d for d in datasets if d not in REAL_TABLES]
    for baseline in PAPERS_METHODS[1:]:
        for name, among in (("real", real), ("synthetic", synthetic)):
            if among:
                exceptions = ", with few exceptions" if name == "synthetic" else ""
                yield Finding(
                    f"MISFEAT is more effective than {baseline} on {name} tables{exceptions}.",
                    *better("paper", baseline, among),
                )
    for first, second in (("knn", "markov_blanket"), ("markov_blanket", "mlp"), ("knn", "mlp")):
        yield Finding(
            f"Among the baselines, {first} is better than {second}.",
            *better(first, second, datasets),
        )


def _robustness(results: Results) -> Iterator[Finding]:
    drops = {(row["dataset"], row["method"]): row for row in results.drops()}
    tables = [table for table, method in drops if method == "knn"]
    cases = [(table, metric) for table in tables for metric in METRICS]
    held = sum(drops[t, "paper"][m] < drops[t, "knn"][m] for t, m in cases)
    shown = "; ".join(
        f"{t} {drops[t, 'paper']['ndcg_5']:.1%} / {drops[t, 'knn']['ndcg_5']:.1%}" for t in tables
    )
    yield Finding(
        "MISFEAT loses less than knn as more features are missing.",
        held,
        len(cases),
        f"mean relative drop of nDCG@5 a step: {shown}",
    )
    found = {(r["dataset"], r["method"], r["hidden"]): r for r in results.robustness()}
    steps = [(d, p, m) for d, method, p in found if method == "knn" for m in METRICS]
    yield Finding(
        "MISFEAT is more effective than knn at every p.",
        sum(found[d, "paper", p][m] > found[d, "knn", p][m] for d, p, m in steps),
        len(steps),
        "nDCG and precision at 5 and 10; the figures are drawn below",
    )


def _sampling(results: Results) -> Iterator[Finding]:
    found = {(r["dataset"], r["sampler"], r["budget"]): r["distance"] for r in results.sampling()}
    cases = [(d, b) for d, sampler, b in found if sampler == "randwalk"]
    held = sum(found[d, "randwalk", b] < found[d, "arbitrary", b] for d, b in cases)
    largest = max(b for _, b in cases)
    shown = "; ".join(
        f"{d} {found[d, 'randwalk', b]:.3f} / {found[d, 'arbitrary', b]:.3f}"
        for d, b in cases
        if b == largest
    )
    yield Finding(
        "Samples of RANDWALK are nearer to the population than arbitrary ones, at every budget.",
        held,
        len(cases),
        f"distance at budget {largest}: {shown}",
    )


def _closure(results: Results) -> Iterator[Finding]:
    found = [row for row in results.closure() if row["method"] == "paper"]
    by_table: dict[str, list[float]] = {}
    for row in sorted(found, key=lambda row: int(row["level"])):
        by_table.setdefault(row["dataset"], []).append(row["accuracy"])
    steps = [b >= a for line in by_table.values() for a, b in pairwise(line)]
    shown = "; ".join(
        f"{table} " + " ".join(f"{value:.2f}" for value in line) for table, line in by_table.items()
    )
    yield Finding(
        "Upward closure is learned, the better the larger the sets.",
        sum(steps),
        len(steps),
        f"accuracy at sizes 2 to 5: {shown}",
    )


def _timing(results: Results) -> Iterator[Finding]:
    rows = results.timing()

    def line(varied: str, method: str) -> list[tuple[float, float]]:
        return sorted(
            (row[varied], row["seconds"])
            for row in rows
            if row["varied"] == varied and row["method"] == method
        )

    def shown(varied: str, methods: Iterable[str] = ("paper", "knn")) -> str:
        ends = {m: (line(varied, m)[0], line(varied, m)[-1]) for m in methods}
        return "; ".join(
            f"{m} {first[1]:.2f} s at {first[0]} to {last[1]:.2f} s at {last[0]}"
            for m, (first, last) in ends.items()
        )

    def growth(varied: str, method: str) -> float:
        found = line(varied, method)
        return found[-1][1] / found[0][1]

    checks: list[tuple[str, str, Callable[[], bool]]] = [
        (
            "With many features MISFEAT is faster than knn.",
            "features",
            lambda: line("features", "paper")[-1][1] < line("features", "knn")[-1][1],
        ),
        (
            "The time of knn does not grow with the number of subgroups.",
            "subgroups",
            lambda: growth("subgroups", "knn") < MUCH,
        ),
        (
            "The time of MISFEAT does not grow with p, that of knn does.",
            "hidden",
            lambda: growth("hidden", "paper") < MUCH < growth("hidden", "knn"),
        ),
        (
            "The time of knn does not depend on the budget.",
            "budget",
            lambda: 1 / MUCH < growth("budget", "knn") < MUCH,
        ),
        (
            "A fifth of the budget makes MISFEAT three times as fast as all of it.",
            "budget",
            lambda: growth("budget", "paper") >= THREE_TIMES,
        ),
    ]
    for claim, varied, holds in checks:
        yield Finding(claim, int(holds()), 1, shown(varied))


def _sharing(results: Results) -> Finding:
    rows = results.precomputation()
    pairs: dict[tuple[str, int, int], dict[str, float]] = {}
    for row in rows:
        key = (row["varied"], row["features"], row["subgroups"])
        pairs.setdefault(key, {})[row["method"]] = row["seconds"]
    ratios = [pair["from scratch"] / pair["shared"] for pair in pairs.values()]
    return Finding(
        "Sharing entropies makes the computation of scores much faster.",
        sum(ratio > MUCH for ratio in ratios),
        len(ratios),
        f"{min(ratios):.0f} to {max(ratios):.0f} times: shared and compiled, against numpy alone",
    )
