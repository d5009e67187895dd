"""The demonstration: four clinics that do not take the same tests, and what the truth would be."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from misfeat import printing
from misfeat.datasets import GeneratedCohorts, make_cohorts
from misfeat.exceptions import MisfeatError
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from rich.table import Table

    from misfeat.ranking import ScoredSet

TESTS = ("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep")
CLINICS = ("North", "East", "South", "West")


def demo_data() -> GeneratedCohorts:
    """Draw the table of the demonstration."""
    return make_cohorts(
        n_cohorts=len(CLINICS),
        n_rows=3000,
        n_features=len(TESTS),
        feature_names=TESTS,
        cohort_names=CLINICS,
        group="clinic",
        target="ill",
        hide=0.3,
        random_state=2,
    )


def run_demo(folder: str) -> None:
    """Generate a table, find the best sets of every clinic, and write both to `folder`."""
    data = demo_data()
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise MisfeatError(f"{folder!r} is a file; give a folder with --out.")
    place.mkdir(parents=True, exist_ok=True)
    table = place / "clinics.csv"
    _write_csv(data, table)
    selector = SubgroupSelector(groups=data.groups, size=3, k=5).fit(data.columns, data.target)
    console = printing.new_console()
    printing.print_tables(selector, console)
    predicted = [s for s in selector.best_sets() if s.source == "predicted"]
    console.print(_against_truth(data, predicted))
    result = place / "top_k.jsonl"
    result.write_text("\n".join(printing.json_lines(selector)) + "\n", encoding="utf-8")
    console.print(f"Table:  {table}\nResult: {result}", soft_wrap=True, highlight=False)


def _write_csv(data: GeneratedCohorts, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(data.columns)
        for row in zip(*data.columns.values(), strict=True):
            writer.writerow(["" if value != value else _whole(value) for value in row])


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) else value


def _against_truth(data: GeneratedCohorts, predicted: list[ScoredSet]) -> Table:
    """Predicted scores beside those of the population, which a generated table knows."""
    table = printing.new_table("Predicted, and what the population holds")
    table.add_column("subgroup")
    table.add_column("features (* never recorded)", overflow="fold")
    table.add_column("predicted", justify="right")
    table.add_column("truth", justify="right")
    for best in predicted:
        table.add_row(
            best.subgroup,
            printing.marked(best),
            f"{best.score:.4f}",
            f"{data.true_score(best.subgroup, best.features):.4f}",
        )
    return table
