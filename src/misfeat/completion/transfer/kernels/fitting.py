"""Donors' mean conditional distributions, raking, and iterative proportional fitting (IPF).

These are the pieces of steps B2 and B3. What is known for sure of a subset of cohort i that falls
into O, recorded, and Q, not, is n_i(o,y). What is predicted is P(q|o,y), kept as an array (cell of
O, cell of Q, class) over the cells of O that the cohort has rows in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.tables import part_cells
from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

BACK_OFF = 1.0
"""So many rows of the prior are added to every conditional distribution of a donor."""
EMPTY = 1e-9
"""Rows that a class without rows in a cell counts as, so that its shares stay defined."""
RAKING_SWEEPS = 8
FITTING_SWEEPS = 5


class Parts(NamedTuple):
    """Completed tables of parts of a subset, which its own table is fitted to.

    Attributes
    ----------
    tables : ndarray of shape (n_cells, n_classes)
        The tables of all parts, and of others between them.
    starts, n_cells : ndarray of int64 of shape (n_parts,)
        Part u has the lines ``starts[u]:starts[u] + n_cells[u]``.
    o_steps, q_steps : ndarray of int64 of shape (n_parts, n_o), (n_parts, n_q)
        The cell of a part is the sum of one number for o and one for q.
    """

    tables: NDArray[np.float64]
    starts: NDArray[np.int64]
    n_cells: NDArray[np.int64]
    o_steps: NDArray[np.int64]
    q_steps: NDArray[np.int64]


class DonorsMean(NamedTuple):
    """The donors' mean conditional distribution, as ``average + of_prior[o_cells] * prior``.

    The prior differs from cohort to cohort, the mean does not.

    Attributes
    ----------
    average : ndarray of shape (n_cells, n_classes)
        What the donors' rows say; no cells where there are no donors.
    of_prior : ndarray of shape (n_o, n_classes)
        How much of the prior is added.
    o_cells : ndarray of int64 of shape (n_cells,)
        The cell of O for every cell of the subset.
    """

    average: NDArray[np.float64]
    of_prior: NDArray[np.float64]
    o_cells: NDArray[np.int64]


@compiled
def donors_mean(tables, weights, cards, o_strides, n_o):
    """Σ_j w_j [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε]"""
    n_donors, _, n_classes = tables.shape
    o_cells = np.empty(cards.prod(), np.int64)
    part_cells(cards, o_strides, o_cells)
    n_cells = len(o_cells) if n_donors else 0
    average = np.zeros((n_cells, n_classes))
    of_prior = np.zeros((n_o, n_classes))
    sums = np.empty((n_o, n_classes))
    total = weights.sum()
    for d in range(n_donors):
        share = weights[d] / total
        sums[:] = 0.0
        for k in range(n_cells):
            for y in range(n_classes):
                sums[o_cells[k], y] += tables[d, k, y]
        for o in range(n_o):
            for y in range(n_classes):
                of_prior[o, y] += share * BACK_OFF / (sums[o, y] + BACK_OFF)
        for k in range(n_cells):
            for y in range(n_classes):
                average[k, y] += share * tables[d, k, y] / (sums[o_cells[k], y] + BACK_OFF)
    return DonorsMean(average, of_prior, o_cells)


@compiled
def rake_pair(target, first_a, wanted_a, wanted_b):
    """Fit a pair's table to its two margins with the target, in turns, ending on the second."""
    n_a, n_b = len(wanted_a), len(wanted_b)
    for _ in range(RAKING_SWEEPS):
        for turn in range(2):
            if (turn == 0) == first_a:
                _rake(target, n_b, n_b, 1, wanted_a)
            else:
                _rake(target, n_a, 1, n_b, wanted_b)


@compiled
def _rake(target, n_summed, kept_step, summed_step, wanted):
    """Scale a pair's table so that its sums over one of the two are as wanted."""
    for y in range(target.shape[1]):
        for k in range(len(wanted)):
            total = 0.0
            for v in range(n_summed):
                total += target[k * kept_step + v * summed_step, y]
            factor = wanted[k, y] / total if total > 1e-14 else 0.0
            for v in range(n_summed):
                target[k * kept_step + v * summed_step, y] *= factor


@compiled
def fit_conditional(shares, rows, parts, sweeps):
    """IPF of P(q|o,y) to the tables of parts, each sweep ending with the exact n_i(o,y).

    Parameters
    ----------
    shares : (n_o, n_q, n_classes)
        P(q|o,y), changed in place.
    rows : (n_o, n_classes)
        n_i(o,y).
    """
    values = np.empty(shares.shape)
    _spread_rows(shares, rows, values)
    factors = np.empty((parts.n_cells.max(), shares.shape[2]))
    for _ in range(sweeps):
        for u in range(len(parts.starts)):
            wanted = parts.tables[parts.starts[u] : parts.starts[u] + parts.n_cells[u]]
            _fit_part(values, wanted, parts.o_steps[u], parts.q_steps[u], factors)
        _divide_by_rows(values, shares)
        _spread_rows(shares, rows, values)


@compiled
def _spread_rows(shares, rows, values):
    """P(q|o,y) n_i(o,y)"""
    n_o, n_q, n_classes = shares.shape
    for o in range(n_o):
        for q in range(n_q):
            for y in range(n_classes):
                values[o, q, y] = shares[o, q, y] * (rows[o, y] + EMPTY)


@compiled
def _fit_part(values, wanted, o_steps, q_steps, factors):
    """Scale values so that they sum up to the table of one part."""
    n_o, n_q, n_classes = values.shape
    factors[: len(wanted)] = 0.0
    for o in range(n_o):
        for q in range(n_q):
            cell = o_steps[o] + q_steps[q]
            for y in range(n_classes):
                factors[cell, y] += values[o, q, y]
    for cell in range(len(wanted)):
        for y in range(n_classes):
            if factors[cell, y] > 1e-14:
                factors[cell, y] = wanted[cell, y] / factors[cell, y]
    for o in range(n_o):
        for q in range(n_q):
            cell = o_steps[o] + q_steps[q]
            for y in range(n_classes):
                values[o, q, y] *= factors[cell, y]


@compiled
def _divide_by_rows(values, shares):
    """Values as shares of one over Q; those of cells without rows stay as they were."""
    n_o, n_q, n_classes = shares.shape
    for o in range(n_o):
        for y in range(n_classes):
            total = 0.0
            for q in range(n_q):
                total += values[o, q, y]
            if total > 1e-14:
                for q in range(n_q):
                    shares[o, q, y] = values[o, q, y] / total
