"""Step A: every donor's table, shrunk towards what its smaller tables lead one to expect.

Sizes are smoothed in turn: singles, pairs, triples. All donors of a subset share one strength of
shrinkage, because together they tell better whether there is anything beyond the smaller tables:
with X² the chi-square distance of the pooled counts from the pooled expectation, the strength is
[1 - dof / X²]₊ (James and Stein). Degrees of freedom that the smaller tables shrank away are added
to those of the subset itself.
"""

from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.kernels.tables import fit_rows, fit_to
from misfeat.machine.compiling import compiled

LEAST_EXPECTED = 1e-2
"""Cells with less expected rows than this do not enter a chi-square distance."""


@compiled
def shrinkage(distance, freedom):
    """[1 - dof / X²]₊"""
    return 1.0 - freedom / distance if 0.0 < freedom < distance else 0.0


@compiled
def smooth_singles(counts, starts, cards, missing, tables, kept):
    """Smoothed tables of single features with the target, towards independence of both.

    `kept[f]` becomes the strength of feature f: the share of its dependence that is kept.
    """
    n_classes = counts.shape[2]
    for f in range(len(cards)):
        at, cells = starts[f], cards[f]
        pooled = np.zeros((cells, n_classes))
        expected = np.zeros((cells, n_classes))
        for j in range(len(counts)):
            if not missing[j, f]:
                table = counts[j, at : at + cells]
                tables[j, at : at + cells] = _independent(table)
                pooled += table
                expected += tables[j, at : at + cells]
        filled = 0
        for k in range(cells):
            filled += pooled[k].sum() > 0
        kept[f] = shrinkage(_distance(pooled, expected), (filled - 1.0) * (n_classes - 1))
        shares = _shares(pooled, kept[f])
        for j in range(len(counts)):
            if not missing[j, f]:
                for k in range(cells):
                    for y in range(n_classes):
                        e = tables[j, at + k, y]
                        tables[j, at + k, y] = e + shares[k] * (counts[j, at + k, y] - e)


@compiled
def smooth_larger(
    counts,
    donors,
    cards,
    lower_starts,
    lower_cells,
    lower_sizes,
    lower_tables,
    lower_rows,
    lower_kept,
    lower_kept_rows,
    sweeps,
    tables,
    rows,
):
    """Smoothed tables of one subset of two or more features, in the cohorts that recorded it.

    Parameters
    ----------
    counts : (n_donors, n_cells, n_classes)
        The donors' tables.
    lower_* : one entry for every subset one smaller
        Where its tables start in `lower_tables` and `lower_rows`, its cell for every cell of the
        subset, how many cells it has, its strengths.
    tables, rows : results
        Smoothed tables with the target, and without it.

    Returns
    -------
    kept, kept_rows : float
        The strengths: of the dependence on the target, and of the features on each other.
    """
    n_donors, n_cells, n_classes = counts.shape
    kept_rows = _smooth_rows(
        counts, donors, cards, lower_starts, lower_cells, lower_sizes, lower_rows,
        lower_kept_rows, sweeps, rows,
    )  # fmt: skip
    expected = np.empty((n_donors, n_cells, n_classes))
    sums = np.empty((lower_sizes.max(), n_classes))
    plain_rows = np.empty(n_cells)
    pooled = np.zeros((n_cells, n_classes))
    pooled_expected = np.zeros((n_cells, n_classes))
    for d in range(n_donors):
        for k in range(n_cells):
            plain_rows[k] = counts[d, k].sum()
        _expect(
            expected[d], plain_rows, donors[d], lower_starts, lower_cells, lower_sizes,
            lower_tables, sweeps, sums,
        )  # fmt: skip
        pooled += counts[d]
        pooled_expected += expected[d]
    filled = 0
    for k in range(n_cells):
        filled += pooled[k].sum() > 0
    freedom = _freedom(cards, lower_kept) * (n_classes - 1) * filled / n_cells
    kept = shrinkage(_distance(pooled, pooled_expected), freedom)
    shares = _shares(pooled, kept)
    for d in range(n_donors):
        if kept_rows < 1.0:
            _expect(
                tables[d], rows[d], donors[d], lower_starts, lower_cells, lower_sizes,
                lower_tables, sweeps, sums,
            )  # fmt: skip
        for k in range(n_cells):
            share = shares[k]
            for y in range(n_classes):
                e, count = expected[d, k, y], counts[d, k, y]
                if kept_rows < 1.0:
                    ratio = count / e if e > 1e-9 else 1.0
                    tables[d, k, y] *= 1.0 - share + share * ratio
                else:
                    tables[d, k, y] = e + share * (count - e)
    return kept, kept_rows


@compiled
def _smooth_rows(
    counts, donors, cards, lower_starts, lower_cells, lower_sizes, lower_rows, lower_kept_rows,
    sweeps, rows,
):  # fmt: skip
    """How many rows each cell has regardless of the target, shrunk; returns the strength."""
    n_donors, n_cells = counts.shape[:2]
    expected = np.ones((n_donors, n_cells, 1))
    sums = np.empty((lower_sizes.max(), 1))
    pooled = np.zeros((n_cells, 1))
    pooled_expected = np.zeros((n_cells, 1))
    for d in range(n_donors):
        for _ in range(sweeps):
            for u in range(len(lower_starts)):
                at = lower_starts[u]
                wanted = lower_rows[donors[d], at : at + lower_sizes[u]]
                fit_to(expected[d], lower_cells[u], wanted.reshape(-1, 1), sums)
        for k in range(n_cells):
            rows[d, k] = counts[d, k].sum()
            pooled[k, 0] += rows[d, k]
            pooled_expected[k, 0] += expected[d, k, 0]
    kept = shrinkage(_distance(pooled, pooled_expected), _freedom(cards, lower_kept_rows))
    for d in range(n_donors):
        for k in range(n_cells):
            rows[d, k] = kept * rows[d, k] + (1.0 - kept) * expected[d, k, 0]
    return kept


@compiled
def _expect(
    values, rows, donor, lower_starts, lower_cells, lower_sizes, lower_tables, sweeps, sums
):
    """Fit a table from nothing to its rows and to the donor's smaller tables, in turns."""
    values[:] = 1.0
    for _ in range(sweeps):
        fit_rows(values, rows)
        for u in range(len(lower_starts)):
            at = lower_starts[u]
            wanted = lower_tables[donor, at : at + lower_sizes[u]]
            fit_to(values, lower_cells[u], wanted, sums)


@compiled
def _freedom(cards, lower_kept):
    """Π(c - 1), and as much of every subset one smaller as was shrunk away there."""
    size = len(cards)
    freedom = 1.0
    for a in range(size):
        freedom *= cards[a] - 1.0
    for u in range(size):
        part = 1.0
        for a in range(size):
            # The subsets one smaller are listed by the member that they lack, the last one first.
            if a != size - 1 - u:
                part *= cards[a] - 1.0
        freedom += (1.0 - lower_kept[u]) * part
    return freedom


@compiled
def _distance(pooled, expected):
    total = 0.0
    for k in range(len(pooled)):
        for y in range(pooled.shape[1]):
            if expected[k, y] > LEAST_EXPECTED:
                total += (pooled[k, y] - expected[k, y]) ** 2 / expected[k, y]
    return total


@compiled
def _shares(pooled, kept):
    """The strength of every cell, n / (n + a): cells with many rows are shrunk less."""
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
