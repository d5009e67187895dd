"""The posterior with refinements, and variances that allow for having searched.

`posterior` says what the recipe is. Here

1. noise has the variance that the *expected* score would have. At the score itself, sets that look
   good by chance seem noisier and count less, which pulls every strength down;
2. strengths are pooled too. All sets of a cohort share its rows, so its strength is known about as
   well as the score of one set, and is drawn towards the cohorts' mean accordingly;
3. an offset: cohorts that differ tell more, each of its own, than their pool does;
4. the spread weighs sets by how well they show it, and is bounded: where nothing tells anything,
   the noise of many sets over next to nothing expected would pass for cohorts that differ wildly.
   It is believed as far as leaving cohorts out one by one leaves it alone: else scores are pooled.

Predicted scores say little about strengths and spread: they weigh a tenth of recorded ones, and the
pool of a set is as sure as the cohorts that recorded it make it.

The best-looking sets are those whose cohort looks strong by chance, so variances hold that of the
strength, and the spread as large as leaving cohorts out one by one says it may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import stdtrit

from misfeat.population.posterior import (
    NOTHING,
    ROUNDS,
    TINY,
    Posterior,
    alone,
    known_pool,
    strength_of,
)
from misfeat.population.regions import mixed_spread, within_regions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.population.posterior import Evidence

    Floats = NDArray[np.float64]

SHARED_NOISE = 0.25
"""The correlation of the noise of two sets of a cohort: they share rows and features."""
MOST_SPREAD = 0.5
"""Cohorts differ at most so much: a standard deviation of 70 % of what is expected."""
DOUBT = 2.0
"""How much the error of the spread counts against it."""
SPREAD_LEVEL = 0.85
"""The spread is believed to be below its upper bound with this probability."""
PREDICTED_WEIGHT = 0.1
"""What a predicted score weighs in strengths, spread and offset; a recorded one weighs 1."""
LEAST_WHOLE = 1e-3
"""A cohort with less than this share of what others have to tell says nothing of strengths."""
LEAST_VARIANCE = 1e-100
"""Keeps sums of strengths over their variances finite, whatever the strengths."""
LACKING_ALL = 3.5
"""How far cohorts differ counts so much for a prediction where a cohort recorded nothing of a set,
and with the square of the share that it lacks for others: what it recorded is its own."""
SHARED_WHERE_NOISY = 0.45
"""As `SHARED_NOISE`, of cohorts whose counts were given noise (`Evidence.noisy`)."""
NOISE_IN_COMMON = 0.7
"""What such cohorts' scores have in common is as uncertain as what is left of their noise in the
pool, times this: how much noise adds to scores is estimated from all of them together."""
BETWEEN_GUESSES = 0.25
"""The variance of a predicted score holds this share of its squared distance from the pool's."""


class _Fit(NamedTuple):
    expected: Floats
    strength: Floats
    strength_variance: Floats
    spread: float
    offset: float


def refined_posterior(evidence: Evidence) -> Posterior:
    """The posterior of all sets of one size in all cohorts.

    With x the score, p what is expected, v the sampling variance and G the cohorts that recorded a
    set (at least 1), the variance of a recorded score is

        (1 - B)² v + B² [ min(spread* p², (x - p)² + v) + var(a) m² ] + B w / G,

    spread* being an upper bound of the spread and w what is left of v in the pool, which shrinking
    rids of half of chance where counts are exact (`Evidence.left_in_pool`). That of a predicted
    score is 7/2 k² [ spread* p² + var(a) m² ] + w / G + (x - p)² / 4 where the cohort lacks a share
    k of the set, or between the two as far as it hangs on the cohort's own rows
    (`Evidence.carried`).
    For other measures than information, p² is what `Evidence.between` says. At `Evidence.noisy`
    cohorts, 1 / G is 1.7 times as large: the rest is noise that all cohorts have in common.

    Where cohorts lie in regions, p is what their own region leads one to expect (`regions`), whose
    variance is added. Predictions are carried over from all regions: as far as these differ, times
    k², they are doubted.

    Examples
    --------
    >>> from misfeat.population.posterior import Evidence
    >>> scores = np.array([[0.10, 0.02], [0.14, 0.00], [0.12, 0.01], [0.09, 0.02]])
    >>> known = Evidence(
    ...     scores,
    ...     null=np.full((4, 2), 1e-4),
    ...     n_rows=np.full(4, 100.0),
    ...     predicted=np.zeros((4, 2), dtype=bool),
    ...     pooled=np.array([0.11, 0.01]),
    ... )
    >>> refined_posterior(known).mean.round(3)
    array([[0.113, 0.012],
           [0.113, 0.012],
           [0.113, 0.012],
           [0.113, 0.012]])
    """
    if evidence.n_cohorts == 1:
        return alone(evidence)
    if evidence.regions is not None:
        spread = _fitted(within_regions(evidence, None, refined_posterior)).spread
        evidence = within_regions(evidence, mixed_spread(evidence, spread), refined_posterior)
    recorded = evidence.usable & ~evidence.predicted
    fit = _fitted(evidence)
    p = fit.expected
    off = np.where(evidence.usable, evidence.scores - p, 0.0)
    v = evidence.variance_at(p)
    differ = evidence.between(p)
    used = recorded if recorded.any() else evidence.usable
    shown = used * _shows_spread(v, differ, fit.spread)
    spread, largest = _believed(_spread_sums(off**2, v, differ, shown), fit.spread, evidence)
    largest = min(largest, evidence.most_spread)
    spread = min(spread, largest)
    elsewhere = evidence.from_elsewhere * differ
    doubted = v + elsewhere
    shrinkage = np.where(evidence.usable, doubted / (doubted + spread * differ + TINY), 1.0)
    mean = p + (1.0 - shrinkage) * off
    n_pooled = np.maximum(recorded.sum(axis=0), 1)
    far = largest * differ
    common = fit.strength_variance[:, None] * known_pool(evidence) ** 2
    stays = (1.0 + NOISE_IN_COMMON * evidence.is_noisy) / n_pooled
    v_mean = evidence.variance_at(mean)
    known = (1.0 - shrinkage) ** 2 * v_mean + shrinkage * evidence.left_in_pool(v_mean) * stays
    known += shrinkage**2 * (np.minimum(far, off**2 + v) + common)
    unseen = (far + common) * _doubt(evidence.lacking)
    unseen += evidence.left_in_pool(v) * stays + BETWEEN_GUESSES * off**2
    if evidence.pooled_variance is not None:
        known += shrinkage * evidence.pooled_variance
        unseen += evidence.pooled_variance + elsewhere
    variance = known + evidence.unseen * (unseen - known)
    nothing = np.isnan(evidence.pooled)
    return Posterior(
        mean=np.where(nothing, np.nan, mean),
        variance=np.where(nothing, np.nan, variance),
        expected=np.where(nothing, np.nan, p),
        shrinkage=shrinkage,
        strength=fit.strength,
        spread=spread,
        offset=fit.offset,
        largest_spread=largest,
    )


def _doubt(lacking: Floats | None) -> Floats | float:
    """How much more predictions are in doubt, the larger a share of a set a cohort lacks."""
    return 1.0 if lacking is None else LACKING_ALL * lacking**2


def _fitted(evidence: Evidence) -> _Fit:
    """Strengths, spread and offset, each from the others in turns."""
    usable = evidence.usable
    counted = usable * np.where(evidence.predicted, PREDICTED_WEIGHT, 1.0)
    x = np.where(usable, evidence.scores, 0.0)
    m = known_pool(evidence)
    shared = SHARED_NOISE + (SHARED_WHERE_NOISY - SHARED_NOISE) * evidence.is_noisy[:, 0]
    expected, spread, offset = np.broadcast_to(m, x.shape), 0.0, 0.0
    for _ in range(ROUNDS):
        v = evidence.variance_at(expected)
        weight = counted / (v + spread * evidence.between(expected) + TINY)
        own, own_variance = _own_strengths(weight, m, x - offset, v, shared)
        strength, strength_variance = _pooled_strengths(own, own_variance, evidence.whole)
        explained = strength[:, None] * m
        offset = float((weight * (x - explained)).sum() / max(weight.sum(), NOTHING))
        offset = max(0.0, offset)
        expected = explained + offset
        differ = evidence.between(expected)
        shown = counted * _shows_spread(v, differ, spread)
        excess, scale = _spread_sums((x - expected) ** 2, v, differ, shown)
        spread = _within(excess.sum() / max(scale.sum(), NOTHING), evidence.least_spread)
    return _Fit(expected, strength, strength_variance, spread, offset)


def _own_strengths(
    weight: Floats, m: Floats, x: Floats, v: Floats, shared: Floats
) -> tuple[Floats, Floats]:
    """Each cohort's strength by its own sets, and its sampling variance with noise that is shared.

    The variance of cohorts without any recorded set is infinite.
    """
    strength, weights = strength_of(weight, m, x)
    share = weight * m / np.where(weights > 0, weights, 1.0)[:, None]
    apart = (share**2 * v).sum(axis=1)
    together = (share * np.sqrt(v)).sum(axis=1) ** 2
    variance = shared * together + (1.0 - shared) * apart
    return strength, np.where(weights > 0, variance, np.inf)


def _pooled_strengths(own: Floats, variance: Floats, whole: Floats | None) -> tuple[Floats, Floats]:
    """Strengths drawn towards their mean (DerSimonian and Laird), and their variances.

    Where there is less to tell about the target, less is expected: by the root of it, between no
    difference and one in proportion, since tables are of both kinds.
    """
    if whole is not None:
        telling = whole > LEAST_WHOLE * whole.max(initial=0.0)
        root = np.sqrt(whole)
        share = np.where(telling, root, 1.0)
        told = np.where(telling, variance / share**2, np.inf)
        strength, strength_variance = _pooled_strengths(own / share, told, None)
        return root * strength, whole * strength_variance
    known = np.isfinite(variance)
    if not known.any():
        return np.ones_like(own), np.zeros_like(own)
    n_known = int(known.sum())
    weight = np.where(known, 1.0 / np.maximum(variance, LEAST_VARIANCE), 0.0)
    centre = (weight * own).sum() / weight.sum()
    between = 0.0
    if n_known > 1:
        noise = variance[known] * (n_known - 1) / n_known
        between = max(0.0, float(((own[known] - centre) ** 2 - noise).sum() / (n_known - 1)))
    return drawn_to_mean(own, variance, between)


def drawn_to_mean(own: Floats, variance: Floats, between: float) -> tuple[Floats, Floats]:
    """Estimates drawn towards their mean, and their variances: random effects.

    Estimates have a sampling variance, infinite where nothing is known, and what they estimate
    varies by `between`.

    Examples
    --------
    >>> drawn_to_mean(np.array([1.0, 3.0]), np.array([1.0, 1.0]), 1.0)
    (array([1.5, 2.5]), array([0.75, 0.75]))
    """
    known = np.isfinite(variance)
    weight = np.where(known, 1.0 / np.maximum(variance + between, LEAST_VARIANCE), 0.0)
    centre = (weight * own).sum() / weight.sum()
    pull = np.ones_like(own)
    pull[known] = variance[known] / np.maximum(variance[known] + between, LEAST_VARIANCE)
    drawn = own - pull * (own - centre)
    # variance (1 - pull), written so that it stays finite where nothing is known.
    return drawn, pull * between + pull**2 / weight.sum()


def _shows_spread(v: Floats, differ: Floats, spread: float) -> Floats:
    """How well a set shows the spread: one over the variance of what it says about it."""
    shown: Floats = differ / (v + spread * differ + TINY) ** 2
    return shown


def _spread_sums(
    squares: Floats, v: Floats, differ: Floats, shown: Floats
) -> tuple[Floats, Floats]:
    """Of each cohort: what noise does not explain, and what a spread of 1 would make of it."""
    part = (len(v) - 1) / len(v)
    excess = (shown * (squares - v * part)).sum(axis=1)
    scale = (shown * differ).sum(axis=1) * part
    return excess, scale


def _within(spread: float, least: float) -> float:
    return min(max(least, float(spread)), MOST_SPREAD)


def _believed(
    sums: tuple[Floats, Floats], spread: float, evidence: Evidence
) -> tuple[float, float]:
    """The spread as far as one may believe in it, and an upper bound, by its jackknife error."""
    least = evidence.least_spread
    excess, scale = (sums[0][sums[1] > 0], sums[1][sums[1] > 0])
    rest = scale.sum() - scale
    if len(scale) < 2 or not (rest > 0).all():  # one cohort alone shows it
        return max(least, spread), MOST_SPREAD
    freedom = len(scale) - 1
    left_out = (excess.sum() - excess) / rest
    error = float(np.sqrt(freedom / len(scale) * ((left_out - left_out.mean()) ** 2).sum()))
    believed = spread**3 / max(spread**2 + DOUBT * error**2, NOTHING)
    likely = _within(excess.sum() / scale.sum(), least)
    largest = likely + min(float(stdtrit(freedom, SPREAD_LEVEL)) * error, MOST_SPREAD)
    return max(least, believed), largest
