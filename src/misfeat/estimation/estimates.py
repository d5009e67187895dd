"""Estimates: on which scale scores are, from the rows alone to what they tell about populations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.model import CompletedScores, guess_of
from misfeat.completion.transfer import AutoCompleter
from misfeat.estimation.intervals import closed, completed_of, intervals_of
from misfeat.estimation.population import PopulationModel
from misfeat.estimation.sample_r2 import complete_sample_r2
from misfeat.estimation.set_scores import ListedScores
from misfeat.exceptions import MisfeatError, Setting
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Completer, Known
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
        return isinstance(self.completer, AutoCompleter)

    def reach(self, size: int, n_features: int) -> int:
        """The largest size whose exact scores are read to estimate those of `size`."""
        if self.lists:
            return min(n_features, 2)
        return max(size, self.completer.reach(size, n_features))

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that an estimate takes beyond the scores themselves, about."""
        if self.lists:
            return 0
        return self.completer.memory_needed(size, n_features, n_cohorts)

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score with bounds for every set of one size in every subgroup.

        Known scores must be above chance, unless the scale is that of the sample.
        """
        return self.complete_up_to(known, size)[size]

    def complete_up_to(
        self, known: Known, size: int, models: Sequence[PopulationModel] = ()
    ) -> dict[int, CompletedScores]:
        """The same for all sizes that come with it, at least the one that was asked for.

        `models` are those of `listed`, where these were made before.
        """
        if known.grids:
            found_in = [
                self.complete_up_to(grid, size, models[place : place + 1])
                for place, grid in enumerate(known.grids)
            ]
            return {m: CompletedScores.mean_of([one[m] for one in found_in]) for m in found_in[0]}
        if not self.above_chance and known.sums is not None and self._predicts_itself:
            return {size: complete_sample_r2(known, size, self.confidence)}
        if not self.above_chance:
            return {size: _checked(self.completer.complete(known, size), self.completer)}
        if known.progress is not None:
            known.progress(WHAT, 0, size)
        intervals = []
        for m, posterior in enumerate(self._posteriors(known, size, models), start=1):
            intervals.append(intervals_of(posterior, self.confidence, known.exact.ceiling))
            if known.progress is not None:
                known.progress(WHAT, m, size)
        n_features = known.exact.missing.shape[1]
        shown = closed(intervals, n_features)
        found = {
            m: completed_of(scores, known.exact, level(n_features, m))
            for m, scores in enumerate(shown, start=1)
        }
        if self.name == POPULATION:
            return found
        return {
            m: replace(scores, predicted=np.isnan(known.exact.by_size[m]))
            for m, scores in found.items()
        }

    def _posteriors(
        self, known: Known, size: int, models: Sequence[PopulationModel]
    ) -> list[Posterior]:
        """What is known of all sets of size 1, 2, … up to one."""
        guesses = self._guesses(known, size)
        model = models[0] if models else PopulationModel.of(known)
        found = [
            model.level(m, None if guesses is None else guesses[m]) for m in range(1, size + 1)
        ]
        if self.name == POPULATION:
            return found
        return [
            _own_posterior(known.exact.by_size[m], pooled)
            for m, pooled in enumerate(found, start=1)
        ]

    @property
    def lists(self) -> bool:
        """Whether sets of any size can be scored one by one, without all others of their size."""
        return self.name == POPULATION and self._predicts_itself

    def listed(self, known: Known) -> ListedScores:
        """Scores of single sets of any size; they are those of the population."""
        if not self.lists:
            raise MisfeatError(
                "Paths and sets of any size need the scale {setting}, and rows or counts.",
                remedy="Fit with it.",
                setting=Setting("estimate", POPULATION),
            )
        return ListedScores.of_known(known, self.confidence)

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
