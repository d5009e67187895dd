"""A measure of one's own with a numeric target: the mean over several grids of its values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.grids import MeanOfGrids
from misfeat.information.measured import CountedMeasure

if TYPE_CHECKING:
    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.count_tables import CountTables
    from misfeat.information.deals import Deals
    from misfeat.information.measured_noise import ScoreNoise
    from misfeat.information.own_scores import OwnScores
    from misfeat.information.scores_alone import ScoresAlone


class CountedGrids(MeanOfGrids):
    """A measure of one's own with a numeric target: the mean over its grids.

    Parameters
    ----------
    asked : CountMeasure
        Scores tables of counts.
    cohorts : Cohorts
        Coded rows with the grids of a numeric target.
    above_chance : bool, default=False
        Whether to take off what chance alone would give, as in `CountedMeasure`.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.information.count_measure import GiniExplained
    >>> cohorts = build_cohorts({"a": [0, 1] * 20, "b": [0] * 20 + [1] * 20, "y": range(40)}, "y")
    >>> CountedGrids(GiniExplained(), cohorts).of_levels(0, 1, 1, None)[0].round(2)
    array([0. , 0.2])
    """

    device = "cpu"
    rows: Cohorts | None = None
    sums: ProductSums | None = None
    tables: CountTables | None = None
    alone: ScoresAlone | None = None

    def __init__(
        self, asked: CountMeasure, cohorts: Cohorts, *, above_chance: bool = False
    ) -> None:
        self.asked, self.above_chance = asked, above_chance
        self.name, self.unit, self.words = asked.name, asked.unit, asked.words
        self.features, self.missing = cohorts.features, cohorts.missing
        self.parts = tuple(
            CountedMeasure(asked, grid, above_chance=above_chance) for grid in cohorts.by_grid()
        )
        self.closed = not above_chance
        self.whole = np.mean([part.whole for part in self.parts], axis=0)
        self.ceiling = self.whole
        self._plain = CountedGrids(asked, cohorts) if above_chance else None

    @property
    def own(self) -> OwnScores | None:
        """Itself: no measure that misfeat comes with."""
        return self

    @property
    def plug_in(self) -> CountedGrids:
        """The same measure of the rows as they are, nothing taken off for chance."""
        return self if self._plain is None else self._plain

    def of_rows(self, cohorts: Cohorts) -> CountedGrids:
        """The same measure of other rows.

        Parameters
        ----------
        cohorts : Cohorts
            Coded rows with the grids of a numeric target.
        """
        return CountedGrids(self.asked, cohorts, above_chance=self.above_chance)

    def noise(self, size: int, n_jobs: int | None = None) -> ScoreNoise:
        """How scores of the first grid vary; estimates are made of every grid apart.

        Parameters
        ----------
        size : int
            Features per set.
        n_jobs : int, default=None
            Threads, as joblib reads it.
        """
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
        """Ways to deal the classes of the first grid out, as tests of information do.

        Parameters
        ----------
        cohort, largest, held, within, seed
            As in `CountedMeasure.deals`.
        """
        found: Deals = self.parts[0].deals(cohort, largest, held, within, seed)
        return found
