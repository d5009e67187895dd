"""The recipe of the posterior as it is, which the refined one is held against."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from misfeat.population.posterior import (
    NOTHING,
    ROUNDS,
    TINY,
    Evidence,
    Posterior,
    alone,
    known_pool,
    strength_of,
)

UNLUCKY = 0.15
"""Predicted sets allow for a spread that so unlikely a draw of few cohorts makes look small."""


def posterior_of(evidence: Evidence) -> Posterior:
    """The posterior of all sets of one size in all cohorts.

    Variances of recorded sets are v (1 - B (G - 1) / G) + 2 B² (x - a m)² / (G - 3) for G cohorts
    (Morris's correction for a prior that is itself estimated; G - 3 counts as at least 1). Those of
    predicted sets are spread* (a m)² + the variance of a m, spread* being as large as G cohorts may
    hide by chance.
    """
    if evidence.n_cohorts == 1:
        return alone(evidence)
    usable = evidence.usable
    n_cohorts, part = evidence.n_cohorts, (evidence.n_cohorts - 1) / evidence.n_cohorts
    x = np.where(usable, evidence.scores, 0.0)
    m = known_pool(evidence)
    v = evidence.variance_at(x)
    strength, spread = np.ones(n_cohorts), 0.0
    for _ in range(ROUNDS):
        weight = usable / (v + spread * evidence.between(strength[:, None] * m) + TINY)
        strength = strength_of(weight, m, x)[0]
        expected = strength[:, None] * m
        differ = evidence.between(expected)
        spread = _spread_of((x - expected) ** 2, v * part, differ, usable, part)
    shrinkage = np.where(usable, v / (v + spread * differ + TINY), 1.0)
    off = np.where(usable, x - expected, 0.0)
    recorded = v * (1.0 - shrinkage * part)
    recorded += 2.0 / max(n_cohorts - 3, 1) * shrinkage**2 * off**2
    wide = _unlucky_spread(off**2, v, differ, usable & ~evidence.predicted, spread)
    square = strength[:, None] ** 2
    precision = (usable * square / (v + wide * differ + TINY)).sum(axis=0)
    unseen = wide * differ + square / np.maximum(precision, NOTHING)
    nothing = np.isnan(evidence.pooled)
    return Posterior(
        mean=np.where(nothing, np.nan, expected + (1.0 - shrinkage) * off),
        variance=np.where(
            nothing, np.nan, np.where(evidence.predicted | ~usable, unseen, recorded)
        ),
        expected=np.where(nothing, np.nan, expected),
        shrinkage=shrinkage,
        strength=strength,
        spread=spread,
    )


def _spread_of(squares, noise, differ, usable, part):
    """The variance between cohorts over that of a spread of 1: what noise does not explain."""
    excess = (usable * (squares - noise)).sum()
    return max(0.0, float(excess / max((usable * differ).sum() * part, NOTHING)))


def _unlucky_spread(squares, v, differ, used, spread):
    """The spread that G cohorts would make look as small as it does in 15 draws of 100."""
    freedom = len(v) - 1
    part = freedom / len(v)
    few = 2.0 * float(gammaincinv(freedom / 2.0, UNLUCKY)) / freedom
    excess = squares[used].sum() / few - v[used].sum() * part
    return max(spread, float(excess / max(differ[used].sum() * part, NOTHING)))
