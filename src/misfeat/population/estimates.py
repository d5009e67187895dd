"""Estimates: on which scale scores are, from the rows alone to what they tell about populations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.auto import AutoCompleter
from misfeat.completion.covariances import CovarianceCompleter
from misfeat.completion.guessing import guess_of
from misfeat.completion.model import CompletedScores
from misfeat.completion.support import NONE, support_of
from misfeat.completion.transfer.completer import TransferCompleter, memory_of_tables
from misfeat.exceptions import MisfeatError, Setting
from misfeat.lattice import level
from misfeat.population.refined import refined_posterior
from misfeat.population.scores import PopulationScores, population_scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.completion.model import Completer, ExactScores, Known
    from misfeat.population.posterior import Evidence, Posterior

    Floats = NDArray[np.float64]

SAMPLE, ABOVE_CHANCE, POPULATION = "sample", "above_chance", "population"
WHAT = "Estimating what holds beyond these rows"


@dataclass(frozen=True)
class Estimate:
    """How scores of feature sets are estimated, recorded and predicted ones.

    Attributes
    ----------
    name : {"population", "above_chance", "sample"}
        The scale: of the population, pooled over cohorts; of each cohort's rows, less what chance
        alone would score; or of the rows as they are.
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

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to estimate those of `size`."""
        return max(size, self.completer.reach(size, n_features))

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that an estimate takes beyond the scores themselves, about."""
        own = self.completer.memory_needed(size, n_features, n_cohorts)
        if not self.above_chance:
            return own
        return max(own, memory_of_tables(size, n_features, n_cohorts))

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score with bounds for every set of one size in every cohort.

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
            known.progress(WHAT, 0, 1)
        found = population_scores(
            known,
            known.exact.by_size,
            size,
            self.confidence,
            posterior=_POSTERIORS[self.name],
            **self._ways(known, size),
        )
        if known.progress is not None:
            known.progress(WHAT, 1, 1)
        return {m: _completed(scores, known.exact, m) for m, scores in found.items()}

    def _ways(self, known: Known, size: int) -> dict[str, Any]:
        """How what was not recorded is predicted on the way."""
        completer = self.completer
        if isinstance(completer, TransferCompleter):
            if known.tables is None:
                instead = "covariances" if known.own is None else "interactions"
                known.rows_for("transfer", instead=instead)
            return {"proxies": completer.proxies, "table_size": completer.table_size}
        if isinstance(completer, AutoCompleter) or not np.isnan(known.exact.by_size[size]).any():
            return {}
        if isinstance(completer, CovarianceCompleter) and known.sums is not None:
            return {}
        return {"guesses": _guessed(completer, known, size)}


def own_posterior(evidence: Evidence) -> Posterior:
    """Scores above chance as they are, with the variance of noise; the pool bounds guesses."""
    pooled = refined_posterior(evidence)
    recorded = evidence.usable & ~evidence.predicted
    mean = np.where(np.isfinite(evidence.scores), evidence.scores, pooled.mean)
    unseen = pooled.variance + (mean - pooled.mean) ** 2
    noise = evidence.variance_at(np.nan_to_num(mean))
    return replace(pooled, mean=mean, variance=np.where(recorded, noise, unseen))


_POSTERIORS: dict[str, Callable[[Evidence], Posterior]] = {
    POPULATION: refined_posterior,
    ABOVE_CHANCE: own_posterior,
}


def _guessed(completer: Any, known: Known, size: int) -> list[Floats]:
    """Guessed scores above chance by size, of a completer of ours or of any other."""
    if hasattr(completer, "guess"):
        return guess_of(completer, known, size).by_size
    found = [_checked(completer.complete(known, m), completer).score for m in range(1, size + 1)]
    return [known.exact.by_size[0], *found]


def _checked(completed: Any, completer: Completer) -> CompletedScores:
    if isinstance(completed, CompletedScores):
        return completed
    raise MisfeatError(
        "{setting} gave {kind} instead of scores; its method complete must return CompletedScores.",
        setting=Setting("completer", type(completer).__name__),
        kind=type(completed).__name__,
    )


def _completed(found: PopulationScores, exact: ExactScores, size: int) -> CompletedScores:
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
        predicted=found.predicted,
        support=support,
    )
