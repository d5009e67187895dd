"""Estimates: on which scale scores are, from the rows alone to the population.

`population` is docs/explanation/population.md, `above_chance` and `sample` are
docs/explanation/scores.md; what was not recorded is predicted (docs/explanation/completion.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from misfeat.completion.base import closed_upwards, recorded_part_scores, with_certain_bounds
from misfeat.completion.completed_scores import NONE, CompletedScores, guess_of
from misfeat.completion.transfer import AutoCompleter
from misfeat.estimation.listed_scores import ListedScores, closed, completed_of, intervals_of
from misfeat.estimation.population_model import PopulationModel
from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.measures import squared_correlation
from misfeat.lattice import level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.base import BaseCompleter
    from misfeat.completion.completed_scores import Known
    from misfeat.estimation.pooling import Posterior

    Floats = NDArray[np.float64]

SAMPLE, ABOVE_CHANCE, POPULATION = "sample", "above_chance", "population"
WHAT = "Estimating what holds beyond these rows"


@dataclass(frozen=True)
class Estimate:
    """How scores of feature sets are estimated, recorded and predicted ones."""

    # the scale: of the population, pooled over subgroups; of each subgroup's rows, less what
    # chance alone would score; or of the rows as they are
    name: str
    completer: BaseCompleter  # predicts what could not be computed
    # target coverage of the intervals. None: bounds that are certain
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


def _checked(completed: Any, completer: BaseCompleter) -> CompletedScores:
    if isinstance(completed, CompletedScores):
        return completed
    raise MisfeatError(
        "{setting} gave {kind} instead of scores; its method complete must return CompletedScores.",
        setting=Setting("completer", type(completer).__name__),
        kind=type(completed).__name__,
    )


def complete_sample_r2(known: Known, size: int, confidence: float | None) -> CompletedScores:
    """R² of every set of a size: of the rows where it was computed, elsewhere predicted.

    Predictions follow from the subgroup's own covariance, in which lacking columns are regressed on
    recorded ones (`Moments.completed`). By chance, features that a subgroup lacks explain one over
    the rows of what is left, each: R² = 1 - (1 - x) (1 - lacking / (n - 1 - recorded)), see
    docs/explanation/completion.md. Without confidence, bounds are those that are certain.
    """
    exact, model = known.exact, PopulationModel.of(known)
    sizes = range(1, size + 1)
    found = [_expected_in_rows(model, level(model.moments.n_features, m)) for m in sizes]
    guesses = [exact.by_size[0], *found]
    completed = with_certain_bounds(exact, size, closed_upwards(guesses, exact)[-1])
    if confidence is None:
        return completed
    variance = _variance_of_predictions(model, guesses)
    reach = float(ndtri((1.0 + confidence) / 2.0)) * np.sqrt(variance)
    # Of features that nobody recorded, and of exact scores, bounds stay as they are.
    narrowed = completed.predicted & (completed.support != NONE)
    reach = np.where(narrowed, reach, np.inf)
    return replace(
        completed,
        low=np.maximum(completed.low, completed.score - reach),
        high=np.minimum(completed.high, completed.score + reach),
    )


def _variance_of_predictions(model: PopulationModel, guesses: list[Floats]) -> Floats:
    """The variance of what lacking features add, as in `pooling`: v(g, h) (1 - x)².

    They explain the share g of what the recorded part leaves, 1 - x. Subgroups differ from what
    they share as samples of 1 / h rows do, and sampling adds to h.
    """
    moments, size = model.moments, len(guesses) - 1
    subsets = level(moments.n_features, size)
    lacking = ~moments.recorded[:, subsets]
    left = 1.0 - np.array(
        [recorded_part_scores(guesses, k, subsets, ~has) for k, has in enumerate(moments.recorded)]
    )
    gain = np.clip(1.0 - (1.0 - guesses[-1]) / np.maximum(left, 1e-12), 0.0, 1.0)
    behind = np.where(lacking, 1.0 / moments.rows_recorded[subsets], 0.0).max(axis=2)
    h = model.effects.largest_spread + 1.0 / moments.rows[:, None] + behind
    found: Floats = model.evidence(subsets).variation(gain, h, lacking.sum(axis=2)) * left**2
    return found


def _expected_in_rows(model: PopulationModel, subsets: NDArray[np.integer]) -> Floats:
    """R² of listed sets of one size, of shape (n_cohorts, n_sets)."""
    moments = model.moments
    found = np.empty((len(moments.rows), len(subsets)))
    for k, recorded in enumerate(moments.recorded):
        explained = squared_correlation(moments.completed(k), subsets)
        lacking = (~recorded[subsets]).sum(axis=1) * model.dimensions[k]
        left = np.maximum(moments.rows[k] - 1.0 - subsets.shape[1] + lacking, 1.0)
        found[k] = 1.0 - (1.0 - explained) * np.maximum(1.0 - lacking / left, 0.0)
    return found
