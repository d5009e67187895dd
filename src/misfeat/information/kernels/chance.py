"""E[n log n] of a hypergeometric count: exact sums where few rows are expected, a series beyond.

A cell of a rows is dealt its classes from a cohort of N rows, b of them of one class. The number n
of that class in the cell is hypergeometric with mean μ = a b / N. Summing n log n over its
probabilities takes some √μ steps. Where μ is large,

    E[n log n] = μ { ψ(a) + ψ(b) - ψ(N) + Σ_k |G_k| (k-1)! (N)_k / [(a)_k (b)_k] },

with ψ the digamma function, (x)_k = x (x+1) … (x+k-1) and G_k Gregory's coefficients, up to terms
of the order exp(-μ). It follows from E[n log n] = μ E[log (1 + n')], n' being the count of a cell
with one row less in a cohort with one row less; from log x = ψ(x) + Σ_k |G_k| (k-1)! / (x)_k; and
because the means of ψ(1 + n') and of 1 / (1 + n')_k are known but for the chance that n' is small.

Where rows have weights, a cell that weighs m is worth a = m / u + s rows of equal weight, at least
one: u is what such a row weighs, and s = 1 - (effective rows) / (rows), because the first row of a
cell is worth a whole one, whatever it weighs. With h(a) = log a - T(a) / a, the mean entropy of the
classes in a cell of a rows, chance gives

    T(m) = m log m - m h(a),

h between whole numbers of rows being taken in proportion. All weights being the same, it is T.

Sums of E[n log n] over classes are wanted, and what depends on b stands apart from what depends on
a: it is summed over the classes beforehand, so that a cell costs the same for any number of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
_N_LOG_N = np.arange(256) * np.log(np.maximum(np.arange(256), 1))
"""Hardly any larger count is met where probabilities are summed."""


class Classes(NamedTuple):
    """The classes of a cohort, largest first, and sums over the first m of them at place m.

    Attributes
    ----------
    n_rows : float
        Rows of the cohort.
    sizes : ndarray of shape (n_classes,)
        Rows of each class.
    rows : ndarray of shape (n_classes + 1,)
        Sums of b.
    digammas : ndarray of shape (n_classes + 1,)
        Sums of b [ψ(b) - ψ(N)].
    factors : ndarray of shape (n_classes + 1, SERIES_TERMS)
        Sums of b |G_k| (k-1)! (N)_k / (b)_k.
    """

    n_rows: float
    sizes: NDArray[np.float64]
    rows: NDArray[np.float64]
    digammas: NDArray[np.float64]
    factors: NDArray[np.float64]


@compiled
def _digamma(x):
    """ψ(x), for x of at least `SERIES_FROM`."""
    square = 1.0 / (x * x)
    return np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252)))


@compiled
def sum_over_classes(by_class, n_rows):
    """Sum beforehand what the series needs of classes that have so many rows."""
    n_classes = len(by_class)
    sizes = np.empty(n_classes)
    for y in range(n_classes):  # insertion: classes are few, and np.sort takes long to compile
        at = y
        while at > 0 and sizes[at - 1] < by_class[y]:
            sizes[at] = sizes[at - 1]
            at -= 1
        sizes[at] = by_class[y]
    rows = np.zeros(n_classes + 1)
    digammas = np.zeros(n_classes + 1)
    factors = np.zeros((n_classes + 1, SERIES_TERMS))
    for y in range(n_classes):
        size = sizes[y]
        if size < SERIES_FROM:
            break
        rows[y + 1] = rows[y] + size
        digammas[y + 1] = digammas[y] + size * (_digamma(size) - _digamma(n_rows))
        ratio = size
        for k in range(SERIES_TERMS):
            ratio *= (n_rows + k) / (size + k)
            factors[y + 1, k] = factors[y, k] + _FACTORS[k] * ratio
    return Classes(n_rows, sizes, rows, digammas, factors)


@compiled
def by_series(cell, m, n_rows, rows, digammas, factors):
    """The sum of E[n log n] over the first m classes, of each of which many rows are expected."""
    total = rows[m] * _digamma(cell) + digammas[m]
    negligible = 1e-16 * rows[m]
    ratio = 1.0
    for k in range(SERIES_TERMS):
        ratio /= cell + k
        term = factors[m, k] * ratio
        total += term
        if term < negligible:
            break
    return cell / n_rows * total


@compiled
def _n_log_n(n):
    return _N_LOG_N[np.int64(n)] if n < len(_N_LOG_N) else n * np.log(n)


@compiled
def by_summing(cell, n_class, n_rows):
    """E[n log n] of one class: probabilities from the most probable count outwards, normalized."""
    others = n_rows - cell - n_class
    lowest = max(0.0, -others)
    highest = min(cell, n_class)
    mode = min(max(np.floor((cell + 1.0) * (n_class + 1.0) / (n_rows + 2.0)), lowest), highest)
    mass = 1.0
    total = _n_log_n(mode)
    n, p = mode, 1.0
    while n < highest and p > NEGLIGIBLE:
        p *= (cell - n) * (n_class - n) / ((n + 1.0) * (others + n + 1.0))
        n += 1.0
        mass += p
        total += p * _n_log_n(n)
    n, p = mode, 1.0
    while n > lowest and p > NEGLIGIBLE:
        p *= n * (others + n) / ((cell - n + 1.0) * (n_class - n + 1.0))
        n -= 1.0
        mass += p
        total += p * _n_log_n(n)
    return total / mass


@compiled
def fill_chance(totals, by_class, found):
    """Write the sum over the classes of E[n log n] for cells of so many rows.

    `by_class` holds the rows of every class in the cohort, as floats.
    """
    n_rows = 0.0
    for y in range(len(by_class)):
        n_rows += by_class[y]
    # Taking an array out of a tuple counts a reference, too dear for every cell.
    _, sizes, rows, digammas, factors = sum_over_classes(by_class, n_rows)
    for i in range(len(totals)):
        cell = np.float64(totals[i])
        found[i] = 0.0
        if cell <= 1.0:
            continue
        m = 0
        while m < len(sizes) and sizes[m] * cell >= SERIES_FROM * n_rows:
            m += 1
        if m > 0:
            found[i] = by_series(cell, m, n_rows, rows, digammas, factors)
        for y in range(m, len(sizes)):
            if sizes[y] > 0.0:
                found[i] += by_summing(cell, sizes[y], n_rows)


@compiled
def entropy_by_chance(rows, by_class, found):
    """Write h(a), the mean entropy of the classes in cells of so many rows."""
    fill_chance(rows, by_class, found)
    for i in range(len(rows)):
        found[i] = np.log(rows[i]) - found[i] / rows[i] if rows[i] > 1 else 0.0


@compiled
def sum_of_weighted_chance(masses, by_class, unit, shift, entropies):
    """What chance gives, summed over cells that weigh so much.

    `by_class` holds whole rows of equal weight; `entropies` is h as far as a table reaches.
    """
    most = 0.0
    for y in range(len(by_class)):
        most += by_class[y]
    ends = np.empty(2 * len(masses), dtype=np.int64)
    between = np.empty(len(masses))
    beyond = False
    for i in range(len(masses)):
        rows = min(max(masses[i] / unit + shift, 1.0), max(most, 1.0))
        ends[2 * i] = np.int64(np.floor(rows))
        ends[2 * i + 1] = min(ends[2 * i] + 1, np.int64(max(most, 1.0)))
        between[i] = rows - ends[2 * i]
        beyond = beyond or ends[2 * i + 1] >= len(entropies)
    found = np.empty(len(ends))
    if beyond:
        entropy_by_chance(ends, by_class, found)
    else:
        for i in range(len(ends)):
            found[i] = entropies[ends[i]]
    total = 0.0
    for i in range(len(masses)):
        mass = np.float64(masses[i])
        if mass > 0.0:
            entropy = found[2 * i] + between[i] * (found[2 * i + 1] - found[2 * i])
            total += mass * (np.log(mass) - entropy)
    return total


@compiled
def sum_of_chance(totals, by_class):
    """The sum over the classes of E[n log n], summed over the listed cells."""
    found = np.empty(len(totals))
    fill_chance(totals, by_class, found)
    total = 0.0
    for i in range(len(found)):
        total += found[i]
    return total
