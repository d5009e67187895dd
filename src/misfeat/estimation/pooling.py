"""Every subgroup's score, shrunk towards what all subgroups share, with the variance of its error.

Random effects, as in a meta-analysis: steps 7 to 9 of docs/explanation/population.md, with its
names. A score of f fitted columns (columns of features times those of the target) varies by v(x,
1/n) between samples of n rows, and by v(p, h) between subgroups, as if each were h = 1/n' of a
population. Where a subgroup lacks features of a set, x and p are those of the part that it
recorded, and what the others add to it is that of the pool.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from misfeat.estimation.moments import wide
from misfeat.runtime.array_types import Flags, Floats

ROUNDS = 6
FEW_COHORTS = 3  # up to so many subgroups say little about how much subgroups differ
SHARED_NOISE = 0.25  # the correlation of the noise of two sets of a subgroup, which share rows
LEAST_POOLED = 1e-9
LEAST_NOISE = 1e-18
LEAST_LEVEL, MOST_LEVEL = 0.02, 5.0
MOST_SPREAD = 0.05  # subgroups differ at most as samples of 20 rows do
MOST_SET_SPREAD = 0.2  # those that inform in some subgroups and not in others, of 5 rows
MOST_LEVERAGE = 0.7  # what a level hides of how subgroups differ in the sets that decide it
TAIL = 0.95  # where Student's distribution is held against the normal
FIRST_SPREAD, LEAST_SPREAD = 0.002, 1e-6
MOST_LEVELS_DIFFER = 1.0
DOUBT = 2.0  # how much the error of the spread counts against it
SPREAD_LEVEL = 0.85  # the spread is believed to be below its upper bound with this probability
PRIOR_SUBGROUPS = 4.0  # so many more agree with all sets on how much subgroups differ in one
BETWEEN_WAYS = 0.25  # this share of the squared distance to another way's prediction is variance
TINY = 1e-15
NOTHING = 1e-300
UNLIKE = 0.02  # how likely chance sets any subgroup apart from the others
OPPOSITE = 0.01  # how likely chance makes the effects of any feature seem to cancel each other
ABOVE, LEAST_ABOVE = 0.5, 0.01  # at least these shares of the pooled, and of the highest score
MOST_APART = 20  # subgroups; finding each takes a pool of its own
SURELY, LEAST_DIFFER = 2.0, 5e-4  # so many times the spread of the others, and more, is theirs
LINES: Any = {"axis": -1, "keepdims": True}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about listed sets of one size in all subgroups."""

    # Of shape (n_cohorts, n_sets), of several resamples at once (..., n_cohorts, n_sets): scores
    # from each subgroup's own covariance, of those features of a set that it recorded; from the
    # shared one of the same features, and of all features; where all were recorded, (n_cohorts,
    # n_sets); and how many columns are fitted, of a set and of the part.
    own: Floats
    part: Floats
    pooled: Floats
    recorded: Flags
    fitted: Floats
    fitted_part: Floats
    rows: Floats  # (n_cohorts,): rows of equal weight
    behind: Floats  # (n_sets,): how many subgroups recorded a feature of a set, on the mean
    # from scores to what single rows vary by, both of shape (n_cohorts, n_sets)
    row_variance: Callable[[Floats], Floats]
    unit: float = 1.0  # what chance gives for every fitted column, over 1 / 2n: 2 for R²
    misfit: Floats | float = 0.0  # by what share scores may be off: it is a model

    def samples(self, score: Floats) -> "Samples":
        """Samples of populations with these scores."""
        return Samples(self, self.row_variance(score))

    def noise(self, score: Floats) -> Floats:
        """The sampling variance of own scores, were these the population's."""
        return self.samples(score).noise()


class Samples(NamedTuple):
    """Samples of populations with known scores, and how scores of samples vary."""

    evidence: Evidence
    row_variance: Floats  # (n_cohorts, n_sets)

    def variation(self, h: Floats | float, fitted: Floats | None = None) -> Floats:
        """The variance of scores of samples of 1 / h rows each."""
        known = self.evidence
        null = known.unit**2 * (known.fitted if fitted is None else fitted) * h**2 / 2.0
        return null + self.row_variance * h

    def noise(self) -> Floats:
        """The variance of scores of samples of as many rows as each subgroup has."""
        return np.maximum(self.variation(1.0 / self.evidence.rows[..., None]), LEAST_NOISE)


def joined(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of sets of several sizes together."""
    names = ("own", "part", "pooled", "recorded", "fitted", "fitted_part", "behind")
    lists = {name: [getattr(part, name) for part in parts] for name in names}
    arrays: dict[str, Any] = {k: np.concatenate(v, axis=-1) for k, v in lists.items()}
    return replace(parts[0], **arrays)


@dataclass(frozen=True, eq=False)
class Effects:
    """What subgroups have in common, from many sets."""

    level: Floats  # (..., n_cohorts): how much features explain in a subgroup against all
    level_variance: Floats
    offset: Floats | float  # c, for every fitted column
    spread: Floats  # (..., n_cohorts): h, believed as far as leaving subgroups out leaves it alone
    largest_spread: Floats  # (..., n_cohorts): what h may be at most
    like: Flags  # (..., n_cohorts): which subgroups have h in common; others have their own
    of_others: Floats  # (..., n_cohorts): h of all others
    share: Floats  # (..., n_cohorts, n_sets): how much of its level each of the sets decides
    alone: bool = False  # whether there is one subgroup, which has nothing in common with others

    def of(self, cohorts: Sequence[int]) -> "Effects":
        """Those of some of the subgroups."""
        chosen = list(cohorts)
        names = ("level", "level_variance", "spread", "largest_spread", "like")
        parts: dict[str, Any] = {name: getattr(self, name)[..., chosen] for name in names}
        return replace(self, **parts)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Estimates of listed sets in all subgroups, all of shape (n_cohorts, n_sets)."""

    mean: Floats  # estimates, and the variances of their errors
    variance: Floats
    noise: Floats  # the sampling variance of scores that a subgroup counts from its own rows


def effects_of(evidence: Evidence, unlike: Flags | None = None) -> Effects:
    """What subgroups have in common, and of those set apart how far each differs from that."""
    n_cohorts = len(evidence.recorded)
    if n_cohorts == 1 or not evidence.recorded.any():
        nothing = np.zeros(n_cohorts)
        one, most, like = nothing + 1.0, nothing + MOST_SPREAD, nothing == 0.0
        spreads = (nothing, most, like, nothing, np.zeros_like(evidence.own))
        return Effects(one, nothing, 0.0, *spreads, alone=n_cohorts == 1)
    unlike = np.zeros(evidence.own.shape[:-1], dtype=bool) if unlike is None else unlike
    return _effects(evidence, ~unlike)


def unlike_subgroups(evidence: Evidence, effects: Effects) -> Flags:
    """Those known to differ from the others more than these do from each other, and the next."""
    n_cohorts, known = len(evidence.recorded), ~effects.like
    most = min(n_cohorts // 2 - 1, MOST_APART)
    if known.sum(axis=-1).max() >= most or not evidence.recorded.any():
        return known
    expected = np.maximum(expected_of(evidence, effects), 0.0)
    samples = evidence.samples(expected)
    between = samples.variation((SURELY * effects.of_others + LEAST_DIFFER)[..., None])
    share = np.sqrt(samples.noise() / (samples.noise() + between))
    off = np.abs(deviations_of(evidence, expected)) * share
    off = np.where(known, 0.0, off.max(axis=-1))
    least = -NormalDist().inv_cdf(UNLIKE / (2.0 * n_cohorts))
    return np.asarray(known | ((off == off.max(**LINES)) & (off > least)))


def cancelled(evidence: Evidence, effects: Effects, ceiling: Floats) -> Floats:
    """What features explain above the pool on the mean of all subgroups, where that is clear."""
    expected = np.maximum(expected_of(evidence, effects), 0.0)
    known = evidence.recorded & effects.like[..., None]
    weight = np.where(known, evidence.rows[..., None], 0.0)
    weight /= np.maximum(weight.sum(axis=-2, keepdims=True), 1.0)
    own = (weight * evidence.own).sum(axis=-2, keepdims=True)
    noise = evidence.noise(np.broadcast_to(np.maximum(own, 0.0), expected.shape))
    freedom = np.maximum(known.sum(axis=-2) - 1.0, 1.0)
    apart = (weight * (evidence.own - own) ** 2).sum(axis=-2) / freedom
    error = np.sqrt(np.maximum((weight**2 * noise).sum(axis=-2), apart))
    above = (weight * (evidence.own - expected)).sum(axis=-2)
    least = np.maximum(ABOVE * expected, LEAST_ABOVE * ceiling[..., None])
    least = (weight * least).sum(axis=-2) - NormalDist().inv_cdf(OPPOSITE / known.shape[-1]) * error
    return np.where((known.sum(axis=-2) > 1) & (above > least), above, 0.0)


def deviations_of(evidence: Evidence, expected: Floats) -> Floats:
    """How far own scores are from those expected; roots √(2nx + f) vary by 1 through sampling."""
    twice = 2.0 * evidence.rows[..., None] / evidence.unit
    own, pooled = (
        np.sqrt(twice * np.maximum(score, 0.0) + evidence.fitted)
        for score in (evidence.own, expected)
    )
    usual = (4.0 * twice * expected + 2.0 * evidence.fitted) / twice**2
    scale = np.sqrt(usual / np.maximum(evidence.noise(expected), NOTHING))
    return np.where(evidence.recorded, (own - pooled) * np.minimum(scale, 1.0), 0.0)


def _effects(evidence: Evidence, like: Flags) -> Effects:
    """Levels, offset and spread, each from the others in turns."""
    pooled = expected = np.maximum(evidence.pooled, LEAST_POOLED)
    part = 1.0 - 1.0 / len(evidence.recorded)
    spread = np.full(evidence.own.shape[:-1], FIRST_SPREAD)
    offset = np.zeros(spread.shape[:-1])
    samples, alike = evidence.samples(expected), evidence.recorded & like[..., None]
    for _ in range(ROUNDS):
        noise = samples.noise() + samples.variation(spread[..., None])
        of_columns = wide(offset) * evidence.fitted
        level, level_variance, share = _levels(evidence, noise, pooled, of_columns, like)
        # c, by least squares less its error, as if all sets of a subgroup erred alike.
        weight = np.where(alike, evidence.fitted / noise, 0.0)
        total = np.maximum((weight * evidence.fitted).sum(axis=(-2, -1)), NOTHING)
        error = np.sqrt(((weight * np.sqrt(noise)).sum(axis=-1) ** 2).sum(axis=-1)) / total
        above = weight * (evidence.own - level[..., None] * pooled)
        offset = np.asarray(np.maximum(above.sum(axis=(-2, -1)) / total - error, 0.0))
        expected = level[..., None] * pooled + wide(offset) * evidence.fitted
        samples = evidence.samples(expected)
        # Of each subgroup: what noise does not explain, and what a spread of 1 would make of it.
        noise, h = samples.noise(), spread[..., None]
        least = np.maximum(h, LEAST_SPREAD)
        between = samples.variation(least) / least
        shown = np.where(evidence.recorded, between / (noise + h * between + TINY) ** 2, 0.0)
        excess = (shown * ((evidence.own - expected) ** 2 - part * noise)).sum(axis=-1)
        scale = part * (shown * between).sum(axis=-1)
        of_like, known = np.where(like, excess, 0.0), np.where(like, scale, 0.0)
        mean = of_like.sum(**LINES) / np.maximum(known.sum(**LINES), NOTHING)
        spread = np.where(like, mean, np.maximum(excess / np.maximum(scale, NOTHING), mean))
        spread = np.clip(spread, 0.0, MOST_SPREAD)
    common = np.clip(mean[..., 0], 0.0, MOST_SPREAD)
    believed, most, of_others = _believed(of_like, known, common)
    most = np.where(like, most[..., None], np.maximum(spread, most[..., None]))
    spread = np.where(like, believed[..., None], spread)
    return Effects(level, level_variance, offset, spread, most, like, of_others, share)


def _levels(
    evidence: Evidence, noise: Floats, pooled: Floats, offset: Floats, like: Flags
) -> tuple[Floats, Floats, Floats]:
    """Levels by least squares through the origin, shrunk to their mean, and their variances."""
    # Those of subgroups set apart add nothing to it. Last, how much of it each set decides.
    weight = np.where(evidence.recorded, 1.0 / noise, 0.0)
    total = (weight * pooled**2).sum(axis=-1)
    known = total > 0
    share = weight * pooled / np.where(known, total, 1.0)[..., None]
    level = (share * (evidence.own - offset)).sum(axis=-1)
    apart = (share**2 * noise).sum(axis=-1)
    together = (share * np.sqrt(noise)).sum(axis=-1) ** 2
    variance = np.where(known, SHARED_NOISE * together + (1.0 - SHARED_NOISE) * apart, 0.0)
    alike = known & like
    weight = np.where(alike, 1.0 / np.maximum(variance, NOTHING), 0.0)
    centre = (weight * level).sum(**LINES) / np.maximum(weight.sum(**LINES), NOTHING)
    others = np.maximum(alike.sum(**LINES) - 1, 1)
    noisy = variance * others / (others + 1)
    between = np.where(alike, (level - centre) ** 2 - noisy, 0.0).sum(**LINES) / others
    between = np.where(alike.sum(**LINES) > 1, np.clip(between, 0.0, MOST_LEVELS_DIFFER), 0.0)
    # Believed as far as its sampling error allows: weak features alone say little about levels.
    error = 2.0 * np.where(alike, (between + noisy) ** 2, 0.0).sum(**LINES) / others**2
    believed = between**3 / np.maximum(between**2 + DOUBT * error, NOTHING)
    between = np.where(like, (between + believed) / 2.0, MOST_LEVELS_DIFFER)  # for intervals
    believed = np.where(like, believed, MOST_LEVELS_DIFFER)
    # Shrunk towards their mean, which is that of subgroups about which nothing is known.
    total = np.maximum(variance + believed, NOTHING)
    weight = np.where(alike, 1.0 / total, 0.0)
    certain = np.maximum(weight.sum(**LINES), NOTHING)
    centre = (weight * level).sum(**LINES) / certain
    pull = np.where(known, variance / total, 1.0)
    shrunk = np.where(known, level - pull * (level - centre), centre)
    shrunk = np.clip(shrunk, LEAST_LEVEL, MOST_LEVEL)
    decided = (1.0 - pull)[..., None] * share * pooled
    # Of what a subgroup's own level has a part in its estimate, and those of all others.
    part = weight / certain
    own = 1.0 - pull * (1.0 - part)
    others = part**2 * (variance + between)
    others = pull**2 * (others.sum(**LINES) - others)
    return shrunk, own**2 * variance + (1.0 - own) ** 2 * between + others, decided


def _believed(excess: Floats, scale: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """The spread as far as its jackknife error allows, an upper bound, and the spread of others."""
    from scipy.special import stdtrit

    shown = scale > 0
    n_shown, excess = shown.sum(axis=-1), np.where(shown, excess, 0.0)
    freedom = np.maximum(n_shown - 1.0, 1.0)
    of_others = (excess.sum(**LINES) - excess) / np.maximum(scale.sum(**LINES) - scale, NOTHING)
    left_out = of_others - np.where(shown, of_others, 0.0).sum(**LINES) / (freedom + 1.0)[..., None]
    error = np.sqrt(freedom / (freedom + 1.0) * np.where(shown, left_out**2, 0.0).sum(axis=-1))
    believed = spread**3 / np.maximum(spread**2 + DOUBT * error**2, NOTHING)
    most = np.minimum(spread + stdtrit(freedom, SPREAD_LEVEL) * error, MOST_SPREAD)
    alone = n_shown < 2  # one subgroup alone shows it
    believed, most = np.where(alone, spread, believed), np.where(alone, MOST_SPREAD, most)
    return believed, most, np.clip(of_others, 0.0, MOST_SPREAD)


def expected_of(evidence: Evidence, effects: Effects) -> Floats:
    """What all subgroups together lead one to expect in each."""
    pooled = np.maximum(evidence.pooled, LEAST_POOLED)
    return effects.level[..., None] * pooled + wide(effects.offset) * evidence.fitted


def posterior_of(
    evidence: Evidence,
    effects: Effects,
    guesses: Floats | None = None,
    *,
    variances: bool = True,
    leverage: Floats | float = 0.0,
) -> Posterior:
    """Estimates of listed sets in all subgroups, with the variances of their errors or without.

    `leverage` is how much of the level of each subgroup sets decide that share a feature with each.
    """
    # The formulas, and their names, are those of docs/explanation/population.md, steps 7 to 9.
    if effects.alone:
        noise = evidence.noise(evidence.own)
        return Posterior(evidence.own, noise, noise)
    level = effects.level[..., None]
    pooled, part = np.maximum(evidence.pooled, LEAST_POOLED), np.maximum(evidence.part, 0.0)
    expected = expected_of(evidence, effects)
    expected_part = level * part + wide(effects.offset) * evidence.fitted_part
    samples = evidence.samples(expected_part)
    noise = samples.noise()
    off = evidence.own - expected_part
    between = samples.variation(effects.spread[..., None], evidence.fitted_part)
    shrinkage = noise / (noise + between + TINY)
    mean = expected + (1.0 - shrinkage) * off
    lacking = ~evidence.recorded
    if not variances:
        unknown = np.full_like(mean, np.nan)
        return Posterior(
            mean if guesses is None else np.where(lacking, guesses, mean), *2 * (unknown,)
        )
    in_pool = 1.0 / np.maximum(evidence.recorded.sum(axis=0), 1)
    far = samples.variation(effects.largest_spread[:, None], evidence.fitted_part)
    variance = (1.0 - shrinkage) ** 2 * evidence.noise(expected_part + (1.0 - shrinkage) * off)
    variance += shrinkage * noise * in_pool + shrinkage**2 * np.minimum(far, off**2 + noise)
    gain = np.where(lacking, np.maximum(expected - expected_part, 0.0), 0.0)
    left = 1.0 - np.minimum(leverage, MOST_LEVERAGE)
    above = ((evidence.own - expected) / left) ** 2 - noise / left
    spread = _set_spreads(evidence, effects, expected, above)
    gains = evidence.samples(gain)
    added = gains.variation(spread, evidence.fitted - evidence.fitted_part)
    variance += np.where(lacking, added + gains.noise() / evidence.behind, 0.0)
    by_level = shrinkage * part + np.maximum(pooled - part, 0.0)
    variance += effects.level_variance[:, None] * by_level**2
    if guesses is not None:
        variance += np.where(lacking, BETWEEN_WAYS * (guesses - mean) ** 2, 0.0)
        mean = np.where(lacking, guesses, mean)
    variance += (evidence.misfit * mean) ** 2
    return Posterior(mean, variance, evidence.noise(mean))


def _set_spreads(evidence: Evidence, effects: Effects, expected: Floats, above: Floats) -> Floats:
    """How much subgroups may differ in single sets, by squares above noise of those recorded."""
    # So few say little about the tails, so that the spread is widened from a normal distribution to
    # Student's, which a further subgroup is predicted by.
    from scipy.special import stdtrit

    unit = evidence.samples(expected).variation(LEAST_SPREAD) / LEAST_SPREAD
    excess = above / np.maximum(unit, TINY)
    seen = np.where(evidence.recorded, np.clip(excess, 0.0, MOST_SET_SPREAD), 0.0).sum(axis=0)
    total = PRIOR_SUBGROUPS + evidence.recorded.sum(axis=0)
    wider = stdtrit(PRIOR_SUBGROUPS + evidence.behind - 1.0, TAIL) / NormalDist().inv_cdf(TAIL)
    most = effects.largest_spread[:, None]
    found = (PRIOR_SUBGROUPS * most + seen) / total * wider**2
    return np.asarray(np.where(effects.like[:, None], found, np.maximum(found, most)))
