"""`misfeat bench paper`: run what is left of the paper's experiments, and write everything down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from misfeat.bench.completion import write_csv
from misfeat.bench.paper.experiments import Experiments
from misfeat.bench.paper.figures import draw_figures
from misfeat.bench.paper.page import page
from misfeat.bench.paper.plan import FULL, QUICK, REAL_TABLES
from misfeat.bench.paper.results import Results
from misfeat.bench.tables import PAPER_TABLES
from misfeat.bench.units import finished, run_units
from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from misfeat.bench.paper.plan import Plan
    from misfeat.bench.units import Unit

WORK = "work.jsonl"
"""What was done, a line a piece of work; a run goes on from it."""


class PaperBench:
    """Every experiment of the paper."""

    def __init__(self, plan: Plan = FULL, n_jobs: int | None = -1, device: str = "auto") -> None:
        self._plan, self._n_jobs, self._device = plan, n_jobs, device

    def run(self, folder: str | Path, tell: Callable[[str], None]) -> None:
        """Do what is not done yet; write CSV files, plots and a page to a folder.

        An interrupted run goes on there. `tell` is told what comes next and how long the rest will
        take.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        units = self._units_at_hand(finished(place / WORK), tell)
        results = Results(list(run_units(units, place / WORK, tell)))
        tables = {
            "table_4": results.effectiveness(),
            "figures_3_to_5": results.robustness(),
            "figures_3_to_5_drops": results.drops(),
            "figure_6": results.sampling(),
            "figure_7": results.closure(),
            "figure_8": results.timing(),
            "figure_9": results.precomputation(),
        }
        for name, rows in tables.items():
            write_csv(rows, place / f"{name}.csv")
        draw_figures(results, place)
        text = page(results, quick=self._plan == QUICK)
        (place / "page.md").write_text(text, encoding="utf-8")
        tell(f"Written: {place / 'page.md'}")

    def _units_at_hand(self, done: Collection[str], tell: Callable[[str], None]) -> list[Unit]:
        """All pieces of work but those of real tables that the user has not, and that are left."""
        plan = self._plan
        for table in [table for table in plan.tables if table in REAL_TABLES]:
            own = [unit for unit in self._units(plan) if unit.about.get("table") == table]
            if any(unit.key not in done for unit in own):
                try:
                    PAPER_TABLES[table](1)
                except MisfeatError as error:
                    tell(f"Without {table}: {error}")
                    plan = replace(plan, tables=tuple(t for t in plan.tables if t != table))
        return self._units(plan)

    def _units(self, plan: Plan) -> list[Unit]:
        return list(Experiments(plan, self._n_jobs, self._device).units())
