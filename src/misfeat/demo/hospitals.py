"""Heart disease in four hospitals, three of which never recorded what tells most in the fourth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.cohorts.coding import Coding
from misfeat.datasets import load_heart
from misfeat.demo.telling import answered, say_where
from misfeat.selector import SubgroupSelector

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 3
TITLE = "Heart disease in four hospitals"
INTRODUCTION = (
    "Heart disease in {rows:,} patients of four hospitals (UCI, CC BY 4.0), which did not record "
    "the same: which of {features} features tell most about it in each, and what would be worth "
    "recording?"
)


def run_hospitals(place: Path) -> None:
    """Answer for every hospital, and write the results to a folder."""
    answered(fitted_to_hospitals, place, TITLE, INTRODUCTION)
    say_where(place)


def fitted_to_hospitals(verbose: int = 0) -> SubgroupSelector:
    """Score every set of three features in every hospital.

    A feature that a hospital recorded for less than half of its patients counts as not recorded
    there, and a cholesterol of 0 means that it was not measured.
    """
    data = load_heart(readable=True)
    selector = SubgroupSelector(
        groups=data.groups,
        size=SIZE,
        k=5,
        coding=Coding(missing_threshold=0.5, missing_values={"cholesterol": [0]}),
        n_jobs=-1,
        random_state=0,
        verbose=verbose,
    )
    return selector.fit(data.columns, data.target)
