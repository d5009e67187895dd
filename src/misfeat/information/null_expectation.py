"""The null expectation of plug-in scores, and tables in which kernels look it up.

Keep the rows of a cohort and permute its classes over them. A cell of a rows then holds a
hypergeometric number of rows of each class, and with f(n) = n log n and

    T(a) = sum over the classes of E[f(n)],   n of a cell of a rows,

the mean score of a set is log N + [Σ T(cell) - Σ f(cell) - Σ f(class)] / N over its cells and the
classes, N being the rows of the cohort. A score above chance is the plug-in score less this mean:

    x(S) = [Σ over cells and classes of f(count) - Σ over cells of T(count)] / N.

A kernel that looks up T(total) in place of f(total) has it for the same work.

E[n log n] of a class of b rows is summed exactly where few rows are expected, which takes some √μ
steps for a mean of μ = a b / N. Where μ is large,

    E[n log n] = μ { ψ(a) + ψ(b) - ψ(N) + Σ_k |G_k| (k-1)! (N)_k / [(a)_k (b)_k] },

with ψ the digamma function, (x)_k = x (x+1) … (x+k-1) and G_k Gregory's coefficients, up to terms
of the order exp(-μ): E[n log n] = μ E[log (1 + n')], n' being the count of a cell with one row less
in a cohort with one row less, and log x = ψ(x) + Σ_k |G_k| (k-1)! / (x)_k.

Where rows have weights, a cell that weighs m is worth a = m / u + s rows of equal weight, at least
one (docs/how_to/weights.md, null expectation). With h(a) = log a - T(a) / a, the mean entropy of
the classes in a cell of a rows, T(m) = m log m - m h(a). All weights being the same, it is T.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from misfeat.runtime.array_types import Floats
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from misfeat.information.mutual_info import CompactRows

SERIES_FROM = 40.0  # expected rows from which on the series is exact to rounding
NEGLIGIBLE = 1e-20  # probabilities below this, measured by the largest one, end a sum
SERIES_TERMS = 14
SHORTEST_TABLE = 2**6
LONGEST_TABLE = 2**20  # f(c) = c log c is looked up below this count, and computed from there on
LONGEST_EXPECTATIONS = 2**16  # The same for null expectations: all that 16-bit counts need


def _series_factors(n_terms: int) -> np.ndarray:
    """|G_k| (k-1)! for k from 1 on, by the recurrence of Gregory's coefficients."""
    gregory = [1.0]
    for k in range(1, n_terms + 1):
        earlier = (g * (-1.0) ** (k - i) / (k - i + 1) for i, g in enumerate(gregory))
        gregory.append(-sum(earlier))
    return np.abs(gregory[1:]) * np.cumprod([1.0, *range(1, n_terms)])


_FACTORS = _series_factors(SERIES_TERMS)
_N_LOG_N = np.arange(256) * np.log(np.maximum(np.arange(256), 1))
"""Hardly any larger count is met where probabilities are summed."""


@compiled
def _digamma(x):
    """ψ(x), for x of at least `SERIES_FROM`."""
    square = 1.0 / (x * x)
    return np.log(x) - 0.5 / x - square * (1 / 12 - square * (1 / 120 - square * (1 / 252)))


@compiled
def sum_over_classes(by_class, n_rows):
    """Sum beforehand what the series needs of classes: a cell costs the same for any number."""
    # Gives the rows b of each class, largest first, and at place m sums over the first m of them:
    # of b, of b [ψ(b) - ψ(N)], and for every k of b |G_k| (k-1)! (N)_k / (b)_k.
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
    return sizes, rows, digammas, factors


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
def fill_expectations(totals, by_class, found):
    """Write the sum over classes of so many rows of E[n log n] for cells of so many."""
    n_rows = 0.0
    for y in range(len(by_class)):
        n_rows += by_class[y]
    sizes, rows, digammas, factors = sum_over_classes(by_class, n_rows)
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
def fill_null_entropies(rows, by_class, found):
    """Write h(a), the mean entropy of the classes in cells of so many rows."""
    fill_expectations(rows, by_class, found)
    for i in range(len(rows)):
        found[i] = np.log(rows[i]) - found[i] / rows[i] if rows[i] > 1 else 0.0


@compiled
def sum_of_weighted(masses, by_class, unit, shift, entropies):
    """T, summed over cells that weigh so much; `entropies` is h as far as a table reaches."""
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
        fill_null_entropies(ends, by_class, found)
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
def sum_of_expectations(totals, by_class):
    """The sum over the classes of E[n log n], summed over the listed cells."""
    found = np.empty(len(totals))
    fill_expectations(totals, by_class, found)
    total = 0.0
    for i in range(len(found)):
        total += found[i]
    return total


def expected_n_log_n(totals: ArrayLike, by_class: ArrayLike) -> Floats:
    """T(a) for totals: sum over the classes, which hold no fewer rows, of E[n log n] in a cell."""
    totals = np.asarray(totals, dtype=np.int64)
    different, places = np.unique(totals, return_inverse=True)
    found = np.empty(len(different))
    fill_expectations(different, np.ascontiguousarray(by_class, dtype=np.float64), found)
    return np.asarray(found[places].reshape(totals.shape))


def expected_n_log_n_weighted(totals: ArrayLike, by_class: ArrayLike) -> Floats:
    """T(a) for cells that hold so many rows of equal weight, whole or not."""
    totals, counts = np.asarray(totals, dtype=np.float64), np.asarray(by_class, dtype=np.float64)
    if (totals == np.floor(totals)).all() and (counts == np.floor(counts)).all():
        return expected_n_log_n(totals, counts)
    whole = np.diff(np.rint(np.cumsum(counts)), prepend=0.0)
    rows = np.clip(totals, 1.0, max(whole.sum(), 1.0))
    low = np.floor(rows)
    ends = np.stack([low, np.minimum(low + 1.0, max(whole.sum(), 1.0))])
    entropy = np.log(ends) - expected_n_log_n(ends, whole) / ends
    mean = entropy[0] + (rows - low) * (entropy[1] - entropy[0])
    return np.asarray(n_log_n(totals) - totals * mean)


def expected_information(totals: ArrayLike, by_class: ArrayLike) -> float:
    """The null expectation of the plug-in information, in nats, of a set with these cells."""
    totals = np.asarray(totals, dtype=np.int64)
    counts = np.asarray(by_class, dtype=np.float64)
    n_rows = counts.sum()
    if n_rows == 0:
        return 0.0
    parts = expected_n_log_n(totals, counts).sum() - n_log_n(totals).sum() - n_log_n(counts).sum()
    return float(np.log(n_rows) + parts / n_rows)


def n_log_n(counts: ArrayLike) -> Floats:
    """N log n of every count, 0 for none."""
    counts = np.asarray(counts, dtype=np.float64)
    return counts * np.log(np.where(counts > 0, counts, 1.0))


class Logs(NamedTuple):
    """Tables of f(c) = c log c, and of g, which stands for f where a cell is taken as a whole."""

    f: Floats  # of counts of one class, as far as a table is worth its memory
    g: Floats  # of totals of cells: f again, or its null expectation
    by_class: Floats  # rows of each class, for totals beyond g; empty where g is f
    small: Floats  # (2**16,): sums over words of small 16-bit counts (`small_cells`), or empty
    unit: float  # what a row of equal weight weighs, where cells hold weights; else 1
    shift: float  # how many more of such rows a cell is worth; else 0
    entropies: Floats  # h of cells of 0, 1, 2, … rows of equal weight, or empty


@compiled_fast
def c_log_c(count, f):
    """C log c, from the table as far as it reaches."""
    if count < len(f):
        return f[count]
    return count * np.log(np.float64(count))


def logs_of(rows: "CompactRows", lanes: int) -> Logs:
    """The tables for one cohort, whose cells have so many 16-bit lanes; 0: they have others."""
    f, none = log_table(rows.total), np.empty(0)
    if not rows.above_chance:
        return Logs(f, f, none, small_cells(lanes) if lanes else none, 1.0, 0.0, none)
    by_class = rows.by_class
    if rows.counts_rows:
        g, small = _null_tables(tuple(by_class.tolist()), lanes, rows.lacks_values)
        return Logs(f, g, by_class, small, 1.0, 0.0, none)
    # Rows of equal weight, to the nearest whole number.
    by_class = np.diff(np.rint(np.cumsum(by_class) / rows.unit), prepend=0.0)
    entropies = none if rows.lacks_values else _null_entropies(tuple(by_class.tolist()))
    return Logs(f, np.zeros(1), by_class, none, rows.unit, rows.shift, entropies)


def log_table(total: int) -> Floats:
    """f(c) = c log c for counts up to `total`, as far as a table is worth its memory."""
    return _log_table(min(max(1 << int(total).bit_length(), SHORTEST_TABLE), LONGEST_TABLE))


@lru_cache(maxsize=8)
def _log_table(length: int) -> Floats:
    return _kept(n_log_n(np.arange(length)))


@lru_cache(maxsize=4)
def small_cells(lanes: int) -> Floats:
    """Sums of f(c) = c log c over the lanes of a word whose counts are small, looked up as a whole.

    Two lanes of a cell below 256, or four below 16, are packed into 16 bits; the table holds the
    sum of f less f of the sum. Where a cell has more words than one, it holds the sum of f alone.
    """
    return _small_words(lanes, log_table(2**9))


def _small_words(lanes: int, g: Floats) -> Floats:
    """For every word of small counts the sum of f over its lanes, less g of their sum."""
    index = np.arange(2**16)
    bits, shifts = (8, (0, 8)) if lanes == 2 else (4, (0, 4, 8, 12))
    counts = [index >> shift & (2**bits - 1) for shift in shifts]
    joint = np.sum(log_table(2**9)[counts], axis=0)
    # No total exceeds the rows of the cohort, whatever g ends at.
    return _kept(joint if lanes > 4 else joint - g.take(np.sum(counts, axis=0), mode="clip"))


@lru_cache(maxsize=32)
def _null_tables(by_class: tuple[int, ...], lanes: int, differ: bool) -> tuple[Floats, Floats]:
    """Null expectations of totals, unless they `differ`, and words as in `small_cells`."""
    n_rows = int(sum(by_class))
    g = np.empty(1 + min(n_rows, 1 if differ else LONGEST_EXPECTATIONS - 1))
    fill_expectations(np.arange(len(g)), np.array(by_class, dtype=np.float64), g)
    return _kept(g), _small_words(lanes, g) if lanes else np.empty(0)


@lru_cache(maxsize=32)
def _null_entropies(by_class: tuple[float, ...]) -> Floats:
    """H of cells of 0, 1, 2, … rows."""
    found = np.empty(1 + min(int(sum(by_class)), LONGEST_EXPECTATIONS - 1))
    fill_null_entropies(np.arange(len(found)), np.array(by_class), found)
    return _kept(found)


def _kept(table: Floats) -> Floats:
    """The same table, which many share and none may change."""
    table.flags.writeable = False
    return table
