"""What a set that nobody looked at could score at most.

Of m features no set tells more than the best single one and the entropies of the m - 1 richest
others, I(S + x) <= I(S) + H(x), nor more than there is to tell. What chance alone scores never
falls where a feature joins (Mandros, Boley and Vreeken: no set that holds S scores above
H(Y) - chance(S)), and of m features one has at least the m-th least chance of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.grids import information_of
from misfeat.information.shannon import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort, Cohorts
    from misfeat.information.measures import Measure

    Floats = NDArray[np.float64]


def most_of_a_set(cohorts: Cohorts, size: int, *, above_chance: bool, n_jobs: int | None) -> Floats:
    """The most that any set of recorded features could score in the rows of every cohort.

    What chance alone would score is taken off where scores are above chance.
    """
    measure = information_of(cohorts, above_chance=above_chance)
    parts = measure.parts or (measure,)
    found = [
        _most_of_grid(part, list(grid), size, n_jobs)
        for part, grid in zip(parts, cohorts.by_grid(), strict=True)
    ]
    return np.asarray(np.mean(found, axis=0))


def _most_of_grid(measure: Measure, cohorts: list[Cohort], size: int, n_jobs: int | None) -> Floats:
    found = np.array(measure.ceiling, dtype=np.float64)
    for number, cohort in enumerate(cohorts):
        features = np.flatnonzero(cohort.recorded)
        if (cohort.codes[features] < 0).any() or not len(features):
            continue  # sets of different rows cannot be compared
        (alone,) = measure.plug_in.of_levels(number, 1, 1, n_jobs)
        (above,) = measure.of_levels(number, 1, 1, n_jobs)
        m = min(size, len(features))
        richest = np.sort([_entropy_of(cohort, feature) for feature in features.tolist()])[::-1]
        told = alone[features].max() + richest[: m - 1].sum()
        by_chance = np.sort((alone - above)[features])[m - 1]
        found[number] = max(min(found[number], told) - max(by_chance, 0.0), 0.0)
    return found


def _entropy_of(cohort: Cohort, feature: int) -> float:
    return entropy(np.bincount(cohort.codes[feature], weights=cohort.counts))
