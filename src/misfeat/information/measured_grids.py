"""A measure of one's own with a numeric target: the mean over several grids of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.grids import MeanOfGrids
from misfeat.information.measured import CountedMeasure
from misfeat.information.measures import OwnMeasure

if TYPE_CHECKING:
    from misfeat.cohorts.model import Cohorts
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.deals import Deals
    from misfeat.information.measured_noise import ScoreNoise


class CountedGrids(MeanOfGrids, OwnMeasure):
    """A measure of one's own with a numeric target: the mean over its grids.

    Parameters are those of `CountedMeasure`.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.information.count_measure import GiniExplained
    >>> cohorts = build_cohorts({"a": [0, 1] * 20, "b": [0] * 20 + [1] * 20, "y": range(40)}, "y")
    >>> CountedGrids(GiniExplained(), cohorts).of_levels(0, 1, 1, None)[0].round(2)
    array([0. , 0.2])
    """

    def __init__(
        self, asked: CountMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        super().__init__(asked, cohorts, above_chance=above_chance)
        self.parts = tuple(
            CountedMeasure(asked, grid, above_chance=above_chance) for grid in cohorts.by_grid()
        )
        self.ceiling = self.whole = np.mean([part.whole for part in self.parts], axis=0)

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:
        """How scores of the first grid vary; estimates are made of every grid apart."""
        found: ScoreNoise = self.parts[0].noise(size, n_jobs)
        return found

    def deals(
        self,
        cohort: int,
        largest: int,
        held: tuple[int, ...],
        within: int | None,
        seed: np.random.SeedSequence,
    ) -> Deals:
        """Ways to deal the classes of the first grid out, as tests of information do."""
        found: Deals = self.parts[0].deals(cohort, largest, held, within, seed)
        return found
