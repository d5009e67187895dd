"""Resampled: what a fit found, and whether it comes out again when rows are drawn anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.runtime.progress import long_work
from misfeat.selection.explained import Explained
from misfeat.selection.redrawing import (
    Stability,
    StableSet,
    book_of_draw,
    redrawn,
    stability_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.selection.scorebook import ScoreBook

RESAMPLES = 60
"""Draws of the rows: a frequency is then known to about .06 (one standard error)."""
FEWEST_RESAMPLES = 2
"""One draw alone says nothing of how much draws agree."""


@dataclass(frozen=True, eq=False)
class AnsweredAnew:
    """The answer for rows that are drawn anew; of `book`, only settings are read."""

    cohorts: Cohorts
    book: ScoreBook
    subsets: NDArray[np.integer]

    def __call__(self, rng: np.random.Generator) -> CompletedScores:
        """Draw rows, and score the sets that are shown."""
        book = book_of_draw(self.book, self.cohorts, rng)
        return book.scored(self.subsets)


class Resampled(Explained):
    """What a fit found; says whether it comes out again."""

    def stability(
        self,
        size: int | None = None,
        k: int | None = None,
        subgroup: str | None = None,
        resamples: int = RESAMPLES,
    ) -> Any:
        """How often each of the best sets comes out again when rows are drawn anew.

        Each time a third of the rows of every subgroup is drawn at random (half of them, where
        `estimate` is not ``"population"``), and the whole answer is made again from them,
        predictions included. Such a draw differs from this table about as much as another table of
        as many rows would, so ``frequency`` is about how often a set would be among the k best
        there; docs/answers/stability.md says how well that holds.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Sets per subgroup. Defaults to the estimator's `k`.
        subgroup : str, default=None
            One subgroup only.
        resamples : int, default=60
            How often rows are drawn. Each draw takes about as long as a fit.

        Returns
        -------
        dataframe
            A line for each of the k best sets: ``subgroup``, ``rank``, ``features``, ``frequency``
            (the share of the draws in which the set is among the k best again), ``rank_low``,
            ``rank_median`` and ``rank_high`` (quartiles of its rank among all sets of the size).

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> selector = SubgroupSelector(size=1, k=1).fit(table, "y")
        >>> selector.stability(resamples=10)[["features", "frequency", "rank_high"]]
          features  frequency  rank_high
        0     (a,)        1.0          1
        """
        names = self.subgroup_names(subgroup)
        sets = [one for one in self.resampled(size, k, resamples).sets if one.subgroup in names]
        return self._framed_lines(sets, StableSet.__dataclass_fields__)

    def resampled(
        self, size: int | None = None, k: int | None = None, resamples: int = RESAMPLES
    ) -> Stability:
        """What `stability` found, with features and subgroups; asked again, it costs nothing.

        Parameters
        ----------
        size : int, default=None
            Features per set. Defaults to the estimator's `size`.
        k : int, default=None
            Sets per subgroup. Defaults to the estimator's `k`.
        resamples : int, default=60
            How often rows are drawn.

        Returns
        -------
        Stability
            ``sets`` as in `stability`; ``features``, how often each is in the best set
            (``in_best``) and in one of the k best (``in_top_k``); ``subgroups``, the stability
            ``index`` of the features of the best set with its 95 % interval; and ``sentences()``.

        Examples
        --------
        >>> from misfeat import SubgroupSelector
        >>> table = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "y": [0, 0, 1, 1] * 9}
        >>> found = SubgroupSelector(size=1, k=1).fit(table, "y").resampled(resamples=10)
        >>> found.subgroups[0].index, [one.in_best for one in found.features]
        (1.0, [1.0, 0.0])
        """
        k = self.k if k is None else k
        check_count(k, "k")
        check_count(resamples, "resamples", FEWEST_RESAMPLES)
        self._check_redrawable()
        shown = self._shown(size)
        asked = (shown.subsets.shape[1], k, resamples)
        found = self._resampled.get(asked)
        if found is None:
            found = self._redrawn(shown, k, resamples)
            self._resampled = {asked: found}
        return found

    def _redrawn(self, shown: CompletedScores, k: int, resamples: int) -> Stability:
        seed = self.asked.seed
        empty = self.book.of_other_rows(self.book.measure, 0)
        answer = AnsweredAnew(self.cohorts, empty, shown.subsets)
        seeds = np.random.SeedSequence(0 if seed is None else seed).spawn(resamples)
        with long_work(self.verbose > 0) as progress:
            found = redrawn(shown, k, seeds, answer, progress)
        whole = stability_of(found, shown.subsets, self.feature_names, self.cohorts.names)
        return replace(
            whole,
            sets=self._told(whole.sets),
            features=self._told(whole.features),
            subgroups=self._told(whole.subgroups),
        )

    def _told(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """What is said of subgroups in which there is something to tell."""
        return tuple(one for one in found if self._can_be_told(one.subgroup))

    def _check_redrawable(self) -> None:
        """Raise where no rows are kept that could be drawn anew."""
        self.book.check_rows()
        if self.book.measure.sums is not None:
            raise MisfeatError(
                "Rows are drawn anew from counts of coded rows; {measure} keeps sums of products "
                "instead.",
                remedy="Use {other}, or fit on halves of the table and compare.",
                measure=Setting("measure", "r2"),
                other=Setting("measure", "mutual_info"),
            )
