"""Adults of NHANES 2017-2018: what tells about diabetes, and what was not measured at some age."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_nhanes
from misfeat.demo.telling import answered, say_where
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 3
"""Features in a set. Scores no longer grow by chance as sets do: with shuffled targets the best
three tell next to nothing, and on rows that took no part in choosing them the best three tell more
than the best two (benchmarks/demo/above_chance.py).
"""
TITLE = "Diabetes in NHANES 2017-2018"
INTRODUCTION = (
    "NHANES 2017-2018, the health survey of the United States (public domain): {rows:,} adults by "
    "age and sex. Which of {features} features tell most about diabetes, and what would be worth "
    "measuring where the survey did not?"
)


def run_survey(place: Path) -> None:
    """Answer for every subgroup of the survey, and write the results to a folder."""
    answered(fitted_to_survey, place, TITLE, INTRODUCTION)
    say_where(place)


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
