"""Scores of a measure of one's own when the target is dealt out anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.count_measure import scores_of
from misfeat.information.set_tables import DealtRows
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort
    from misfeat.information.count_measure import CountMeasure
    from misfeat.information.set_tables import DealtLines
    from misfeat.machine.threads import Task, Work

    Scores = NDArray[np.float64]

TOGETHER = 16
"""Deals that are counted together."""


class CountDeals:
    """Deals of the target over the rows of a cohort, and the scores of all sets for each.

    Sets hold up to `largest` features besides those `held`; classes stay within the cells of these,
    and of the feature `within`.
    """

    def __init__(
        self,
        measure: CountMeasure,
        cohort: Cohort,
        largest: int,
        held: tuple[int, ...],
        within: int | None,
        seed: np.random.SeedSequence,
    ) -> None:
        kept = [*held] if within is None else [*held, within]
        strata = np.unique(cohort.codes[kept], axis=1, return_inverse=True)[1] if kept else None
        self._measure, self._rows = measure, DealtRows(cohort, seed, strata)
        self._held = np.array([sorted(held)], dtype=np.int64)
        free = np.setdiff1d(np.flatnonzero(cohort.recorded), held)
        self.subsets = tuple(
            self._with_held(free[level(len(free), size)])
            for size in range(1, min(largest, len(free)) + 1)
        )

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1`` beyond the features that are held.

        Number 0 is the target as it was recorded. Of shape (n_deals, n_sets).
        """
        found = np.empty((last - first, sum(map(len, self.subsets))))

        def task(begin: int, end: int) -> Task:
            def score() -> None:
                lines = self._rows.deals(range(first + begin, first + end))
                below = self._of(lines, self._held) if self._held.size else 0.0
                by_size = [self._of(lines, subsets) - below for subsets in self.subsets]
                found[begin:end] = np.concatenate(by_size).T

            return score

        work.run([task(*part) for part in work.stretches(last - first, 1, longest=TOGETHER)])
        if first == 0 < last:
            found[0] /= self._rows.effect
        return found

    def _of(self, lines: DealtLines, subsets: NDArray[np.int64]) -> Scores:
        """Scores of sets in every deal, of shape (n_sets, n_deals)."""
        found = np.empty((len(subsets), lines.n_deals))
        for some, tables in lines.tables(subsets):
            stack = tables.reshape(-1, *tables.shape[2:])
            found[some] = scores_of(self._measure, stack).reshape(len(tables), -1)
        return found

    def _with_held(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        held = np.broadcast_to(self._held, (len(members), self._held.shape[1]))
        return np.sort(np.hstack([members, held]), axis=1)
