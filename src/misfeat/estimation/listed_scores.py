"""Estimates of listed sets of any size with their intervals, and the sets that are worth listing.

Bounds are normal quantiles of the posterior within 0 and the ceiling; scores and bounds of whole
levels are raised to those of every part (docs/explanation/population.md, steps 9 and 10).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.completion.completed_scores import NONE, CompletedScores, support_of
from misfeat.estimation.covariances import recorded_all
from misfeat.estimation.population_model import PopulationModel
from misfeat.estimation.search import search_sets
from misfeat.lattice import level, ranks_below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.completion.completed_scores import ExactScores, Known
    from misfeat.estimation.pooling import Posterior

    Floats = NDArray[np.float64]
    Sets = NDArray[np.integer]

KEEP = 50
"""Sets of every subgroup that a search lists."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Scores of the sets of one size with their bounds; NaN where nothing is known.

    Of shape (n_cohorts, n_sets), ``low <= score <= high``.
    """

    score: Floats
    low: Floats
    high: Floats


def intervals_of(posterior: Posterior, confidence: float | None, ceiling: Floats) -> Intervals:
    """Posterior means, and bounds that hold the population's score as often as asked.

    Without confidence, bounds are 0 and the ceiling: what no score of a subgroup can exceed.
    """
    most = np.asarray(ceiling, dtype=np.float64)[:, None]
    reach = np.where(np.isnan(posterior.mean), np.nan, np.inf)
    if confidence is not None:
        reach = float(ndtri((1.0 + confidence) / 2.0)) * np.sqrt(posterior.variance)
    return Intervals(
        score=np.clip(posterior.mean, 0.0, most),
        low=np.clip(posterior.mean - reach, 0.0, most),
        high=np.clip(posterior.mean + reach, 0.0, most),
    )


def closed(by_size: Sequence[Intervals], n_features: int) -> list[Intervals]:
    """The same with scores and bounds raised to those of every part: no set explains less.

    Sets of every size, from 1 on, are in the order of ranks.
    """
    found = list(by_size[:1])
    for size, own in enumerate(by_size[1:], start=2):
        below, parts = found[-1], ranks_below(level(n_features, size)).T
        score, low, high = own.score, own.low, own.high
        for ranks in parts:
            score = np.fmax(score, below.score[:, ranks])
            low, high = np.fmax(low, below.low[:, ranks]), np.fmax(high, below.high[:, ranks])
        found.append(Intervals(score, low, np.fmax(score, high)))
    return found


def completed_of(
    found: Intervals, exact: ExactScores, subsets: NDArray[np.integer]
) -> CompletedScores:
    """Estimated scores as all answers read them; what is not known lies anywhere."""
    support = support_of(exact.missing, subsets)
    anywhere = np.isnan(found.high) | (support == NONE)
    most = exact.ceiling[:, None]
    return CompletedScores(
        subsets=subsets,
        score=np.minimum(np.nan_to_num(found.score), most),
        low=np.nan_to_num(found.low),
        high=np.where(anywhere, most, np.minimum(found.high, most)),
        predicted=~recorded_all(~exact.missing, subsets),
        support=support,
    )


@dataclass(frozen=True, eq=False)
class ListedScores:
    """Estimates of single sets of any size, without those of all others."""

    models: tuple[PopulationModel, ...]  # one, or one for every grid of a numeric target
    known: Known  # what they were made of
    confidence: float | None  # target coverage of the intervals

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
