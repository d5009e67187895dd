"""Scores of all sets on every scale of `estimate`, from coded rows that lack some features."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import misfeat
from misfeat.completion.auto import AutoCompleter
from misfeat.estimation.estimates import Estimate
from misfeat.information.measures import MutualInformation
from misfeat.selection.scorebook import ScoreBook

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import CompletedScores

ESTIMATES = ("sample", "above_chance", "population")
"""Scales of scores, as `SubgroupSelector` takes them."""
OF_THE_POPULATION = ESTIMATES[1:]
"""Those whose intervals speak of the population."""
CONFIDENCE = 0.9
"""How often the intervals should hold the population's score."""


@cache
def code_of_estimates() -> str:
    """A short print of the code that scores come from; another one where it was changed.

    It is part of the name of a result, so that results of older code are not taken for it.

    Examples
    --------
    >>> len(code_of_estimates())
    12
    """
    package = Path(misfeat.__file__).parent
    found = hashlib.sha256()
    for folder in ("cohorts", "lattice", "information", "completion", "estimation", "selection"):
        for file in sorted((package / folder).rglob("*.py")):
            found.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return found.hexdigest()[:12]


def estimated(estimate: str, cohorts: Cohorts, size: int) -> CompletedScores:
    """Scores of every set of a size in every subgroup, as a fitted `SubgroupSelector` has them.

    With intervals but for "sample", whose bounds are those that are certain.
    """
    return book_of(estimate, cohorts).completed(size)


def book_of(estimate: str, cohorts: Cohorts) -> ScoreBook:
    """The scores of cohorts on a scale."""
    confidence = CONFIDENCE if estimate in OF_THE_POPULATION else None
    how = Estimate(estimate, AutoCompleter(confidence=confidence), confidence)
    measure = MutualInformation(cohorts, above_chance=how.above_chance)
    return ScoreBook(measure, how, n_jobs=1)
