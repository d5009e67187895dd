"""Scores that were worked out elsewhere, where neither rows nor counts are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.measures import LevelByLevel
from misfeat.information.shannon import entropy
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.count_tables import ScoresAlone

    Floats = NDArray[np.float64]


class ScoredInformation(LevelByLevel):
    """Joint mutual information with the target, in nats above chance, as it was handed over.

    Nobody knows what chance was taken off, so that `plug_in` is the same.
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    alone: ScoresAlone
    above_chance, closed = True, False

    def __init__(self, scores: ScoresAlone) -> None:
        self.alone, self.features, self.missing = scores, scores.features, scores.missing
        self.ceiling = self.whole = np.array([entropy(counts) for counts in scores.by_class])

    def _of_level(self, cohort: int, size: int, n_jobs: int | None) -> Floats:
        del n_jobs
        if size == 0:
            return np.zeros(1)
        if size > self.alone.largest:
            return np.full(len(level(len(self.features), size)), np.nan)
        scores: Floats = self.alone.of_size(size)[cohort]
        return scores
