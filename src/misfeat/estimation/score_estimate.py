"""Estimates: on which scale scores are, and those of listed sets with their intervals.

`population` is docs/explanation/population.md, `above_chance` and `sample` are
docs/explanation/scores.md; what was not recorded is predicted (docs/explanation/completion.md).
Bounds are normal quantiles of the posterior within 0 and the ceiling; scores and bounds of whole
levels are raised to those of every part (population.md, steps 9 and 10).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion import base, completer_data
from misfeat.completion.completer_data import CompletedScores, ExactScores, Known
from misfeat.completion.transfer_completer import AutoCompleter
from misfeat.estimation.moments import recorded_all
from misfeat.estimation.pooling import Posterior
from misfeat.estimation.population_model import PopulationModel
from misfeat.estimation.search import search_sets
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import squared_correlation
from misfeat.lattice.levels import level, ranks_below
from misfeat.messages import Setting
from misfeat.runtime.array_types import Floats, Indices
from misfeat.runtime.threads import Counting

SAMPLE, ABOVE_CHANCE, POPULATION = "sample", "above_chance", "population"
WHAT = "Estimating what holds beyond these rows"
KEEP = 50  # sets of every subgroup that a search lists


@dataclass(frozen=True)
class Estimate:
    """How scores of feature sets are estimated, recorded and predicted ones."""

    name: str  # POPULATION, pooled over subgroups; ABOVE_CHANCE or SAMPLE, of each one's rows
    completer: base.BaseCompleter  # predicts what could not be computed
    confidence: float | None = 0.9  # coverage of the intervals; None: bounds that are certain

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
        """A score with bounds for every set of one size in every subgroup."""
        return self.complete_up_to(known, size)[size]

    def complete_up_to(
        self, known: Known, size: int, models: Sequence[PopulationModel] = ()
    ) -> dict[int, CompletedScores]:
        """The same for all sizes that come with it; `models` are those of `listed`, if made."""
        if known.grids:
            parts = [
                self.complete_up_to(grid, size, models[number : number + 1])
                for number, grid in enumerate(known.grids)
            ]
            near = 1.0 if self.confidence is None else known.prepared(agreement_of)
            return {m: CompletedScores.mean_of([part[m] for part in parts], near) for m in parts[0]}
        exact = known.exact
        if not self.above_chance:
            if isinstance(known.source, ProductSums) and self._predicts_itself:
                return {size: complete_sample_r2(known, size, self.confidence)}
            return {size: _checked(self.completer.complete(known, size), self.completer)}
        guesses = self._guesses(known, size)
        model = models[0] if models else PopulationModel.of(known)
        n_features, intervals = exact.missing.shape[1], []
        progress = known.progress or (lambda *_: None)
        for m in range(1, size + 1):
            progress(WHAT, m - 1, size)
            guessed = None if guesses is None else guesses[m]
            posterior = model.level(m, guessed, variances=self.confidence is not None)
            if self.name == ABOVE_CHANCE:  # recorded scores as they are, with their noise
                recorded = np.isfinite(exact.by_size[m])
                mean = np.where(recorded, exact.by_size[m], posterior.mean)
                variance = np.where(recorded, posterior.noise, posterior.variance)
                posterior = replace(posterior, mean=mean, variance=variance)
            intervals.append(intervals_of(posterior, self.confidence, exact.ceiling))
        progress(WHAT, size, size)
        found = {
            m: completed_of(scores, exact, level(n_features, m))
            for m, scores in enumerate(closed(intervals, n_features), start=1)
        }
        if self.name == POPULATION:
            return found
        return {m: replace(f, predicted=np.isnan(exact.by_size[m])) for m, f in found.items()}

    @property
    def lists(self) -> bool:
        """Whether sets of any size can be scored one by one, without all others of their size."""
        return self.name == POPULATION and self._predicts_itself

    def listed(self, known: Known) -> "ListedScores":
        """Scores of single sets of any size; they are those of the population."""
        if not self.lists:
            raise MisfeatError(
                f"Paths and sets of any size need the scale {Setting('estimate', POPULATION)}, "
                "and rows or counts.",
                remedy="Fit with it.",
            )
        models = tuple(map(PopulationModel.of, known.grids or (known,)))
        return ListedScores(models, known, self.confidence)

    def _guesses(self, known: Known, size: int) -> list[Floats] | None:
        """Scores above chance by size that a completer of another kind predicts; None: none."""
        completer: Any = self.completer
        if self._predicts_itself or not np.isnan(known.exact.by_size[size]).any():
            return None
        if hasattr(completer, "guess"):
            return completer_data.guess_of(completer, known, size).by_size
        completed = (_checked(completer.complete(known, m), completer) for m in range(1, size + 1))
        return [known.exact.by_size[0], *(scores.score for scores in completed)]


def _checked(completed: Any, completer: base.BaseCompleter) -> CompletedScores:
    if isinstance(completed, CompletedScores):
        return completed
    setting = Setting("completer", type(completer).__name__)
    raise MisfeatError(
        f"{setting} gave {type(completed).__name__} instead of scores; its method complete must "
        "return CompletedScores."
    )


def agreement_of(known: Known) -> float:
    """The deviation of a mean over grids over those of each: 1 where errors go together."""
    # Of horizons, errors are those of whether the event happened before each: r² is the odds of the
    # earlier over those of the later one.
    if not known.grids or known.cohorts is None or not known.cohorts.horizons:
        return 1.0
    rows = [grid.rows_for("auto") for grid in known.grids]
    share = np.array([np.average(one.target_codes, weights=one.counts) for one in rows])
    odds = np.clip(share / np.maximum(1.0 - share, 1e-9), 1e-9, None)
    both = np.sqrt(np.minimum(odds, odds[:, None]) / np.maximum(odds, odds[:, None]))
    return float(np.sqrt(both.mean()))


class Intervals(NamedTuple):
    """Scores of the sets of one size with bounds, (..., n_sets); NaN: nothing is known."""

    score: Floats
    low: Floats
    high: Floats


def intervals_of(posterior: Posterior, confidence: float | None, ceiling: Floats) -> Intervals:
    """Posterior means with bounds; without confidence, these are 0 and the ceiling."""
    most = np.asarray(ceiling, dtype=np.float64)[..., None]
    reach = np.where(np.isnan(posterior.mean), np.nan, np.inf)
    if confidence is not None:
        reach = NormalDist().inv_cdf((1.0 + confidence) / 2.0) * np.sqrt(posterior.variance)
    bounded = (posterior.mean, posterior.mean - reach, posterior.mean + reach)
    return Intervals(*(np.clip(values, 0.0, most) for values in bounded))


def closed(by_size: Sequence[Intervals], n_features: int) -> list[Intervals]:
    """The same by size from 1 on, scores and bounds raised to those of every part (step 10)."""
    found = list(by_size[:1])
    for size in range(2, len(by_size) + 1):
        found.append(raised(by_size[size - 1], found[-1], ranks_below(level(n_features, size))))
    return found


def raised(own: Intervals, of_parts: Intervals, parts: Indices) -> Intervals:
    """Scores and bounds raised to those of parts, of which each set has a line of positions."""
    for positions in parts.T:
        both = zip(own, of_parts, strict=True)
        own = Intervals(*(np.fmax(values, others[..., positions]) for values, others in both))
    return own._replace(high=np.fmax(own.score, own.high))


def completed_of(found: Intervals, exact: ExactScores, subsets: Indices) -> CompletedScores:
    """Estimated scores as all answers read them; what is not known lies anywhere."""
    support = completer_data.support_of(exact.missing, subsets)
    anywhere = np.isnan(found.high) | (support == completer_data.NONE)
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

    @property
    def ceiling(self) -> Floats:
        """What no score of a subgroup can exceed."""
        return self.known.exact.ceiling

    @property
    def together(self) -> list[tuple[int, ...]]:
        """Pairs and triples that explain something only together."""
        return list(dict.fromkeys(t.features for model in self.models for t in model.moments.terms))

    def of(self, subsets: Indices) -> tuple[Floats, Floats]:
        """Scores and standard deviations of sets of one size, both (n_cohorts, n_sets)."""
        posteriors = [model.posterior(subsets) for model in self.models]
        mean = np.mean([posterior.mean for posterior in posteriors], axis=0)
        deviation = np.mean([np.sqrt(posterior.variance) for posterior in posteriors], axis=0)
        near = self.known.prepared(agreement_of)
        return np.clip(mean, 0.0, self.ceiling[:, None]), deviation * near

    def deviation_of_gain(self, smaller: Indices, larger: Indices) -> Floats:
        """Standard deviations of what sets explain beyond a part of each, (n_cohorts, n_sets)."""
        found = [np.sqrt(model.variance_of_gain(smaller, larger)) for model in self.models]
        return np.asarray(np.mean(found, axis=0)) * self.known.prepared(agreement_of)

    def means(self, subsets: Indices, cohort: int) -> Floats:
        """Scores of sets of one size in one subgroup, for a search."""
        return np.asarray(np.mean([model.means(subsets, cohort) for model in self.models], axis=0))

    def completed(self, subsets: Indices) -> CompletedScores:
        """Scores of sets of one size with their bounds, in all subgroups."""
        grids, confidence = self.known.grids or (self.known,), self.confidence
        scores, variances = [], confidence is not None
        for model, grid in zip(self.models, grids, strict=True):
            ceiling = grid.exact.ceiling
            singles = intervals_of(model.level(1, variances=variances), confidence, ceiling)
            own = intervals_of(model.posterior(subsets, variances=variances), confidence, ceiling)
            scores.append(completed_of(raised(own, singles, subsets), grid.exact, subsets))
        near = self.known.prepared(agreement_of) if variances else 1.0
        return CompletedScores.mean_of(scores, near) if self.known.grids else scores[0]

    def search(
        self, size: int, include: Sequence[int] = (), told: Counting | None = None
    ) -> Indices:
        """The best sets of a size in a subgroup, of what it recorded, and over all rows."""
        missing = self.known.exact.missing
        n_cohorts, n_features = missing.shape
        every, weights = range(n_features), self.models[0].moments.rows
        options: Any = {"size": size, "together": self.together, "include": include, "keep": KEEP}
        search: Callable[..., Indices] = partial(search_sets, **options)
        lists = [search(lambda sets: weights @ self.of(sets)[0], every)]
        for k in np.flatnonzero(self.ceiling > 0).tolist():
            score = partial(self.means, cohort=k)
            lists.append(search(score, every))
            own = np.flatnonzero(~missing[k]).tolist()
            if size <= len(own) < n_features and not missing[k, list(include)].any():
                best = search(score, own)
                # The best set with one of its features exchanged for one that was not recorded.
                lists.append(best)
                for new in np.flatnonzero(missing[k]):
                    swaps = [np.where(best[0] == out, new, best[0]) for out in best[0]]
                    chosen = [out not in include for out in best[0]]
                    lists.append(np.sort(swaps, axis=1)[chosen])
            if told is not None:
                told(k + 1, n_cohorts)
        return np.unique(np.concatenate(lists), axis=0)


def complete_sample_r2(known: Known, size: int, confidence: float | None) -> CompletedScores:
    """R² of every set of a size: of the rows where it was computed, elsewhere predicted."""
    # Predictions follow from the subgroup's own covariance, in which lacking columns are regressed
    # on recorded ones (`Moments.completed`). By chance, features that a subgroup lacks explain one
    # over the rows of what is left, each: R² = 1 - (1 - x) (1 - lacking / (n - 1 - recorded)), see
    # docs/explanation/completion.md. Without confidence, bounds are those that are certain.
    exact, model = known.exact, PopulationModel.of(known)
    sizes = range(1, size + 1)
    found = [_expected_in_rows(model, level(model.moments.n_features, m)) for m in sizes]
    guesses = [exact.by_size[0], *found]
    completed = base.with_certain_bounds(exact, size, base.closed_upwards(guesses, exact)[-1])
    if confidence is None:
        return completed
    variance = _variance_of_predictions(model, guesses)
    reach = NormalDist().inv_cdf((1.0 + confidence) / 2.0) * np.sqrt(variance)
    return base.with_intervals(completed, reach, but=(completer_data.NONE,))


def _variance_of_predictions(model: PopulationModel, guesses: list[Floats]) -> Floats:
    """v(g, h) (1 - x)², g the share that lacking features explain of the rest; see `pooling`."""
    moments, size = model.moments, len(guesses) - 1
    subsets = level(moments.n_features, size)
    lacking = ~moments.recorded[:, subsets]
    left = 1.0 - base.recorded_part_scores(guesses, subsets, ~moments.recorded)
    gain = np.clip(1.0 - (1.0 - guesses[-1]) / np.maximum(left, 1e-12), 0.0, 1.0)
    behind = np.where(lacking, 1.0 / moments.rows_recorded[subsets], 0.0).max(axis=2)
    h = model.effects.largest_spread[:, None] + 1.0 / moments.rows[:, None] + behind
    return model.evidence(subsets).samples(gain).variation(h, lacking.sum(axis=2)) * left**2


def _expected_in_rows(model: PopulationModel, subsets: Indices) -> Floats:
    """R² of listed sets of one size, of shape (n_cohorts, n_sets)."""
    moments = model.moments
    found = np.empty((len(moments.rows), len(subsets)))
    for k, recorded in enumerate(moments.recorded):
        explained = squared_correlation(moments.completed(k), subsets)
        lacking = (~recorded[subsets]).sum(axis=1) * model.dimensions[k]
        left = np.maximum(moments.rows[k] - 1.0 - subsets.shape[1] + lacking, 1.0)
        found[k] = 1.0 - (1.0 - explained) * np.maximum(1.0 - lacking / left, 0.0)
    return found
