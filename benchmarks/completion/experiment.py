"""All completers on all tables: features hidden on purpose, figures in one table and one plot."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common.output import write_csv
from benchmarks.common.tables import TABLES
from benchmarks.completers import completer_names, completer_of
from benchmarks.completion.hiding import Truth, bootstrap_ceiling, outcome_of, population_ceiling
from misfeat.datasets.population import random_mask
from misfeat.exceptions import MisfeatError, check_count
from misfeat.messages import Setting
from misfeat.runtime.devices import check_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.common.tables import BenchTable
    from misfeat.runtime.progress import Progress

    Row = dict[str, Any]

CEILING = "noise ceiling"
"""The name under which the oracle's figures stand among those of completers."""


@dataclass(frozen=True)
class CompletionBench:
    """What is compared.

    Features are hidden from a subgroup with the probabilities `shares`.
    """

    completers: Sequence[str] = ("auto", "transfer", "interactions", "gain", "add", "knn")
    tables: Sequence[str] = tuple(TABLES)
    shares: Sequence[float] = (0.2, 0.5)
    seeds: Sequence[int] = field(default_factory=lambda: tuple(range(1, 11)))
    size: int = 3
    n_jobs: int | None = -1
    device: str = "auto"

    def __post_init__(self) -> None:
        for name, known in (("tables", TABLES), ("completers", completer_names())):
            for one in getattr(self, name):
                if one not in known:
                    raise MisfeatError(f"{name}: {one!r} is unknown; use some of {tuple(known)}.")
        for share in self.shares:
            if not 0 < share < 1:
                raise MisfeatError(f"hidden: {share!r}; a share must lie between 0 and 1.")
        for name in ("completers", "tables", "shares", "seeds"):
            if not getattr(self, name):
                raise MisfeatError(f"{name}: give one at least.")
        check_count(self.size, "size")
        check_device(self.device)

    def run(self, progress: Progress | None = None) -> Iterator[Row]:
        """Figures, a row a table, share, seed and completer; the noise ceiling among them."""
        total = len(self.tables) * len(self.shares) * len(self.seeds)
        done = 0
        for table in self.tables:
            for seed in self.seeds:
                found = TABLES[table](seed)
                truth = self._truth(found)
                for share in self.shares:
                    if progress is not None:
                        progress("Completing hidden scores", done, total)
                    for row in self._outcomes(found, truth, share, seed):
                        yield {"table": table, **row}
                    done += 1

    def _truth(self, table: BenchTable) -> Truth:
        n_features = len(table.cohorts.features)
        if self.size > n_features:
            raise MisfeatError(
                f"{Setting('size', self.size)} is more than a table's {n_features} features."
            )
        reach = max(completer_of(name).reach(self.size, n_features) for name in self.completers)
        return Truth.of(table.cohorts, reach, self.n_jobs)

    def _outcomes(self, table: BenchTable, truth: Truth, share: float, seed: int) -> Iterator[Row]:
        n_cohorts, n_features = truth.exact.missing.shape
        mask = random_mask(n_cohorts, n_features, share, np.random.default_rng(seed))
        about = {"hidden": share, "seed": seed, "size": self.size}
        yield {**about, "completer": CEILING, **ceiling_of(table, truth, mask, self.size, seed)}
        for name in self.completers:
            completer = completer_of(name, device=self.device, random_state=seed)
            figures = outcome_of(completer, truth, mask, self.size, self.n_jobs)
            yield {**about, "completer": name, **figures}


def ceiling_of(
    table: BenchTable, truth: Truth, mask: NDArray[np.bool_], size: int, seed: int
) -> dict[str, float]:
    """The figures of an oracle that knows the population, or takes the rows for it."""
    rng = np.random.default_rng(seed)
    if table.redraw is None:
        return bootstrap_ceiling(truth, mask, size, rng)
    return population_ceiling(truth, mask, size, rng, table.redraw)


def means(rows: Sequence[Row]) -> list[Row]:
    """Means over seeds, a row a table, share and completer."""
    keys = ("table", "hidden", "size", "completer")
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [
        {
            **dict(zip(keys, key, strict=True)),
            **{
                name: float(np.mean([row[name] for row in found]))
                for name in found[0]
                if name not in (*keys, "seed")
            },
        }
        for key, found in groups.items()
    ]


def plot(rows: Sequence[Row], path: Path) -> None:
    """Draw nDCG@5 of every completer on every table, a panel a share of hidden features."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shares = sorted({row["hidden"] for row in rows})
    tables = list(dict.fromkeys(row["table"] for row in rows))
    completers = list(dict.fromkeys(row["completer"] for row in rows))
    colours = plt.get_cmap("cividis")(np.linspace(0, 0.95, len(completers)))
    figure, axes = plt.subplots(
        len(shares), 1, figsize=(9, 2.7 * len(shares)), sharex=True, squeeze=False
    )
    width = 0.8 / len(completers)
    for axis, share in zip(axes[:, 0], shares, strict=True):
        for place, (name, colour) in enumerate(zip(completers, colours, strict=True)):
            found = {r["table"]: r for r in rows if r["hidden"] == share and r["completer"] == name}
            heights = [found[t]["ndcg_5"] if t in found else np.nan for t in tables]
            axis.bar(
                np.arange(len(tables)) + place * width, heights, width, label=name, color=colour
            )
        axis.set(ylabel=f"nDCG@5, p = {share}", ylim=(0, 1))
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1, 0].set_xticks(np.arange(len(tables)) + 0.4 - width / 2, tables)
    axes[0, 0].legend(frameon=False, ncols=len(completers), fontsize=8, loc="lower left",
                      bbox_to_anchor=(0, 1))  # fmt: skip
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def report(rows: Sequence[Row], folder: str) -> Iterator[str]:
    """Write all figures, their means and a plot to a folder; returns lines to print."""
    place = Path(folder)
    averages = means(rows)
    write_csv(rows, place / "by_seed.csv")
    write_csv(averages, place / "means.csv")
    names = "".join(f"{name:>8}" for name in ("nDCG@5", "nDCG@10", "error", "cover"))
    yield f"{'table':22}{'p':>5} {'completer':14}{names}"
    for row in averages:
        figures = (row["ndcg_5"], row["ndcg_10"], row.get("relative_error"), row.get("coverage"))
        shown = "".join(f"{f:8.3f}" if f is not None else " " * 8 for f in figures)
        yield f"{row['table']:22}{row['hidden']:>5} {row['completer']:14}{shown}"
    try:
        plot(averages, place / "ndcg.svg")
    except ImportError:
        yield "No plot: pip install 'misfeat[plot]'."
    yield f"Figures: {place}"
