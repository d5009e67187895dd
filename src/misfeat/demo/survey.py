"""Adults of NHANES 2017-2018: what tells about diabetes, and what was not measured at some age."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_nhanes
from misfeat.demo.sentences import worth_measuring
from misfeat.demo.writing import say_where, write_results
from misfeat.selector import SubgroupSelector
from misfeat.show import terminal

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from misfeat.selection.selection import Selection

SIZE = 2
"""Features in a set. Cohorts are small: with shuffled targets the best pair still scores 37 to 67 %
of what the real one does, and the best set of three 60 to 85 % (benchmarks/demo/above_chance.py).
"""
SHOWN = 2
"""Sets of each cohort in the terminal; the report has all `k`."""
INTRODUCTION = (
    "NHANES 2017-2018, the health survey of the United States (public domain): {rows:,} adults by "
    "age and sex. Which {size} of {features} features tell most about diabetes, and what would be "
    "worth measuring where the survey did not?"
)


def run_survey(place: Path) -> None:
    """Answer for every subgroup of the survey, and write the results to a folder."""
    console = terminal.new_console()
    selector = fitted_to_survey(verbose=int(sys.stderr.isatty()))
    write_results(selector, place, "Diabetes in NHANES 2017-2018")
    print_answers(selector.selection_, console)
    say_where(place, console)


def fitted_to_survey(verbose: int = 0) -> SubgroupSelector:
    """Score every pair of features in every cohort."""
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
    """Print the cohorts, their best sets, and what would be worth measuring."""
    cohorts = selection.cohorts
    introduction = INTRODUCTION.format(
        rows=cohorts.weights.sum(), size=SIZE, features=len(cohorts.features)
    )
    console.print(introduction, highlight=False)
    terminal.print_best(selection, SHOWN, console)
    for sentence in (*worth_measuring(selection), *selection.cautions()):
        console.print(f"• {sentence}", highlight=False, markup=False)
