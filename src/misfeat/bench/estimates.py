"""Scores of all sets on every scale of `estimate`, from coded rows that lack some features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.bench.hiding import exact_scores
from misfeat.completion.model import CompletedScores, ExactScores, Known
from misfeat.completion.support import support_of
from misfeat.completion.transfer.completer import TransferCompleter
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level
from misfeat.population import gather_evidence, population_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts

    Floats = NDArray[np.float64]

CONFIDENCE = 0.9
"""How often the intervals should hold the population's score."""


def estimated(estimate: str, cohorts: Cohorts, size: int) -> CompletedScores:
    """Scores of every set of a size in every subgroup, recorded or not.

    Parameters
    ----------
    estimate : {"sample", "above_chance", "population"}
        The scale of scores, as `SubgroupSelector` takes it.
    cohorts : Cohorts
        Coded rows.
    size : int
        Features per set.

    Returns
    -------
    CompletedScores
        On that scale; only "population" has intervals, the others have ``low = high = score``.
    """
    return ESTIMATES[estimate](cohorts, size)


def _sample(cohorts: Cohorts, size: int) -> CompletedScores:
    completer = TransferCompleter(confidence=None)
    exact = exact_scores(cohorts, completer.reach(size, len(cohorts.features)), 1)
    score = completer.complete(Known(exact, cohorts, 1), size).score
    return _completed(cohorts, size, score, score, score)


def _above_chance(cohorts: Cohorts, size: int) -> CompletedScores:
    score = gather_evidence(*_known(cohorts, size), size)[size].evidence.scores
    return _completed(cohorts, size, score, score, score)


def _population(cohorts: Cohorts, size: int) -> CompletedScores:
    found = population_scores(*_known(cohorts, size), size, CONFIDENCE)[size]
    return _completed(cohorts, size, found.score, found.low, found.high)


def _known(cohorts: Cohorts, size: int) -> tuple[Known, list[Floats]]:
    measure = MutualInformation(cohorts, above_chance=True)
    by_cohort = [measure.of_levels(i, 0, size, 1) for i in range(len(cohorts))]
    by_size = [np.array(scores) for scores in zip(*by_cohort, strict=True)]
    exact = ExactScores(tuple(by_size), measure.missing, measure.ceiling, measure.closed)
    return Known(exact, cohorts, 1), by_size


def _completed(
    cohorts: Cohorts, size: int, score: Floats, low: Floats, high: Floats
) -> CompletedScores:
    subsets = level(len(cohorts.features), size)
    predicted = np.logical_or.reduce(cohorts.missing[:, subsets], axis=2)
    support = support_of(cohorts.missing, subsets)
    return CompletedScores(subsets, score, low, high, predicted, support)


ESTIMATES: dict[str, Callable[[Cohorts, int], CompletedScores]] = {
    "sample": _sample,
    "above_chance": _above_chance,
    "population": _population,
}
"""What makes scores of every scale."""
WITH_INTERVALS = ("population",)
"""The scales whose intervals speak of the population."""
