"""Scores of populations for feature sets of any size, from moments, interactions and pooling.

The estimator of docs/explanation/population.md: here are its calibration (step 6), predicted sets
(step 8) and what nobody recorded together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from misfeat.completion.completer_data import SINGLES, Known, support_of
from misfeat.estimation import covariance_scores, pooling
from misfeat.estimation.covariance_scores import Scale, SetColumns, Whitened, additive_scores
from misfeat.estimation.covariance_sources import source_of
from misfeat.estimation.interaction_search import find_terms
from misfeat.estimation.moments import Moments, recorded_all
from misfeat.estimation.pooling import Evidence, Posterior, cancelled, posterior_of
from misfeat.lattice.levels import level, rank
from misfeat.runtime.array_types import Flags, Floats, Indices

OWN_RIDGE = 3.0  # over the rows of a subgroup: added to every variance of its own covariance
LEAST_FACTOR, MOST_FACTOR = 0.4, 2.5  # of a subgroup's scores, by those of single features
MOST_MISFIT = 0.25  # scores are never taken to be off by a larger share because of the model
MOST_DIFFUSE = 3  # pairs whose diffuse interactions are added to a score, at most
MOST_COLUMNS = 9  # of a feature of many categories that these are proportional to
MOST_COUNTED, LARGEST_COUNTED = 3000, 5  # sets of a size, and sizes, that are counted to correct
MOST_LOOKS = 3e7  # sets of three and more times rows
LITTLE = 0.05  # of its rows that a subgroup set apart adds to the pool: it alone may know a feature
CLEARLY = 3.0  # times its variance by chance, a difference is squared before it is misfit
TINY = 1e-9
HALF_WIDTH = 1.645  # deviations to either end of what is possible; nothing is known between


class Correction(NamedTuple):
    """By what counted scores correct those of all sets of one size (step 6)."""

    factor: Floats  # (..., n_sets): times scores
    misfit: Floats  # (..., n_cohorts, n_sets): by what share they may be off all the same


@dataclass(frozen=True, eq=False)
class PopulationModel:
    """What rows of all subgroups say about sets of any size."""

    moments: Moments  # with the columns of interactions
    scales: Sequence[Scale]  # of every subgroup
    dimensions: Floats  # (..., n_cohorts): columns of the target that vary in each subgroup
    factor: Floats  # (..., n_cohorts): times scores, so that those of features are as counted
    pooled_factor: Floats | float = 1.0
    misfit: Floats | float = 0.0  # (..., n_cohorts): by what share these differ all the same
    diffuse: Floats | float = 0.0  # what weak interactions explain on the mean, a column
    alone: tuple[Floats, ...] = ()  # by size from 1, of all sets: see `_scores_alone`
    corrections: tuple[Correction, ...] = ()  # by size from 1
    unlike: Flags | None = None  # (..., n_cohorts): which subgroups are set apart
    cancelled: Floats | None = None  # (..., n_features): what opposite effects hide from the pool

    @classmethod
    def of(cls, known: Known) -> "PopulationModel":
        """Of what scores come from; of what is missing nothing is read."""
        source = known.prepared(source_of)
        moments = find_terms(source, known.prepared(_plain_moments).hidden(known.exact.missing))
        scales, dimensions = source.scales()
        plain = cls(moments, scales, dimensions, np.ones(len(scales)))
        counted = source.calibration(known.exact.by_size[1:])
        largest = min(largest_counted(moments.n_features, source.work), len(counted))
        cells = source.occupied_up_to(largest)
        return plain.calibrated(counted).set_apart().corrected(counted, cells)

    def calibrated(self, by_size: Sequence[Floats]) -> "PopulationModel":
        """The same with scores scaled so that those of single features are as counted (step 6)."""
        if not by_size:
            return self
        counted, *pairs = by_size
        alone = self._scores_alone(np.arange(self.moments.n_features)[:, None])
        known = np.isfinite(counted)
        counted, own = np.where(known, counted, 0.0), np.where(known, alone, 0.0)
        rows, widths = self.moments.rows, self.moments.widths
        chance = widths.sum() * self.dimensions / (2.0 * np.maximum(rows, 1.0))
        sums = np.stack([counted.sum(axis=-1), own.sum(axis=-1), chance])
        whole = _factor((rows * sums).sum(axis=-1), 1.0)
        factor = _factor(sums, whole[..., None])
        own *= factor[..., None]
        noise = np.maximum((own**2).sum(axis=-1), (chance**2 / max(widths.sum(), 1.0)))
        misfit = np.sqrt(((counted - own) ** 2).sum(axis=-1) / np.maximum(noise, 1e-300))
        misfit = np.minimum(misfit, MOST_MISFIT)
        found: Any = {"factor": factor, "pooled_factor": whole, "misfit": misfit}
        return replace(self, **found, alone=(alone,))._with_diffuse(pairs)

    def _with_diffuse(self, counted: Sequence[Floats]) -> "PopulationModel":
        """The same with what pairs count above additive scores, by least squares (step 6)."""
        if not counted or not np.isfinite(counted[0]).any():
            return self
        pairs = level(self.moments.n_features, 2)
        alone = self._scores_alone(pairs)
        above, total = (np.zeros(self.moments.rows.shape[:-1]) for _ in range(2))
        for k in range(len(self.scales)):
            scores, own = counted[0][..., k, :], self.factor[..., k, None] * alone[..., k, :]
            columns = self._interaction_columns(pairs, self.moments.recorded[k])
            columns = columns * self.dimensions[..., k, None]
            known = np.isfinite(scores) & (columns > 0)
            rows = np.maximum(self.moments.rows[..., k, None], 1.0)
            noise = columns / (2.0 * rows**2) + self.scales[k].row_variance(own) / rows
            weight = columns / np.maximum(noise, 1e-300)
            above += np.where(known, weight * (scores - own), 0.0).sum(axis=-1)
            total += np.where(known, weight * columns, 0.0).sum(axis=-1)
        diffuse = np.where(total > 0, np.maximum(above / np.maximum(total, 1e-300), 0.0), 0.0)
        return replace(self, diffuse=diffuse, alone=(*self.alone, alone))

    def corrected(self, by_size: Sequence[Floats], occupied: Sequence[Floats]) -> "PopulationModel":
        """The same with scores corrected by counted ones of cells with rows (step 6)."""
        found: list[Correction] = []
        for size, (counted, cells) in enumerate(zip(by_size, occupied, strict=False), start=1):
            found.append(self._correction(level(self.moments.n_features, size), counted, cells))
        return replace(self, corrections=tuple(found))

    def _correction(self, subsets: Indices, counted: Floats, occupied: Floats) -> Correction:
        """What counted scores say beyond the model's, over all subgroups that recorded a set."""
        # Step 6 of docs/explanation/population.md has what the difference varies by, and its bias.
        evidence = self.evidence(subsets)
        known = evidence.recorded & np.isfinite(counted)
        rows = np.where(known, evidence.rows[..., None], 0.0)
        total = np.maximum(rows.sum(axis=-2), 1.0)
        free = (occupied - 1.0) * self.dimensions[..., None] - evidence.fitted
        free = np.where(known, np.maximum(free, 0.0), 0.0)
        explained = np.clip(evidence.own / np.maximum(self._ceiling, TINY), 0.0, 1.0)
        mean = np.maximum((rows * evidence.own).sum(axis=-2) / total, TINY)
        apart = (rows * np.where(known, counted - evidence.own, 0.0)).sum(axis=-2) / total
        bias = (free * explained).sum(axis=-2) / (2.0 * total)
        noise = free.sum(axis=-2) / (2.0 * total**2) + 2.0 * np.abs(apart) / total + bias**2
        there = known.any(axis=-2)
        beyond = np.where(there, apart**2 - CLEARLY * noise, 0.0).sum(axis=-1, keepdims=True)
        whole = np.where(there, mean**2, 0.0).sum(axis=-1, keepdims=True)
        share = np.clip(beyond / np.maximum(whole, TINY), 0.0, 1.0)
        believed = share * mean**2 / (share * mean**2 + noise + TINY**2) * there
        factor = np.clip(1.0 + believed * apart / mean, LEAST_FACTOR, MOST_FACTOR)
        squared = np.square(np.broadcast_to(self.misfit, self.dimensions.shape))[..., None]
        squared = np.maximum(np.minimum(share, MOST_MISFIT**2)[..., None], squared)
        return Correction(factor, np.sqrt(squared * (1.0 - believed[..., None, :])))

    @property
    def _ceiling(self) -> Floats:
        """The highest score of every subgroup, (..., n_cohorts, 1)."""
        each = [scale.score(np.full(1, covariance_scores.STRONGEST)) for scale in self.scales]
        return np.stack(each, axis=-2)

    def _scores_alone(self, subsets: Indices) -> Floats:
        """Scores from each subgroup's own covariance, of what it recorded, not calibrated."""
        sets = covariance_scores.set_columns(self.moments, subsets, self.moments.redundant(subsets))
        parts = (self._recorded_part(k, sets, subsets) for k in range(len(self.scales)))
        return np.stack([self._own(k, part, subsets) for k, part in enumerate(parts)], axis=-2)

    def _interaction_columns(self, subsets: Indices, recorded: Flags | None = None) -> Floats:
        """Columns that the interactions of all pairs of recorded features of sets would have."""
        widths = np.minimum(self.moments.widths, MOST_COLUMNS)
        own = widths[subsets] * (1.0 if recorded is None else recorded[subsets])
        own = own * ~self.moments.redundant(subsets, recorded)
        return np.asarray((own.sum(axis=1) ** 2 - (own**2).sum(axis=1)) / 2.0)

    def evidence(
        self, subsets: Indices, cohorts: Sequence[int] | None = None, alone: Floats | None = None
    ) -> Evidence:
        """What is known about listed sets of one size, in all subgroups or in some."""
        moments = self.moments
        cohorts = range(len(self.scales)) if cohorts is None else cohorts
        sets = covariance_scores.set_columns(moments, subsets, moments.redundant(subsets))
        recorded = recorded_all(moments.recorded[list(cohorts)], subsets)
        additive, freedom = self._shared(sets, subsets)
        shape = (*moments.rows.shape[:-1], *recorded.shape)
        own, pooled, part, fitted_part = (np.empty(shape) for _ in range(4))
        fitted_part[:] = freedom[..., None, :]
        for line, k in enumerate(cohorts):
            seen = self._recorded_part(k, sets, subsets)
            more = self._diffuse(k, subsets, moments.recorded[k])
            scores = self._own(k, seen, subsets) if alone is None else alone[..., k, :]
            own[..., line, :] = self.factor[..., k, None] * scores + more
            pooled[..., line, :] = self._on_scale(k, additive) + self._diffuse(k, subsets)
            part[..., line, :] = pooled[..., line, :]
            lacking = np.flatnonzero(~recorded[line])
            if len(lacking):
                seen = SetColumns(seen.columns[lacking], seen.position[lacking])
                of_part, free = self._shared(seen, subsets[lacking])
                fitted_part[..., line, lacking] = free
                part[..., line, lacking] = self._on_scale(k, of_part) + more[..., lacking]
        if self.cancelled is not None:
            here = moments.recorded[list(cohorts)][:, subsets]
            each = self.cancelled[..., None, subsets]
            pooled += each.sum(axis=-1)
            part += np.where(here, each, 0.0).sum(axis=-1)
        misfit = np.broadcast_to(self.misfit, moments.rows.shape)[..., list(cohorts), None]
        if subsets.shape[1] <= len(self.corrections):
            correction = self.corrections[subsets.shape[1] - 1]
            place = rank(subsets)
            factor = correction.factor[..., None, place]
            misfit = correction.misfit[..., place][..., list(cohorts), :]
            own = np.where(recorded, factor * own, own)
            part = np.where(recorded, factor * part, part)
            pooled = factor * pooled
        dimensions = self.dimensions[..., list(cohorts), None]
        return Evidence(
            own,
            part,
            pooled,
            recorded,
            fitted=freedom[..., None, :] * dimensions,
            fitted_part=fitted_part * dimensions,
            rows=np.maximum(moments.rows[..., list(cohorts)], 1.0),
            behind=1.0 / np.mean(1.0 / np.maximum(moments.recorded.sum(0), 1)[subsets], axis=1),
            row_variance=partial(_row_variance, [self.scales[k] for k in cohorts]),
            unit=self.scales[0].unit,
            misfit=misfit,
        )

    def means(self, subsets: Indices, cohort: int) -> Floats:
        """Estimates of listed sets of one size in one subgroup: all that a search needs."""
        evidence = self.evidence(subsets, [cohort])
        effects = self.effects.of([cohort])
        return np.asarray(posterior_of(evidence, effects, variances=False).mean[0])

    def _diffuse(self, cohort: int, subsets: Indices, recorded: Flags | None = None) -> Floats:
        """What weak interactions of recorded features explain: of many as much as of three."""
        columns = self._interaction_columns(subsets, recorded)
        counted = min(1.0, MOST_DIFFUSE / max(comb(subsets.shape[1], 2), 1))
        return np.multiply.outer(self.diffuse * self.dimensions[..., cohort], columns * counted)

    def posterior(self, subsets: Indices, *, variances: bool = True) -> Posterior:
        """Estimates of listed sets."""
        return self._posterior(self.evidence(subsets), subsets, None, variances=variances)

    def level(
        self, size: int, guesses: Floats | None = None, *, variances: bool = True
    ) -> Posterior:
        """Estimates of all sets of a size; `guesses` replace those that were not recorded."""
        subsets = level(self.moments.n_features, size)
        small = size <= len(self._small_levels)
        evidence = self._small_levels[size - 1] if small else self.evidence(subsets)
        return self._posterior(evidence, subsets, guesses, variances=variances)

    def _posterior(
        self, evidence: Evidence, subsets: Indices, guesses: Floats | None, *, variances: bool
    ) -> Posterior:
        """Estimates by what is known; interactions that `_diffuse` leaves out may add as much."""
        if not variances:
            return posterior_of(evidence, self.effects, guesses, variances=False)
        found = self._by_evidence(evidence, subsets, guesses)
        uncounted = 1.0 - min(1.0, MOST_DIFFUSE / max(comb(subsets.shape[1], 2), 1))
        beyond = self.diffuse * uncounted * self._interaction_columns(subsets)
        doubt = (self.dimensions[:, None] * beyond / HALF_WIDTH) ** 2
        return replace(found, variance=found.variance + doubt)

    def _by_evidence(
        self, evidence: Evidence, subsets: Indices, guesses: Floats | None = None
    ) -> Posterior:
        leverage = self._leverage[:, subsets].max(axis=-1)
        found = posterior_of(evidence, self.effects, guesses, leverage=leverage)
        # The variance of scores of joint tables is larger: they have more cells.
        cells = (self.moments.widths[subsets] + 1.0).prod(axis=1) - 1.0
        more = np.maximum(cells * self.dimensions[:, None] - evidence.fitted, 0.0)
        found = replace(found, noise=found.noise + more / (2.0 * evidence.rows[:, None] ** 2))
        return self._doubted(found, evidence, subsets)

    def variance_of_gain(self, smaller: Indices, larger: Indices) -> Floats:
        """The variance of what a set explains beyond a part of it, (n_cohorts, n_sets)."""
        less, evidence = self.evidence(smaller), self.evidence(larger)
        part, whole = self._by_evidence(less, smaller), self._by_evidence(evidence, larger)
        fitted = np.maximum(evidence.fitted - less.fitted, 0.0)
        gain = np.maximum(whole.mean - part.mean, 0.0)
        of_gain = evidence.samples(gain).variation(1.0 / evidence.rows[:, None], fitted)
        noise = np.maximum(evidence.noise(whole.mean), 1e-300)
        return np.maximum(whole.variance * of_gain / noise, whole.variance - part.variance)

    def contradictions(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Deviations of scores of features alone from those expected; both; 1 if not set apart."""
        # A subgroup that is set apart is held against what one of the others would explain.
        evidence, effects = self._small_levels[0], self.effects
        level = np.where(effects.like, effects.level, effects.level[effects.like].mean())
        expected = np.maximum(pooling.expected_of(evidence, replace(effects, level=level)), 0.0)
        like = effects.like.astype(np.float64)
        return pooling.deviations_of(evidence, expected), evidence.own, expected, like

    @cached_property
    def _small_levels(self) -> list[Evidence]:
        """What is known about all features, and about all pairs."""
        n_features, alone = self.moments.n_features, (*self.alone, None, None)
        sizes = range(1, min(n_features, 2) + 1)
        return [self.evidence(level(n_features, m), alone=alone[m - 1]) for m in sizes]

    @cached_property
    def effects(self) -> pooling.Effects:
        """What subgroups have in common, from all features and all pairs; of larger sets, too."""
        return pooling.effects_of(pooling.joined(self._small_levels), self.unlike)

    @cached_property
    def _leverage(self) -> Floats:
        """How much of the level of each subgroup is decided by sets of each feature."""
        n_features = self.moments.n_features
        sizes = range(1, len(self._small_levels) + 1)
        held = [np.eye(n_features)[level(n_features, size)].sum(axis=1) for size in sizes]
        return np.asarray(self.effects.share @ np.concatenate(held))

    def set_apart(self) -> "PopulationModel":
        """The same with subgroups that differ from the others hardly pooled with them (step 7)."""
        # Effects of opposite signs cancel each other in the pool, and in every subgroup scores are
        # above it: what the features of such effects explain is added.
        missed = cancelled(self._small_levels[0], self.effects, self._ceiling[..., 0])
        whole = replace(self, cancelled=missed) if missed.any() else self
        unlike = pooling.unlike_subgroups(pooling.joined(whole._small_levels), whole.effects)
        if (unlike != whole.effects.like).all():
            return whole
        moments = replace(self.moments, weights=self.moments.rows * np.where(unlike, LITTLE, 1.0))
        return replace(self, moments=moments, unlike=unlike).set_apart()

    def _doubted(self, posterior: Posterior, evidence: Evidence, subsets: Indices) -> Posterior:
        """Variances that allow for pairs recorded nowhere: between the better feature and both."""
        unknown = support_of(~self.moments.recorded, subsets) == SINGLES
        if not unknown.any() or subsets.shape[1] == 1:
            return posterior
        alone, together = (np.maximum(one.pooled, 0.0) for one in self._small_levels)
        two, there = level(self.moments.n_features, 2), self.moments.recorded.astype(np.float64)
        of_two = _reach(alone[:, two], together) * ((there.T @ there)[two[:, 0], two[:, 1]] == 0)
        pairs = (subsets[:, list(pair)] for pair in combinations(range(subsets.shape[1]), 2))
        reach = np.sum([of_two[:, rank(pair)] for pair in pairs], axis=0)
        reach = np.minimum(reach, _reach(alone[:, subsets], evidence.pooled))
        return replace(posterior, variance=posterior.variance + unknown * (reach / HALF_WIDTH) ** 2)

    def _shared(self, sets: SetColumns, subsets: Indices) -> tuple[Floats, Floats]:
        """Additive scores in the covariance that all subgroups share, and free columns of sets."""
        moments = self.moments
        found = additive_scores(
            self._white_shared, sets, subsets.shape[1], covariance_scores.POOL_RIDGE
        )
        chance = (found.freedom / moments.rows_recorded[..., subsets]).sum(axis=-1)
        return found.score - chance * moments.n_targets / 2.0, found.freedom.sum(axis=-1)

    @cached_property
    def _white_shared(self) -> Whitened:
        return covariance_scores.whitened(self.moments.shared, self.moments.n_targets)

    @cached_property
    def _white_own(self) -> list[Whitened]:
        cohorts = np.moveaxis(self.moments.own, -3, 0)
        return [covariance_scores.whitened(own, self.moments.n_targets) for own in cohorts]

    def _on_scale(self, cohort: int, additive: Floats) -> Floats:
        """Additive scores that all subgroups share as scores of a subgroup."""
        return np.asarray(self.pooled_factor)[..., None] * self.scales[cohort].score(additive)

    def _own(self, cohort: int, sets: SetColumns, subsets: Indices) -> Floats:
        """Scores from a subgroup's own covariance, of columns that it has."""
        rows = np.maximum(self.moments.rows[..., cohort], 1.0)
        found = additive_scores(self._white_own[cohort], sets, subsets.shape[1], OWN_RIDGE / rows)
        chance = (self.dimensions[..., cohort] / (2.0 * rows))[..., None]
        chance = found.freedom.sum(axis=-1) * chance
        return self.scales[cohort].score(found.score - chance)

    def _recorded_part(self, cohort: int, sets: SetColumns, subsets: Indices) -> SetColumns:
        """The columns of sets that a subgroup has."""
        observed = self.moments.observed[cohort]
        if observed.all():
            return sets
        if self.moments.determined.any():  # what determines others may not be recorded here
            redundant = self.moments.redundant(subsets, self.moments.recorded[cohort])
            sets = covariance_scores.set_columns(self.moments, subsets, redundant)
        there = (sets.columns >= 0) & observed[sets.columns]
        return SetColumns(np.where(there, sets.columns, -1), sets.position)


def largest_counted(n_features: int, n_rows: int) -> int:
    """The largest size of which all sets are counted to correct their scores; 0 for none."""
    sizes = range(min(n_features, LARGEST_COUNTED), 0, -1)
    few = (m for m in sizes if comb(n_features, m) <= MOST_COUNTED)
    return next((m for m in few if m < 3 or comb(n_features, m) * n_rows <= MOST_LOOKS), 0)


def _reach(alone: Floats, together: Floats) -> Floats:
    """How far a score may be off, were its features redundant, or not at all."""
    reach = np.maximum(alone.sum(axis=2) - together, together - alone.max(axis=2))
    return np.asarray(np.maximum(reach, 0.0))


def _row_variance(scales: Sequence[Scale], scores: Floats) -> Floats:
    """What single rows vary by, a line of scores for every subgroup."""
    lines = zip(scales, np.moveaxis(scores, -2, 0), strict=True)
    return np.stack([scale.row_variance(line) for scale, line in lines], axis=-2)


def _factor(sums: Floats, towards: Floats | float) -> Floats:
    """Counted over estimated scores, shrunk by what chance alone gives."""
    counted, own, chance = sums[0], sums[1], np.maximum(sums[2], 1e-12)
    found = (np.maximum(counted, 0.0) + towards * chance) / (np.maximum(own, 0.0) + chance)
    return np.asarray(np.clip(found, LEAST_FACTOR, MOST_FACTOR))


def _plain_moments(known: Known) -> Moments:
    return known.prepared(source_of).moments()
