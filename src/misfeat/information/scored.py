"""Scores that were worked out elsewhere, where neither rows nor counts are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.shannon import entropy
from misfeat.lattice.levels import level, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_tables import CountTables
    from misfeat.information.measures import Measure
    from misfeat.information.own_scores import OwnScores
    from misfeat.information.scores_alone import ScoresAlone

    Floats = NDArray[np.float64]
    Progress = Callable[[int, int], None]


class ScoredInformation:
    """Joint mutual information with the target, in nats above chance, as it was handed over.

    Parameters
    ----------
    scores : ScoresAlone
        Of all cohorts.

    Examples
    --------
    >>> from misfeat.information.scores_alone import ScoresAlone
    >>> none = np.zeros((1, 0))
    >>> missing, rows = np.array([[False]]), np.array([[5.0, 5.0]])
    >>> steps, scores = np.array([0.1]), np.array([[0.3]])
    >>> held = ScoresAlone(("a",), np.array([2]), missing, rows, scores, none, none, steps)
    >>> ScoredInformation(held).of_levels(0, 1, 1, None)[0]
    array([0.3])
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    device = "cpu"
    rows: Cohorts | None = None
    sums: ProductSums | None = None
    tables: CountTables | None = None
    own: OwnScores | None = None
    parts: tuple[Measure, ...] = ()
    above_chance, closed = True, False

    def __init__(self, scores: ScoresAlone) -> None:
        self.alone: ScoresAlone | None = scores
        self._scores = scores
        self.features = scores.features
        self.missing = scores.missing
        self.whole = np.array([entropy(counts) for counts in scores.by_class])
        self.ceiling = self.whole

    @property
    def plug_in(self) -> ScoredInformation:
        """The same: nobody knows what chance was taken off."""
        return self

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; NaN where there is none."""
        del n_jobs
        found = [self._of_level(cohort, size) for size in range(low, high + 1)]
        if progress is not None:
            progress(1, 1)
        return found

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where there is none."""
        del n_jobs
        found: Floats = self._of_level(cohort, subsets.shape[1])[rank(subsets)]
        return found

    def _of_level(self, cohort: int, size: int) -> Floats:
        if size == 0:
            return np.zeros(1)
        if size > self._scores.largest:
            return np.full(len(level(len(self.features), size)), np.nan)
        scores: Floats = self._scores.of_size(size)[cohort]
        return scores
