"""Four generated clinics that do not take the same tests, beside what is true of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from misfeat.answers.top import best_sets
from misfeat.datasets import GeneratedCohorts, make_cohorts
from misfeat.demo.telling import answered, say_where
from misfeat.selector import SubgroupSelector
from misfeat.show.console import new_console, new_table, plain_text, print_lines
from misfeat.show.terminal import marked
from misfeat.words.numbers import percent, percent_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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


def run_clinics(place: Path) -> None:
    """Answer for every clinic, show the truth beside predictions, and write to a folder."""
    console, data = new_console(), clinics()
    selector = answered(
        lambda verbose: _fitted(data, data.columns, verbose), place, TITLE, INTRODUCTION, console
    )
    compared = _compared(selector, _fitted(data, data.complete), data)
    console.print()
    console.print(_table_of(compared))
    for sentence in _how_far_off(compared, selector.confidence):
        print_lines(console, plain_text(sentence), "• ", "  ")
    say_where(place, console)


def _fitted(
    data: GeneratedCohorts, columns: dict[str, NDArray[Any]], verbose: int = 0
) -> SubgroupSelector:
    selector = SubgroupSelector(
        groups=data.groups, size=3, k=5, n_jobs=-1, random_state=0, verbose=verbose
    )
    return selector.fit(columns, data.target)


@dataclass(frozen=True)
class _Compared:
    """A prediction, beside what is true and what could be known at best."""

    predicted: ScoredSet
    recorded: float
    """What the score would be, had the clinic taken all tests."""
    truth: float
    """What the set tells in the population that the clinic's rows were drawn from."""
    whole: float
    """What there is to tell in the clinic."""

    @property
    def holds(self) -> bool:
        return self.predicted.low <= self.truth <= self.predicted.high


def _compared(
    selector: SubgroupSelector, whole: SubgroupSelector, data: GeneratedCohorts
) -> list[_Compared]:
    names, measure = selector.cohorts_.names, selector.selection_.set_scores.measure
    wholes = dict(zip(names, measure.whole.tolist(), strict=True))
    return [
        _Compared(
            best,
            whole.score_of(best.subgroup, best.features),
            data.true_score(best.subgroup, best.features),
            wholes[best.subgroup],
        )
        for best in best_sets(selector.selection_)
        if best.source == "predicted"
    ]


def _table_of(compared: list[_Compared]) -> Table:
    table = new_table("Predicted, and what is true of the clinic's population")
    table.add_column("subgroup")
    table.add_column("features (* never recorded)", overflow="fold")
    table.add_column("predicted", justify="right")
    table.add_column("between", justify="right")
    table.add_column("had it been recorded", justify="right")
    table.add_column("truth", justify="right")
    for one in compared:
        best = one.predicted
        low, high = best.low / one.whole, best.high / one.whole
        table.add_row(
            best.subgroup,
            marked(best),
            percent(best.share, low, high),
            percent_between(low, high),
            percent(one.recorded / one.whole),
            percent(one.truth / one.whole),
        )
    return table


def _how_far_off(compared: list[_Compared], confidence: float | None) -> Iterator[str]:
    share = "" if confidence is None else f" {confidence * 100:.0f} %"
    inside = sum(one.holds for one in compared)
    yield f"{inside} of {len(compared)} truths lie in the{share} interval of their prediction."
    predicted = _mean_error((one.predicted.score, one.truth) for one in compared)
    recorded = _mean_error((one.recorded, one.truth) for one in compared)
    yield (
        f"Predictions are off by {predicted * 100:.0f} % of the truth on the mean. Had the clinics "
        f"recorded all tests, their estimates would be off by {recorded * 100:.0f} %."
    )


def _mean_error(pairs: Iterable[tuple[float, float]]) -> float:
    """The mean distance of estimates from truths, in shares of these."""
    return fmean(abs(estimate - truth) / truth for estimate, truth in pairs)
