"""Listed sets: estimates of single sets of any size, and the sets that are worth listing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import CompletedScores
from misfeat.estimation.intervals import completed_of, intervals_of
from misfeat.estimation.population import PopulationModel
from misfeat.estimation.search import search_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known

    Floats = NDArray[np.float64]
    Sets = NDArray[np.integer]

KEEP = 50
"""Sets of every subgroup that a search lists."""


@dataclass(frozen=True, eq=False)
class ListedScores:
    """Estimates of single sets of any size, without those of all others.

    Attributes
    ----------
    models : tuple of PopulationModel
        One, or one for every grid of a numeric target.
    known : Known
        What they were made of.
    confidence : float or None
        Target coverage of the intervals.
    """

    models: tuple[PopulationModel, ...]
    known: Known
    confidence: float | None

    @classmethod
    def of_known(cls, known: Known, confidence: float | None) -> ListedScores:
        """From the scores of all features and pairs, and from rows, counts or sums."""
        return cls(tuple(map(PopulationModel.of, known.grids or (known,))), known, confidence)

    @property
    def ceiling(self) -> Floats:
        """What no score of a subgroup can exceed."""
        return self.known.exact.ceiling

    @property
    def together(self) -> list[tuple[int, ...]]:
        """Pairs and triples that explain something only together."""
        return list(dict.fromkeys(t.features for model in self.models for t in model.moments.terms))

    def of(self, subsets: Sets) -> tuple[Floats, Floats]:
        """Scores and standard deviations of sets of one size, both (n_cohorts, n_sets)."""
        posteriors = [model.posterior(subsets) for model in self.models]
        mean = np.mean([one.mean for one in posteriors], axis=0)
        deviation = np.mean([np.sqrt(one.variance) for one in posteriors], axis=0)
        return np.clip(mean, 0.0, self.ceiling[:, None]), deviation

    def deviation_of_gain(self, smaller: Sets, larger: Sets) -> Floats:
        """Standard deviations of what sets explain beyond a part of each, (n_cohorts, n_sets)."""
        found = [np.sqrt(model.variance_of_gain(smaller, larger)) for model in self.models]
        return np.asarray(np.mean(found, axis=0))

    def means(self, subsets: Sets, cohort: int) -> Floats:
        """Scores of sets of one size in one subgroup, for a search."""
        return np.asarray(np.mean([model.means(subsets, cohort) for model in self.models], axis=0))

    def completed(self, subsets: Sets) -> CompletedScores:
        """Scores of sets of one size with their bounds, in all subgroups."""
        grids = self.known.grids or (self.known,)
        scores = [
            completed_of(
                intervals_of(model.posterior(subsets), self.confidence, grid.exact.ceiling),
                grid.exact,
                subsets,
            )
            for model, grid in zip(self.models, grids, strict=True)
        ]
        return CompletedScores.mean_of(scores) if self.known.grids else scores[0]

    def search(
        self,
        size: int,
        include: Sequence[int] = (),
        told: Callable[[int, int], None] | None = None,
    ) -> Sets:
        """The sets of a size that are best in a subgroup, or on the mean over all rows.

        Among them are, for every subgroup, the best sets of what it recorded, and the best of these
        with one feature exchanged for one that it did not record.

        Parameters
        ----------
        size : int
            Features per set.
        include : sequence of int
            Features that every set holds.
        told : callable, default=None
            Told how many subgroups are done, of how many.
        """
        missing = self.known.exact.missing
        n_cohorts, n_features = missing.shape
        every, together = range(n_features), self.together
        weights = self.models[0].moments.rows
        lists: list[Sets] = [
            search_sets(
                lambda sets: weights @ self.of(sets)[0], every, size, together, include, KEEP
            )
        ]
        for k in np.flatnonzero(self.ceiling > 0).tolist():
            score = partial(self.means, cohort=k)
            lists.append(search_sets(score, every, size, together, include, KEEP))
            own = np.flatnonzero(~missing[k]).tolist()
            if size <= len(own) < n_features and not missing[k, list(include)].any():
                best = search_sets(score, own, size, together, include, KEEP)
                lists += [best, _exchanged(best[0], np.flatnonzero(missing[k]), include)]
            if told is not None:
                told(k + 1, n_cohorts)
        return np.unique(np.concatenate(lists), axis=0)


def _exchanged(members: Sets, others: Sets, fixed: Sequence[int]) -> Sets:
    """A set with one of its features exchanged for one of some others."""
    sets = [
        np.sort(np.where(members == out, new, members))
        for new in others
        for out in members
        if out not in fixed
    ]
    return np.array(sets, dtype=np.int64).reshape(-1, len(members))
