"""Scores of feature sets from count tables, where there are no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.chance import chance_of_counts, n_log_n
from misfeat.information.shannon import entropy
from misfeat.information.table_scores import scores_of_tables
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


class TableInformation:
    """Joint mutual information with the target, in nats, from count tables alone.

    Parameters
    ----------
    tables : CountTables
        Of all cohorts.
    above_chance : bool, default=False
        Whether to take off what chance alone would give, as in `MutualInformation`.

    Examples
    --------
    >>> from misfeat.information.count_tables import CountTables
    >>> counts = np.array([[[2.0, 0.0], [0.0, 2.0]]])
    >>> none, missing = np.zeros((1, 0, 2)), np.array([[False]])
    >>> tables = CountTables(("a",), (("0", "1"),), missing, counts.sum(axis=1), counts, none, none)
    >>> TableInformation(tables).of_levels(0, 1, 1, None)[0].round(4)
    array([0.6931])
    >>> TableInformation(tables, above_chance=True).of_levels(0, 1, 1, None)[0].round(4)
    array([0.4621])
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"
    device = "cpu"
    rows: Cohorts | None = None
    sums: ProductSums | None = None
    alone: ScoresAlone | None = None
    own: OwnScores | None = None
    parts: tuple[Measure, ...] = ()

    def __init__(self, tables: CountTables, *, above_chance: bool = False) -> None:
        self.tables: CountTables | None = tables
        self._tables = tables
        self.above_chance = above_chance
        self.closed = not above_chance
        self.features = tables.features
        self.missing = tables.missing
        self.whole = np.array([entropy(counts) for counts in tables.by_class])
        self.ceiling = self.whole
        self._plain = TableInformation(tables) if above_chance else None

    @property
    def plug_in(self) -> TableInformation:
        """The same measure of the counts as they are, nothing taken off for chance."""
        return self if self._plain is None else self._plain

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        del n_jobs  # one sum over all tables
        scores = []
        for size in range(low, high + 1):
            scores.append(self._of_level(cohort, size))
            if progress is not None:
                progress(size - low + 1, high - low + 1)
        return scores

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Floats:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        found: Floats = self.of_levels(cohort, subsets.shape[1], subsets.shape[1], n_jobs)[0]
        return found[rank(subsets)]

    def _of_level(self, cohort: int, size: int) -> Floats:
        if size == 0:
            return np.zeros(1)
        subsets = level(len(self.features), size)
        lacking = self.missing[cohort][subsets].any(axis=1)
        if size > self._tables.largest:
            return np.full(len(subsets), np.nan)
        counts, by_class = self._tables.of_size(size)[cohort], self._tables.by_class[cohort]
        if self.above_chance and self._tables.bias is not None:
            found = scores_of_tables(counts, by_class, self._tables.starts(size))
            first, second = self._tables.bias[cohort, size - 1]
            scores = found.above_chance - first * found.chance - second * found.chance**2
            return np.where(lacking, np.nan, scores)
        n_rows, totals = by_class.sum(), counts.sum(axis=1)
        of_totals = chance_of_counts(totals, by_class) if self.above_chance else n_log_n(totals)
        cells = n_log_n(counts).sum(axis=1) - of_totals
        sums = np.add.reduceat(cells, self._tables.starts(size)[:-1])
        scores = sums / n_rows
        if not self.above_chance:
            scores = np.log(n_rows) + (sums - n_log_n(by_class).sum()) / n_rows
            scores = np.clip(scores, 0.0, self.ceiling[cohort])
        return np.where(lacking, np.nan, scores)
