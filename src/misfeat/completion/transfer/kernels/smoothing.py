"""Step A: every donor's table, shrunk towards what its smaller tables lead one to expect.

Sizes are smoothed in turn: singles, pairs, triples. All donors of a subset share one strength of
shrinkage, because together they tell better whether there is anything beyond the smaller tables:
with X² the chi-square distance of the pooled counts from the pooled expectation, the strength is
[1 - dof / X²]₊ (James and Stein). Degrees of freedom that the smaller tables shrank away are added
to those of the subset itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.tables import (
    count_cells,
    donors_of,
    fit_rows,
    fit_to,
    part_cells,
    rank_of,
    strides_of,
)
from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST_EXPECTED = 1e-2
"""Cells with less expected rows than this do not enter a chi-square distance."""
SWEEPS = 4
"""Sweeps of the iterative proportional fitting that finds expected tables."""


class Smoothed(NamedTuple):
    """Smoothed tables of all subsets of one size.

    Attributes
    ----------
    subsets : ndarray of int64 of shape (n_subsets, size)
        Feature numbers, in the order of ranks.
    starts : ndarray of int64 of shape (n_subsets,)
        The first line of each subset's tables.
    tables : ndarray of shape (n_cohorts, n_cells, n_classes)
        T_j, with the target.
    rows : ndarray of shape (n_cohorts, n_cells)
        PX_j, without it.
    kept, kept_rows : ndarray of shape (n_subsets,)
        λ and λ0: the shares that were kept of the dependence on the target, and of the features'
        dependence on each other.
    """

    subsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    tables: NDArray[np.float64]
    rows: NDArray[np.float64]
    kept: NDArray[np.float64]
    kept_rows: NDArray[np.float64]


class Smaller(NamedTuple):
    """The subsets one smaller than a subset, by the member that they lack, the last one first.

    Attributes
    ----------
    smoothed : Smoothed
        The tables of all subsets of their size.
    ranks : ndarray of int64 of shape (n_smaller,)
        Their places among these.
    cells : ndarray of int64 of shape (n_smaller, n_cells)
        The cell of each of them for every cell of the subset.
    n_cells : ndarray of int64 of shape (n_smaller,)
        How many cells each has.
    """

    smoothed: Smoothed
    ranks: NDArray[np.int64]
    cells: NDArray[np.int64]
    n_cells: NDArray[np.int64]


@compiled
def shrinkage(distance, freedom):
    """[1 - dof / X²]₊"""
    return 1.0 - freedom / distance if 0.0 < freedom < distance else 0.0


@compiled
def smooth_singles(rows, counts, singles):
    """Step A for single features: λ(x) of C_j and the rest of E_j = n_j(x) n_j(y) / n_j."""
    n_classes = counts.shape[2]
    for f in range(len(rows.cards)):
        at, cells = singles.starts[f], rows.cards[f]
        tables = singles.tables[:, at : at + cells]
        donors = donors_of(singles.subsets[f], rows.missing)
        pooled = np.zeros((cells, n_classes))
        expected = np.zeros((cells, n_classes))
        for j in donors:
            table = counts[j, at : at + cells]
            tables[j] = _independent(table)
            pooled += table
            expected += tables[j]
        freedom = (_filled(pooled) - 1.0) * (n_classes - 1)
        singles.kept[f] = shrinkage(_distance(pooled, expected), freedom)
        shares = _shares(pooled, singles.kept[f])
        for j in donors:
            for k in range(cells):
                for y in range(n_classes):
                    e = tables[j, k, y]
                    tables[j, k, y] = e + shares[k] * (counts[j, at + k, y] - e)


@compiled
def smooth_pairs(rows, counts, singles, first, last, pairs):
    """Step A for the pairs first to last."""
    for s in range(first, last):
        pair = pairs.subsets[s]
        donors = donors_of(pair, rows.missing)
        if not len(donors):
            continue
        cards = rows.cards[pair]
        n_cells, at = cards[0] * cards[1], pairs.starts[s]
        cells = np.empty((2, n_cells), np.int64)
        for k in range(n_cells):
            cells[0, k], cells[1, k] = k // cards[1], k % cards[1]
        tables = np.empty((len(donors), n_cells, counts.shape[2]))
        shrunk_rows = np.empty((len(donors), n_cells))
        own = counts[donors, at : at + n_cells]
        smaller = Smaller(singles, pair, cells, cards)
        kept, kept_rows = _smooth(own, donors, cards, smaller, tables, shrunk_rows)
        pairs.kept[s], pairs.kept_rows[s] = kept, kept_rows
        for d in range(len(donors)):
            pairs.tables[donors[d], at : at + n_cells] = tables[d]
            pairs.rows[donors[d], at : at + n_cells] = shrunk_rows[d]


@compiled
def smoothed_triple(rows, triple, donors, pairs):
    """Step A for one triple: its donors' smoothed tables."""
    cards, strides = rows.cards[triple], np.empty(3, np.int64)
    n_cells, n_classes = strides_of(cards, strides), rows.by_class.shape[1]
    counts = np.zeros((len(donors), n_cells, n_classes))
    for d in range(len(donors)):
        count_cells(rows, donors[d], triple, strides, counts[d])
    members = np.array([[0, 1], [0, 2], [1, 2]])
    ranks, sizes = np.empty(3, np.int64), np.empty(3, np.int64)
    cells = np.empty((3, n_cells), np.int64)
    for u in range(3):
        a, b = members[u]
        steps = np.zeros(3, np.int64)
        steps[a], steps[b] = cards[b], 1
        part_cells(cards, steps, cells[u])
        ranks[u], sizes[u] = rank_of(triple[members[u]]), cards[a] * cards[b]
    tables = np.empty((len(donors), n_cells, n_classes))
    shrunk_rows = np.empty((len(donors), n_cells))
    _smooth(counts, donors, cards, Smaller(pairs, ranks, cells, sizes), tables, shrunk_rows)
    return tables


@compiled
def _smooth(counts, donors, cards, smaller, tables, rows):
    """The tables of one subset of two or more features, T_j = E'_j (1 - λ(x) + λ(x) C_j / E_j).

    Parameters
    ----------
    counts : (n_donors, n_cells, n_classes)
        C_j.
    tables, rows : (n_donors, n_cells, n_classes), (n_donors, n_cells)
        Get T_j and PX_j.

    Returns
    -------
    kept, kept_rows : float
        λ and λ0.
    """
    n_donors, n_cells, n_classes = counts.shape
    kept_rows = _smooth_rows(counts, donors, cards, smaller, rows)
    expected = np.empty((n_donors, n_cells, n_classes))
    own_rows = np.empty(n_cells)
    pooled = np.zeros((n_cells, n_classes))
    pooled_expected = np.zeros((n_cells, n_classes))
    for d in range(n_donors):
        for k in range(n_cells):
            own_rows[k] = counts[d, k].sum()
        _expect(expected[d], own_rows, donors[d], smaller)
        pooled += counts[d]
        pooled_expected += expected[d]
    freedom = _freedom(cards, smaller.smoothed.kept[smaller.ranks])
    freedom = freedom * (n_classes - 1) * _filled(pooled) / n_cells
    kept = shrinkage(_distance(pooled, pooled_expected), freedom)
    shares = _shares(pooled, kept)
    for d in range(n_donors):
        if kept_rows < 1.0:
            _expect(tables[d], rows[d], donors[d], smaller)
            _scale_towards(tables[d], counts[d], expected[d], shares)
        else:  # E' is E
            _mix(tables[d], counts[d], expected[d], shares)
    return kept, kept_rows


@compiled
def _scale_towards(table, counts, expected, shares):
    """E' (1 - λ(x) + λ(x) C / E), E' being what the table holds."""
    for k in range(len(table)):
        share = shares[k]
        for y in range(table.shape[1]):
            e = expected[k, y]
            ratio = counts[k, y] / e if e > 1e-9 else 1.0
            table[k, y] *= 1.0 - share + share * ratio


@compiled
def _mix(table, counts, expected, shares):
    """E + λ(x) (C - E)"""
    for k in range(len(table)):
        for y in range(table.shape[1]):
            e = expected[k, y]
            table[k, y] = e + shares[k] * (counts[k, y] - e)


@compiled
def _smooth_rows(counts, donors, cards, smaller, rows):
    """PX_j = PE_j + λ0 (n_j - PE_j), rows of every cell regardless of the target; returns λ0."""
    n_donors, n_cells = counts.shape[:2]
    lower = smaller.smoothed
    expected = np.ones((n_donors, n_cells, 1))
    sums = np.empty((smaller.n_cells.max(), 1))
    pooled = np.zeros((n_cells, 1))
    pooled_expected = np.zeros((n_cells, 1))
    for d in range(n_donors):
        for _ in range(SWEEPS):
            for u in range(len(smaller.ranks)):
                at = lower.starts[smaller.ranks[u]]
                wanted = lower.rows[donors[d], at : at + smaller.n_cells[u]]
                fit_to(expected[d], smaller.cells[u], wanted.reshape(-1, 1), sums)
        for k in range(n_cells):
            rows[d, k] = counts[d, k].sum()
            pooled[k, 0] += rows[d, k]
            pooled_expected[k, 0] += expected[d, k, 0]
    freedom = _freedom(cards, lower.kept_rows[smaller.ranks])
    kept = shrinkage(_distance(pooled, pooled_expected), freedom)
    for d in range(n_donors):
        for k in range(n_cells):
            rows[d, k] = kept * rows[d, k] + (1.0 - kept) * expected[d, k, 0]
    return kept


@compiled
def _expect(values, rows, donor, smaller):
    """E_j: fitted from nothing to the rows of cells and to the donor's smaller tables, in turns."""
    lower = smaller.smoothed
    sums = np.empty((smaller.n_cells.max(), values.shape[1]))
    values[:] = 1.0
    for _ in range(SWEEPS):
        fit_rows(values, rows)
        for u in range(len(smaller.ranks)):
            at = lower.starts[smaller.ranks[u]]
            wanted = lower.tables[donor, at : at + smaller.n_cells[u]]
            fit_to(values, smaller.cells[u], wanted, sums)


@compiled
def _freedom(cards, kept_of_smaller):
    """Π(c - 1) + Σ_lower (1 - λ_lower) Π_lower(c - 1)"""
    size = len(cards)
    freedom = 1.0
    for a in range(size):
        freedom *= cards[a] - 1.0
    for u in range(size):
        part = 1.0
        for a in range(size):
            # The smaller subsets are listed by the member that they lack, the last one first.
            if a != size - 1 - u:
                part *= cards[a] - 1.0
        freedom += (1.0 - kept_of_smaller[u]) * part
    return freedom


@compiled
def _filled(pooled):
    """How many cells have rows."""
    filled = 0
    for k in range(len(pooled)):
        filled += pooled[k].sum() > 0
    return filled


@compiled
def _distance(pooled, expected):
    """X² = Σ (ΣC_j - ΣE_j)² / ΣE_j"""
    total = 0.0
    for k in range(len(pooled)):
        for y in range(pooled.shape[1]):
            if expected[k, y] > LEAST_EXPECTED:
                total += (pooled[k, y] - expected[k, y]) ** 2 / expected[k, y]
    return total


@compiled
def _shares(pooled, kept):
    """λ(x) = n(x) / (n(x) + a), a = n̄ (1 - λ) / λ: cells with many rows are shrunk less."""
    shares = np.zeros(len(pooled))
    if kept > 0.0:
        a = pooled.sum() / len(pooled) * (1.0 - kept) / kept
        for k in range(len(pooled)):
            n = pooled[k].sum()
            if n + a > 0:
                shares[k] = n / (n + a)
    return shares


@compiled
def _independent(table):
    """The table that independence of the feature and the target would give."""
    expected = np.empty_like(table)
    by_class = np.zeros(table.shape[1])
    for k in range(len(table)):
        by_class += table[k]
    total = by_class.sum()
    for k in range(len(table)):
        rows = table[k].sum()
        for y in range(table.shape[1]):
            expected[k, y] = rows * by_class[y] / total if total > 0 else 0.0
    return expected
