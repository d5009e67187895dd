"""Four generated clinics that do not take the same tests, beside what is true of them."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from misfeat.answers.top import best_sets
from misfeat.datasets import GeneratedCohorts, make_cohorts
from misfeat.demo.examples import fit_and_print, print_paths
from misfeat.selector import SubgroupSelector
from misfeat.show.console import in_a_row, new_console, new_table, plain_text, print_lines
from misfeat.words import percent, percent_between

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from rich.table import Table

    from misfeat.answers.top import ScoredSet

TESTS = ("glucose", "ecg", "weight", "smoking", "pressure", "lipids", "kidney", "sleep")
CLINICS = ("North", "East", "South", "West")
TITLE = "Four generated clinics"
INTRODUCTION = (
    "Four generated clinics with {rows:,} patients, which did not take the same of {features} "
    "tests. What is true of them is known, and stands beside what was predicted."
)
HEADS = ("predicted", "between", "had it been recorded", "truth")

_drawn = partial(
    make_cohorts,
    n_cohorts=len(CLINICS),
    n_rows=3000,
    n_features=len(TESTS),
    feature_names=TESTS,
    cohort_names=CLINICS,
    group="clinic",
    hide=0.3,
)


def demo_data() -> GeneratedCohorts:
    """Draw the table of the pictures in the documentation."""
    return _drawn(target="ill", random_state=2)


def clinics() -> GeneratedCohorts:
    """Draw the table of the demonstration: clinics whose patients resemble each other."""
    return _drawn(similarity=300, target="illness", random_state=0)


def run_clinics(folder: Path) -> None:
    """Answer for every clinic, show the truth beside predictions, and write to a folder."""
    console, data = new_console(), clinics()
    selector = fit_and_print(
        lambda verbose: _fitted(data, data.columns, verbose), folder, TITLE, INTRODUCTION, console
    )
    recorded = _fitted(data, data.complete)
    names, measure = selector.cohorts_.names, selector.selection_.set_scores.measure
    wholes = dict(zip(names, measure.whole.tolist(), strict=True))
    predictions = [
        Prediction(
            best,
            recorded.score_of(best.subgroup, best.features),
            data.true_score(best.subgroup, best.features),
            wholes[best.subgroup],
        )
        for best in best_sets(selector.selection_)
        if best.source == "predicted"
    ]
    console.print()
    console.print(_table_of(predictions))
    for sentence in _errors_in_words(predictions, selector.confidence):
        print_lines(console, plain_text(sentence), "• ", "  ")
    print_paths(folder, console)


def _fitted(
    data: GeneratedCohorts, columns: dict[str, NDArray[Any]], verbose: int = 0
) -> SubgroupSelector:
    selector = SubgroupSelector(
        groups=data.groups, size=3, k=5, n_jobs=-1, random_state=0, verbose=verbose
    )
    return selector.fit(columns, data.target)


class Prediction(NamedTuple):
    """A predicted set, beside what is true and what could be known at best."""

    best: ScoredSet
    recorded: float  # the score, had the clinic taken all tests
    truth: float  # the score in the population that the clinic's rows were drawn from
    whole: float  # the entropy of the target in the clinic


def _table_of(predictions: list[Prediction]) -> Table:
    table = new_table("Predicted, and what is true of the clinic's population")
    table.add_column("subgroup")
    table.add_column("features (* never recorded)", overflow="fold")
    for head in HEADS:
        table.add_column(head, justify="right")
    for best, recorded, truth, whole in predictions:
        low, high = best.low / whole, best.high / whole
        table.add_row(
            best.subgroup,
            plain_text(in_a_row(best.features, best.missing)),
            percent(best.share, low, high),
            percent_between(low, high),
            percent(recorded / whole),
            percent(truth / whole),
        )
    return table


def _errors_in_words(predictions: list[Prediction], confidence: float | None) -> tuple[str, str]:
    """How many truths lie in their intervals, and the mean error in shares of the truth."""
    share = "" if confidence is None else f" {confidence * 100:.0f} %"
    inside = sum(one.best.low <= one.truth <= one.best.high for one in predictions)
    predicted = fmean(abs(one.best.score - one.truth) / one.truth for one in predictions)
    recorded = fmean(abs(one.recorded - one.truth) / one.truth for one in predictions)
    return (
        f"{inside} of {len(predictions)} truths lie in the{share} interval of their prediction.",
        f"Predictions are off by {predicted * 100:.0f} % of the truth on the mean. Had the clinics "
        f"recorded all tests, their estimates would be off by {recorded * 100:.0f} %.",
    )
