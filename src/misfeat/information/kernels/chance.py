"""E[n log n] of a hypergeometric count: exact sums where few rows are expected, a series beyond.

A cell of a rows is dealt its classes from a cohort of N rows, b of them of one class. The number n
of that class in the cell is hypergeometric with mean μ = a b / N. Summing n log n over its
probabilities takes some √μ steps. Where μ is large,

    E[n log n] = μ { ψ(a) + ψ(b) - ψ(N) + Σ_k |G_k| (k-1)! (N)_k / [(a)_k (b)_k] },

with ψ the digamma function, (x)_k = x (x+1) … (x+k-1) and G_k Gregory's coefficients, up to terms
of the order exp(-μ). It follows from E[n log n] = μ E[log (1 + n')], n' being the count of a cell
with one row less in a cohort with one row less; from log x = ψ(x) + Σ_k |G_k| (k-1)! / (x)_k; and
because the means of ψ(1 + n') and of 1 / (1 + n')_k are known but for the chance that n' is small.
"""

from __future__ import annotations

import numpy as np

from misfeat.machine.compiling import compiled

SERIES_FROM = 40.0
"""Expected rows from which on the series is exact to rounding."""
NEGLIGIBLE = 1e-20
"""Probabilities below this, measured by the largest one, end a sum."""
SERIES_TERMS = 14


def _series_factors(n_terms: int) -> np.ndarray:
    """|G_k| (k-1)! for k from 1 on, by the recurrence of Gregory's coefficients."""
    gregory = [1.0]
    for k in range(1, n_terms + 1):
        earlier = (g * (-1.0) ** (k - i) / (k - i + 1) for i, g in enumerate(gregory))
        gregory.append(-sum(earlier))
    factorials = np.cumprod([1.0, *range(1, n_terms)])
    return np.abs(gregory[1:]) * factorials


_FACTORS = _series_factors(SERIES_TERMS)


@compiled
def _digamma(x):
    """ψ(x), for x of at least `SERIES_FROM`."""
    square = 1.0 / (x * x)
    return np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252)))


@compiled
def _by_series(cell, n_class, n_rows, digammas):
    """The series; `digammas` is ψ(a) + ψ(b) - ψ(N), parts of which are the same for many cells."""
    mean = cell * n_class / n_rows
    total = digammas
    ratio = 1.0
    for k in range(SERIES_TERMS):
        ratio *= (n_rows + k) / ((cell + k) * (n_class + k))
        term = _FACTORS[k] * ratio
        total += term
        if term < 1e-16:
            break
    return mean * total


@compiled
def _by_summing(cell, n_class, n_rows):
    """Probabilities by recurrence from the most probable count outwards, over their sum."""
    others = n_rows - cell - n_class
    lowest = max(0.0, -others)
    highest = min(cell, n_class)
    mode = min(max(np.floor((cell + 1.0) * (n_class + 1.0) / (n_rows + 2.0)), lowest), highest)
    mass = 1.0
    total = mode * np.log(mode) if mode > 1.0 else 0.0
    n, p = mode, 1.0
    while n < highest and p > NEGLIGIBLE:
        p *= (cell - n) * (n_class - n) / ((n + 1.0) * (others + n + 1.0))
        n += 1.0
        mass += p
        if n > 1.0:
            total += p * n * np.log(n)
    n, p = mode, 1.0
    while n > lowest and p > NEGLIGIBLE:
        p *= n * (others + n) / ((cell - n + 1.0) * (n_class - n + 1.0))
        n -= 1.0
        mass += p
        if n > 1.0:
            total += p * n * np.log(n)
    return total / mass


@compiled
def chance_of_total(cell, by_class):
    """Sum over the classes of E[n log n] for a cell of so many rows.

    `by_class` holds the rows of every class in the cohort, as floats.
    """
    n_rows = by_class.sum()
    return _sum_over_classes(np.float64(cell), by_class, n_rows, _digammas_of(by_class, n_rows))


@compiled
def fill_chance(totals, by_class, found):
    """Write `chance_of_total` of every listed total."""
    n_rows = by_class.sum()
    digammas = _digammas_of(by_class, n_rows)
    for i in range(len(totals)):
        found[i] = _sum_over_classes(np.float64(totals[i]), by_class, n_rows, digammas)


@compiled
def _digammas_of(by_class, n_rows):
    """ψ(b) - ψ(N) for every class that is large enough to need it."""
    digammas = np.zeros(len(by_class))
    for y in range(len(by_class)):
        if by_class[y] >= SERIES_FROM:
            digammas[y] = _digamma(by_class[y]) - _digamma(n_rows)
    return digammas


@compiled
def _sum_over_classes(cell, by_class, n_rows, digammas):
    if cell <= 1.0:
        return 0.0
    own = _digamma(cell) if cell >= SERIES_FROM else 0.0
    total = 0.0
    for y in range(len(by_class)):
        n_class = by_class[y]
        if n_class * cell >= SERIES_FROM * n_rows:
            total += _by_series(cell, n_class, n_rows, own + digammas[y])
        elif n_class > 0.0:
            total += _by_summing(cell, n_class, n_rows)
    return total


@compiled
def chance_at(total, table, by_class):
    """Sum over the classes of E[n log n], from the table as far as it reaches."""
    if total < len(table):
        return table[total]
    return chance_of_total(total, by_class)
