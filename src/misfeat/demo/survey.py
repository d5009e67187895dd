"""Adults of NHANES 2017-2018: what tells about diabetes, and what was not measured at some age."""

from __future__ import annotations

import sys
from math import comb
from typing import TYPE_CHECKING

from rich.text import Text

from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_nhanes
from misfeat.demo.sentences import mostly_chance, worth_measuring
from misfeat.demo.writing import say_where, write_results
from misfeat.selector import SubgroupSelector
from misfeat.show import terminal

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from misfeat.selection.ranking import ScoredSet
    from misfeat.selection.selection import Selection

SIZE = 3
"""Features in a set. Scores no longer grow by chance as sets do: with shuffled targets the best
three tell next to nothing, and on rows that took no part in choosing them the best three tell more
than the best two (benchmarks/demo/above_chance.py).
"""
INTRODUCTION = (
    "NHANES 2017-2018, the health survey of the United States (public domain): {rows:,} adults by "
    "age and sex. Which {size} of {features} features tell most about diabetes, and what would be "
    "worth measuring where the survey did not?\n"
)
LEGEND = (
    "In percent of all there is to tell about {target} (its entropy), with {confidence:.0f} % "
    "intervals. Estimated for the population: what chance alone would score is taken off, and "
    "subgroups with few rows lean on the others. A star marks a feature that the subgroup never "
    "recorded; such scores are predicted.\n"
)


def run_survey(place: Path) -> None:
    """Answer for every subgroup of the survey, and write the results to a folder."""
    console = terminal.new_console()
    selector = fitted_to_survey(verbose=int(sys.stderr.isatty()))
    write_results(selector, place, "Diabetes in NHANES 2017-2018")
    print_answers(selector.selection_, console)
    say_where(place, console)


def fitted_to_survey(verbose: int = 0) -> SubgroupSelector:
    """Score every set of three features in every subgroup."""
    data = load_nhanes()
    selector = SubgroupSelector(
        groups=data.groups,
        size=SIZE,
        k=5,
        coding=Coding(bins=data.bins),
        n_jobs=-1,
        random_state=0,
        verbose=verbose,
    )
    return selector.fit(data.columns, data.target)


def print_answers(selection: Selection, console: Console) -> None:
    """Print the best sets of all subgroups, what only looked telling, and what to measure."""
    cohorts = selection.cohorts
    introduction = INTRODUCTION.format(
        rows=cohorts.weights.sum(), size=SIZE, features=len(cohorts.features)
    )
    console.print(introduction, highlight=False)
    console.print(_best_table(selection))
    legend = LEGEND.format(target=cohorts.target, confidence=100 * (selection.confidence or 1))
    console.print(legend, style="dim", highlight=False, markup=False)
    said = [*mostly_chance(selection), *worth_measuring(selection)]
    said += [caution.words for caution in selection.caution_list()]
    if selection.validation is not None:
        said.append(selection.validation)
    for sentence in said:
        console.print(f"• {sentence}", highlight=False, markup=False)


def _best_table(selection: Selection) -> Table:
    """The best set that each subgroup recorded, and the best with a feature that it did not."""
    every = comb(len(selection.feature_names), selection.size)
    sets = {(one.subgroup, one.features): one for one in selection.best_sets(k=every)}
    with_more = {worth.subgroup: worth for worth in selection.worths() if worth.rank == 1}
    table = terminal.new_table()
    table.leading = 1
    table.add_column("subgroup", overflow="fold")
    table.add_column("never recorded", overflow="fold", max_width=len("never recorded"))
    table.add_column("best of what was recorded", overflow="fold")
    table.add_column("best with one that was not", overflow="fold")
    for cohort in selection.cohorts:
        own = [one for one in sets.values() if one.subgroup == cohort.name and not one.missing]
        worth = with_more.get(cohort.name)
        table.add_row(
            Text(f"{cohort.name}\n{cohort.size:,} rows"),
            Text(", ".join(selection.cohorts.missing_features(cohort.name)) or "–"),
            _told(max(own, key=lambda one: one.score)) if own else "–",
            _told(sets[cohort.name, worth.best_set]) if worth else "–",
        )
    return table


def _told(one: ScoredSet) -> Text:
    """A set, and below it what it tells, in percent.

    Examples
    --------
    >>> from misfeat.selection.ranking import ScoredSet
    >>> score, seen = (0.1, 0.05, 0.2, 0.2), (None, None)
    >>> mri = ScoredSet("b", 1, ("age", "mri"), *score, *seen, "predicted", ("mri",), "joint")
    >>> print(_told(mri))
    age, mri*
    20.0 % (10.0 – 40.0)
    """
    whole = one.score / one.share if one.share > 0 else 1.0
    interval = f"{100 * one.low / whole:.1f} – {100 * one.high / whole:.1f}"
    told = Text.assemble(terminal.marked(one), f"\n{100 * one.share:.1f} % ({interval})")
    told.stylize("yellow" if one.missing else "none")
    return told
