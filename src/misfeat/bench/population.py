"""`misfeat bench population`: do the sets that look best tell most in the population?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.bench.completion import write_csv
from misfeat.bench.draws import USUAL, check_asked, draw_of, made_draws, mask_of, source_of
from misfeat.bench.estimates import (
    CONFIDENCE,
    ESTIMATES,
    OF_THE_POPULATION,
    code_of_estimates,
    estimated,
)
from misfeat.bench.population_page import FIGURES, draw_plots, page, summary
from misfeat.bench.summaries import mean_rows
from misfeat.bench.units import Unit
from misfeat.cohorts.features import hide_features
from misfeat.exceptions import MisfeatError, check_count
from misfeat.metrics.rankings import captured_at, ndcg_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.bench.units import Tell
    from misfeat.completion.model import CompletedScores

    Floats = NDArray[np.float64]
    Row = dict[str, Any]

BEST = 5
"""So many of the sets that look best are held against as many of the truly best."""
LOOKED_AT = 10
"""The coverage of intervals is measured apart over so many of the sets that look best."""


@dataclass(frozen=True)
class PopulationBench:
    """Draws rows from large tables, hides features, and holds estimates against the truth.

    Tables are those of `misfeat.bench.draws.SOURCES`, rows are drawn from every subgroup, features
    hidden from one with the probabilities `shares`. The figures do not depend on `n_jobs`.
    """

    tables: Sequence[str] = USUAL
    rows: Sequence[int] = (100, 300, 1000, 3000)
    shares: Sequence[float] = (0.0, 0.2, 0.5)
    seeds: Sequence[int] = field(default_factory=lambda: tuple(range(1, 11)))
    size: int = 3
    n_jobs: int | None = 1

    def __post_init__(self) -> None:
        check_asked(self.tables, self.rows, self.seeds)
        if not self.shares:
            raise MisfeatError("hide: give one at least.")
        for share in self.shares:
            if not 0 <= share < 1:
                raise MisfeatError(
                    "hide: {share!r}; a share must be 0 or lie below 1.", share=share
                )
        check_count(self.size, "size")

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
                    for share in self.shares:
                        about = {"table": table, "rows": n_rows, "hidden": share, "seed": seed}
                        work = partial(one_draw, table, n_rows, share, seed, self.size)
                        yield Unit("population", {**about, "size": self.size}, settings, work)


def one_draw(table: str, n_rows: int, share: float, seed: int, size: int) -> list[Row]:
    """The figures of every method on one draw."""
    source = source_of(table, seed)
    if size > len(source.cohorts.features):
        raise MisfeatError(f"size={size} is more than the features of {table}.")
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
