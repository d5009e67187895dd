"""Step C: the plug-in score that the cohort's own number of rows would give on average.

And, where asked for, the same above chance: less what those rows would score on average, were their
classes dealt out at random.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Poisson(NamedTuple):
    """E[n log n] / λ of Poisson counts with means λ, tabulated in equal steps of log λ.

    Attributes
    ----------
    first_log, step_log : float
        The first log λ, and the step to the next.
    values : ndarray
        The values.
    """

    first_log: float
    step_log: float
    values: NDArray[np.float64]


@cache
def poisson_table() -> Poisson:
    """E[n log n] / λ of Poisson counts."""
    logs = np.linspace(np.log(1e-4), np.log(400.0), 1200)
    means, n = np.exp(logs), np.arange(2, 700)
    probability = np.exp(n * logs[:, None] - means[:, None] - gammaln(n + 1))
    values = (probability * (n * np.log(n))).sum(axis=1) / means
    return Poisson(float(logs[0]), float(logs[1] - logs[0]), values)


@compiled
def expected_score(shares, rows, poisson):
    """The mean plug-in score if rows fell into cells of Q as P(q|o,y) says, and its variance.

    MI = log N + [Σ E φ(n_oqy) - Σ E φ(n_oq) - Σ φ(n_y)] / N with φ(n) = n log n. The variance is
    that of the sum over rows of log P(y|o,q) to first order, given which o and y a row has. Third
    comes Σ E φ(n_oqy) / N; less what `expected_chance` gives, it is the score above chance.
    """
    n_o, n_q, n_classes = shares.shape
    with_class, without_class, total = 0.0, 0.0, 0.0
    by_class = np.zeros(n_classes)
    for o in range(n_o):
        for q in range(n_q):
            mean, variance = 0.0, 0.0
            for y in range(n_classes):
                n, p = rows[o, y], shares[o, q, y]
                if n > 0 and p > 0:
                    with_class += _mean_n_log_n(n * p, 1.0 - p, poisson)
                    mean += n * p
                    variance += n * p * (1.0 - p)
                    by_class[y] += n * p
            if mean > 0:
                without_class += _mean_n_log_n(mean, variance / mean, poisson)
    classes = 0.0
    for y in range(n_classes):
        if by_class[y] > 0:
            classes += by_class[y] * np.log(by_class[y])
        for o in range(n_o):
            total += rows[o, y]
    score = np.log(total) + (with_class - without_class - classes) / total
    return score, _variance(shares, rows, total), with_class / total


@compiled
def expected_chance(shares, rows, poisson):
    """Σ E φ(m_oqy) / N, m_oqy the rows of class y in a cell whose rows have random classes.

    Of n rows of mean λ and variance r λ, a share π of one class has mean π λ and variance
    π² r λ + π (1 - π) λ, that is, π r + 1 - π times its mean. (Every row is dealt its class by
    itself, not from a stock that runs out, which makes chance larger by (n_classes - 1) / 2N.)
    """
    n_o, n_q, n_classes = shares.shape
    by_class = np.zeros(n_classes)
    for o in range(n_o):
        for y in range(n_classes):
            by_class[y] += rows[o, y]
    total = by_class.sum()
    chance = 0.0
    for o in range(n_o):
        for q in range(n_q):
            mean, variance = 0.0, 0.0
            for y in range(n_classes):
                n, p = rows[o, y], shares[o, q, y]
                mean += n * p
                variance += n * p * (1.0 - p)
            if mean > 0:
                for y in range(n_classes):
                    share = by_class[y] / total
                    spread = share * variance / mean + 1.0 - share
                    chance += _mean_n_log_n(mean * share, spread, poisson)
    return chance / total


@compiled
def _variance(shares, rows, total):
    """Σ n_i(o,y) Var[log P(y|o,q)] / N², q drawn from P(q|o,y)."""
    n_o, n_q, n_classes = shares.shape
    variance = 0.0
    logs = np.empty((n_q, n_classes))
    for o in range(n_o):
        for q in range(n_q):
            cell = 0.0
            for y in range(n_classes):
                cell += rows[o, y] * shares[o, q, y]
            for y in range(n_classes):
                n = rows[o, y] * shares[o, q, y]
                logs[q, y] = np.log(n / cell) if n > 0 else 0.0
        for y in range(n_classes):
            if rows[o, y] > 0:
                mean, square = 0.0, 0.0
                for q in range(n_q):
                    mean += shares[o, q, y] * logs[q, y]
                    square += shares[o, q, y] * logs[q, y] ** 2
                variance += rows[o, y] * max(square - mean**2, 0.0)
    return variance / total**2


@compiled
def _mean_n_log_n(mean, spread, poisson):
    """E φ ≈ λ log λ + r (F(λ) - λ log λ), λ the mean, r variance over mean (at most 1)."""
    if mean <= 1e-12 or (spread <= 1e-9 and mean <= 1.0):
        return 0.0
    certain = mean * np.log(mean)
    if spread <= 1e-9:
        return max(certain, 0.0)
    poisson = _poisson_n_log_n(mean, poisson)
    return max(certain + spread * (poisson - certain), 0.0)


@compiled
def _poisson_n_log_n(mean, poisson):
    """F(λ), E[n log n] of a Poisson count: tabulated between its two limits."""
    if mean <= 1e-4:
        return mean * mean * 0.6931
    if mean >= 399.0:
        return mean * np.log(mean) + 0.5 + 1.0 / (12.0 * mean)
    place = (np.log(mean) - poisson.first_log) / poisson.step_log
    k = int(place)
    part = place - k
    return mean * (poisson.values[k] * (1.0 - part) + poisson.values[k + 1] * part)
