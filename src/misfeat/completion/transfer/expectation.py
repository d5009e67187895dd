"""Step C: the plug-in score that the cohort's own number of rows would give on average.

And, where asked for, the same above chance: less what those rows would score on average, were their
classes permuted.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Poisson(NamedTuple):
    """E[n log n] / λ of Poisson counts with means λ, tabulated in equal steps of log λ."""

    first_log: float  # The first log λ, and how many steps log λ takes to grow by one
    steps_a_log: float
    values: NDArray[np.float64]  # The values


@cache
def poisson_table() -> Poisson:
    """E[n log n] / λ of Poisson counts."""
    logs = np.linspace(np.log(1e-4), np.log(400.0), 1200)
    means, n = np.exp(logs), np.arange(2, 700)
    probability = np.exp(n * logs[:, None] - means[:, None] - gammaln(n + 1))
    values = (probability * (n * np.log(n))).sum(axis=1) / means
    return Poisson(float(logs[0]), float(1.0 / (logs[1] - logs[0])), values)


@compiled
def expected_score(shares, rows, poisson):
    """The mean plug-in score if rows fell into cells of Q as P(q|o,y) says, and its variance.

    MI = log N + [Σ E φ(n_oqy) - Σ E φ(n_oq) - Σ φ(n_y)] / N with φ(n) = n log n. The variance is
    that of the sum over rows of log P(y|o,q) to first order, given which o and y a row has.
    """
    n_o, n_q, n_classes = shares.shape
    with_class, without_class, total, variance = 0.0, 0.0, 0.0, 0.0
    by_class, logs = np.zeros(n_classes), np.zeros(n_classes)
    means, squares = np.empty(n_classes), np.empty(n_classes)
    for o in range(n_o):
        means[:] = 0.0
        squares[:] = 0.0
        for q in range(n_q):
            mean, spread = 0.0, 0.0
            for y in range(n_classes):
                n, p = rows[o, y], shares[o, q, y]
                logs[y] = 0.0
                if n * p > 0:
                    logs[y] = np.log(n * p)
                    with_class += _mean_n_log_n(n * p, logs[y], 1.0 - p, poisson)
                    mean += n * p
                    spread += n * p * (1.0 - p)
                    by_class[y] += n * p
            if mean > 0:
                log = np.log(mean)
                without_class += _mean_n_log_n(mean, log, spread / mean, poisson)
                for y in range(n_classes):
                    if rows[o, y] * shares[o, q, y] > 0:
                        means[y] += shares[o, q, y] * (logs[y] - log)
                        squares[y] += shares[o, q, y] * (logs[y] - log) ** 2
        for y in range(n_classes):
            if rows[o, y] > 0:
                variance += rows[o, y] * max(squares[y] - means[y] ** 2, 0.0)
                total += rows[o, y]
    classes = 0.0
    for y in range(n_classes):
        if by_class[y] > 0:
            classes += by_class[y] * np.log(by_class[y])
    score = np.log(total) + (with_class - without_class - classes) / total
    return score, variance / total**2


@compiled
def expected_above_chance(shares, rows, poisson):
    """The mean score above chance: Σ E φ(n_oqy) / N less Σ E φ(m_oqy) / N.

    m_oqy are the rows of class y in a cell whose rows have random classes. Of n rows of mean λ and
    variance r λ, a share π of one class has mean π λ and variance π² r λ + π (1 - π) λ, that is,
    π r + 1 - π times its mean. (Every row is given its class by itself, not from a stock that runs
    out, which makes chance larger by (n_classes - 1) / 2N.)
    """
    n_o, n_q, n_classes = shares.shape
    by_class = np.zeros(n_classes)
    for o in range(n_o):
        for y in range(n_classes):
            by_class[y] += rows[o, y]
    total = by_class.sum()
    of_all, logs = by_class / total, np.zeros(n_classes)
    for y in range(n_classes):
        if of_all[y] > 0:
            logs[y] = np.log(of_all[y])
    score, chance = 0.0, 0.0
    for o in range(n_o):
        for q in range(n_q):
            mean, variance = 0.0, 0.0
            for y in range(n_classes):
                n, p = rows[o, y], shares[o, q, y]
                if n * p > 0:
                    score += _mean_n_log_n(n * p, np.log(n * p), 1.0 - p, poisson)
                    mean += n * p
                    variance += n * p * (1.0 - p)
            if mean > 0:
                log, ratio = np.log(mean), variance / mean
                for y in range(n_classes):
                    share = of_all[y]
                    spread = share * ratio + 1.0 - share
                    chance += _mean_n_log_n(mean * share, log + logs[y], spread, poisson)
    return (score - chance) / total


@compiled
def _mean_n_log_n(mean, log, spread, poisson):
    """E φ ≈ λ log λ + r (F(λ) - λ log λ), λ the mean, r variance over mean (at most 1)."""
    if mean <= 1e-12 or (spread <= 1e-9 and mean <= 1.0):
        return 0.0
    certain = mean * log
    if spread <= 1e-9:
        return max(certain, 0.0)
    poisson = _poisson_n_log_n(mean, log, poisson)
    return max(certain + spread * (poisson - certain), 0.0)


@compiled
def _poisson_n_log_n(mean, log, poisson):
    """F(λ), E[n log n] of a Poisson count: tabulated between its two limits."""
    if mean <= 1e-4:
        return mean * mean * 0.6931
    if mean >= 399.0:
        return mean * log + 0.5 + 1.0 / (12.0 * mean)
    place = (log - poisson.first_log) * poisson.steps_a_log
    k = int(place)
    part = place - k
    return mean * (poisson.values[k] * (1.0 - part) + poisson.values[k + 1] * part)


class Completed(NamedTuple):
    """What is found out about the subsets of one size that cohorts lack a member of."""

    # (n_cohorts, n_subsets): expected plug-in scores, their sampling variance, and scores above
    # chance, these without columns where they are not asked for; NaN where nothing is lacking
    score: NDArray[np.float64]
    variance: NDArray[np.float64]
    above: NDArray[np.float64]
    starts: NDArray[np.int64]  # (n_subsets + 1,): the first line of each subset's table
    # (n_cohorts, n_cells, n_classes): counts where recorded, else expected; none where not kept
    tables: NDArray[np.float64]
    informed: NDArray[np.bool_]  # (n_cohorts, n_subsets): whether larger subsets are fitted to it


@compiled
def note_score(i, s, shares, rows, poisson, completed):
    """Step C for subset s of cohort i, given P(q|o,y) and n_i(o,y)."""
    score, variance = expected_score(shares, rows, poisson)
    completed.score[i, s], completed.variance[i, s] = score, variance
    if completed.above.shape[1]:
        completed.above[i, s] = expected_above_chance(shares, rows, poisson)
