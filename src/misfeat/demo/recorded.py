"""The demonstrations on real tables: heart disease in four hospitals, and diabetes in NHANES."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from misfeat.cohorts.coding import Coding
from misfeat.datasets import Dataset, load_heart, load_nhanes
from misfeat.demo.telling import answered, say_where
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


SIZE = 3
"""Features in a set. Scores no longer grow by chance as sets do: with shuffled targets the best
three tell next to nothing, and on rows that took no part in choosing them the best three tell more
than the best two (benchmarks/demo/above_chance.py).
"""


@dataclass(frozen=True)
class Recorded:
    """A demonstration on a real table.

    `introduction` has fields for the numbers of ``rows`` and ``features``; `coding` says how what
    `load` gives is coded.
    """

    title: str
    introduction: str
    load: Callable[[], Dataset]
    coding: Callable[[Dataset], Coding]

    def fitted(self, verbose: int = 0) -> SubgroupSelector:
        """Score every set of three features in every subgroup."""
        data = self.load()
        selector = SubgroupSelector(
            groups=data.groups,
            size=SIZE,
            k=5,
            coding=self.coding(data),
            n_jobs=-1,
            random_state=0,
            verbose=verbose,
        )
        return selector.fit(data.columns, data.target)

    def run(self, place: Path) -> None:
        """Answer for every subgroup, and write the results to a folder."""
        answered(self.fitted, place, self.title, self.introduction)
        say_where(place)


# A feature that a hospital recorded for less than half of its patients counts as not recorded
# there, and a cholesterol of 0 means that it was not measured.
HOSPITALS = Recorded(
    "Heart disease in four hospitals",
    "Heart disease in {rows:,} patients of four hospitals (UCI, CC BY 4.0), which did not record "
    "the same: which of {features} features tell most about it in each, and what would be worth "
    "recording?",
    lambda: load_heart(readable=True),
    lambda _: Coding(missing_threshold=0.5, missing_values={"cholesterol": [0]}),
)
SURVEY = Recorded(
    "Diabetes in NHANES 2017-2018",
    "NHANES 2017-2018, the health survey of the United States (public domain): {rows:,} adults by "
    "age and sex. Which of {features} features tell most about diabetes, and what would be worth "
    "measuring where the survey did not?",
    load_nhanes,
    lambda data: Coding(bins=data.bins),
)
