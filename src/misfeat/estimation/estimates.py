"""Estimates: on which scale scores are, from the rows alone to what they tell about populations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from misfeat.completion.auto import AutoCompleter
from misfeat.completion.covariances import CovarianceCompleter
from misfeat.completion.guessing import guess_of
from misfeat.completion.model import CompletedScores
from misfeat.completion.support import NONE, support_of
from misfeat.estimation.moments import recorded_all
from misfeat.estimation.population import PopulationModel
from misfeat.estimation.scores_alone import posteriors_of_scores
from misfeat.exceptions import MisfeatError, Setting
from misfeat.lattice import level, ranks_below
from misfeat.machine.deadline import check_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Completer, ExactScores, Known
    from misfeat.estimation.pooling import Posterior

    Floats = NDArray[np.float64]

SAMPLE, ABOVE_CHANCE, POPULATION = "sample", "above_chance", "population"
WHAT = "Estimating what holds beyond these rows"


@dataclass(frozen=True)
class Estimate:
    """How scores of feature sets are estimated, recorded and predicted ones.

    Attributes
    ----------
    name : {"population", "above_chance", "sample"}
        The scale: of the population, pooled over subgroups; of each subgroup's rows, less what
        chance alone would score; or of the rows as they are.
    completer : Completer
        Predicts what could not be computed.
    confidence : float or None
        Target coverage of the intervals. None: bounds that are certain.
    """

    name: str
    completer: Completer
    confidence: float | None = 0.9

    @property
    def above_chance(self) -> bool:
        """Whether it starts from scores above chance."""
        return self.name != SAMPLE

    @property
    def _predicts_itself(self) -> bool:
        """Whether scores that were not recorded come from the covariance that subgroups share."""
        return isinstance(self.completer, AutoCompleter | CovarianceCompleter)

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to estimate those of `size`."""
        if self.name == POPULATION and self._predicts_itself:
            return min(n_features, 2)
        return max(size, self.completer.reach(size, n_features))

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that an estimate takes beyond the scores themselves, about."""
        if self.name == POPULATION and self._predicts_itself:
            return 0
        return self.completer.memory_needed(size, n_features, n_cohorts)

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score with bounds for every set of one size in every subgroup.

        Known scores must be above chance, unless the scale is that of the sample.
        """
        return self.complete_up_to(known, size)[size]

    def complete_up_to(self, known: Known, size: int) -> dict[int, CompletedScores]:
        """The same for all sizes that come with it, at least the one that was asked for."""
        if known.grids:
            found_in = [self.complete_up_to(grid, size) for grid in known.grids]
            return {m: CompletedScores.mean_of([one[m] for one in found_in]) for m in found_in[0]}
        if not self.above_chance:
            return {size: _checked(self.completer.complete(known, size), self.completer)}
        if known.progress is not None:
            known.progress(WHAT, 0, size)
        intervals = []
        for m, posterior in enumerate(self._posteriors(known, size), start=1):
            intervals.append(intervals_of(posterior, self.confidence, known.exact.ceiling))
            if known.progress is not None:
                known.progress(WHAT, m, size)
        shown = closed(intervals, known.exact.missing.shape[1])
        found = {m: _completed(scores, known.exact, m) for m, scores in enumerate(shown, start=1)}
        if self.name == POPULATION:
            return found
        return {
            m: replace(scores, predicted=np.isnan(known.exact.by_size[m]))
            for m, scores in found.items()
        }

    def _posteriors(self, known: Known, size: int) -> list[Posterior]:
        """What is known of all sets of size 1, 2, … up to one."""
        guesses = self._guesses(known, size)
        if known.alone is not None:
            found = posteriors_of_scores(known, known.alone, size, guesses)
        else:
            model = PopulationModel.of(known)
            found = []
            for m in range(1, size + 1):
                check_time()
                found.append(model.level(m, None if guesses is None else guesses[m]))
        if self.name == POPULATION:
            return found
        return [
            _own_posterior(known.exact.by_size[m], pooled)
            for m, pooled in enumerate(found, start=1)
        ]

    def listed(self, known: Known) -> ListedScores:
        """Scores of single sets of any size; they are those of the population."""
        grids = known.grids or (known,)
        if self.name == SAMPLE or any(grid.alone is not None for grid in grids):
            raise MisfeatError(
                "Sets of any size are scored on the scale {setting}, from rows or counts.",
                remedy="Fit with it.",
                setting=Setting("estimate", POPULATION),
            )
        return ListedScores(tuple(map(PopulationModel.of, grids)), known.exact.ceiling)

    def _guesses(self, known: Known, size: int) -> list[Floats] | None:
        """Scores above chance by size that a completer of another kind predicts; None: none."""
        completer: Any = self.completer
        if self._predicts_itself or not np.isnan(known.exact.by_size[size]).any():
            return None
        if hasattr(completer, "guess"):
            return guess_of(completer, known, size).by_size
        found = [
            _checked(completer.complete(known, m), completer).score for m in range(1, size + 1)
        ]
        return [known.exact.by_size[0], *found]


@dataclass(frozen=True, eq=False)
class ListedScores:
    """Estimates of single sets of any size, without those of all others.

    Attributes
    ----------
    models : tuple of PopulationModel
        One, or one for every grid of a numeric target.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    """

    models: tuple[PopulationModel, ...]
    ceiling: Floats

    @property
    def together(self) -> list[tuple[int, ...]]:
        """Pairs and triples that explain something only together."""
        return list(dict.fromkeys(t.features for model in self.models for t in model.moments.terms))

    def of(self, subsets: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Scores and standard deviations of sets of one size, both (n_cohorts, n_sets)."""
        found = [model.posterior(subsets) for model in self.models]
        mean = np.mean([one.mean for one in found], axis=0)
        deviation = np.mean([np.sqrt(one.variance) for one in found], axis=0)
        return np.clip(mean, 0.0, self.ceiling[:, None]), deviation


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


def _own_posterior(scores: Floats, pooled: Posterior) -> Posterior:
    """Scores above chance as they are, with the variance of their noise; others are predicted."""
    recorded = np.isfinite(scores)
    return replace(
        pooled,
        mean=np.where(recorded, scores, pooled.mean),
        variance=np.where(recorded, pooled.noise, pooled.variance),
    )


def _checked(completed: Any, completer: Completer) -> CompletedScores:
    if isinstance(completed, CompletedScores):
        return completed
    raise MisfeatError(
        "{setting} gave {kind} instead of scores; its method complete must return CompletedScores.",
        setting=Setting("completer", type(completer).__name__),
        kind=type(completed).__name__,
    )


def _completed(found: Intervals, exact: ExactScores, size: int) -> CompletedScores:
    """Estimated scores as all answers read them; what is not known lies anywhere."""
    subsets = level(exact.missing.shape[1], size)
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
