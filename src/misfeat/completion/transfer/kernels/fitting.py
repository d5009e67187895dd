"""Donors' mean conditional distributions, raking, and iterative proportional fitting (IPF).

These are the pieces of steps B2 and B3. What is known for sure of a subset of cohort i that falls
into O, recorded, and Q, not, is n_i(o,y). What is predicted is P(q|o,y), kept as an array (cell of
O, cell of Q, class) over the cells of O that the cohort has rows in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.tables import LANES, part_cells
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

BACK_OFF = 1.0
"""So many rows of the prior are added to every conditional distribution of a donor."""
EMPTY = 1e-9
"""Rows that a class without rows in a cell counts as, so that its shares stay defined."""
LEAST_SUM = 1e-14
"""A sum that is not above this cannot be scaled."""
RAKING_SWEEPS = 8
FITTING_SWEEPS = 5


class Parts(NamedTuple):
    """Completed tables of parts of a subset, which its own table is fitted to.

    P(q|o,y) is taken as lines: all of the last members of Q that are in the part, and classes, make
    one line. Lines are those of every o and of every value of the other members of Q.

    Attributes
    ----------
    wanted : ndarray of shape (n_parts, most)
        The table of each part, line after line, from the beginning.
    sizes, lengths : ndarray of int64 of shape (n_parts,)
        The entries of each part's table, and of a line.
    o_lines, q_lines : ndarray of int64 of shape (n_parts, n_o), (n_parts, n_q)
        The line of a part is the sum of one number for o and one for the other members of Q.
    """

    wanted: NDArray[np.float64]
    sizes: NDArray[np.int64]
    lengths: NDArray[np.int64]
    o_lines: NDArray[np.int64]
    q_lines: NDArray[np.int64]


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
    """Σ_j w_j [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε], of tables with a donor a lane."""
    n_groups, n_cells, n_classes, _ = tables.shape
    o_cells = np.empty(cards.prod(), np.int64)
    part_cells(cards, o_strides, o_cells)
    average = np.zeros((n_cells if n_groups else 0, n_classes))
    of_prior = np.zeros((n_o, n_classes))
    factors, shares = np.empty((n_o * n_classes, LANES)), np.empty(LANES)
    total = weights.sum()
    for g in range(n_groups):
        for lane in range(LANES):
            donor = g * LANES + lane
            shares[lane] = weights[donor] / total if donor < len(weights) else 0.0
        _factors_of(tables[g].reshape(-1), o_cells, n_classes, shares, factors.reshape(-1))
        for o in range(n_o):
            for y in range(n_classes):
                of_prior[o, y] += BACK_OFF * _sum_of(factors[o * n_classes + y])
        for k in range(n_cells):
            for y in range(n_classes):
                line = factors[o_cells[k] * n_classes + y]
                average[k, y] += _sum_of_products(tables[g, k, y], line)
    return DonorsMean(average, of_prior, o_cells)


@compiled
def _factors_of(table, o_cells, n_classes, shares, factors):
    """w_j / [T_j(o,y) + ε] of every lane."""
    width = np.uint64(n_classes * LANES)
    factors[:] = BACK_OFF
    for k in range(np.uint64(len(o_cells))):
        line, of_o = k * width, np.uint64(o_cells[k]) * width
        for h in range(width):
            factors[of_o + h] += table[line + h]
    for line in range(0, len(factors), LANES):
        for lane in range(LANES):
            factors[line + lane] = shares[lane] / factors[line + lane]


@compiled_fast
def _sum_of(lanes):
    total = 0.0
    for lane in range(LANES):
        total += lanes[lane]
    return total


@compiled_fast
def _sum_of_products(lanes, factors):
    total = 0.0
    for lane in range(LANES):
        total += lanes[lane] * factors[lane]
    return total


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
            factor = wanted[k, y] / total if total > LEAST_SUM else 0.0
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
    flat = values.reshape(-1)
    factors = np.empty(parts.sizes.max())
    for _ in range(sweeps):
        for u in range(len(parts.sizes)):
            n_lines = values[0].size // parts.lengths[u]
            _fit_part(
                flat,
                parts.lengths[u],
                parts.wanted[u, : parts.sizes[u]],
                parts.o_lines[u],
                parts.q_lines[u, :n_lines],
                factors[: parts.sizes[u]],
            )
        _divide_by_rows(values, rows, shares)


@compiled
def _spread_rows(shares, rows, values):
    """P(q|o,y) n_i(o,y)"""
    n_o, n_q, n_classes = shares.shape
    for o in range(n_o):
        for q in range(n_q):
            for y in range(n_classes):
                values[o, q, y] = shares[o, q, y] * (rows[o, y] + EMPTY)


@compiled
def _fit_part(values, length, wanted, o_lines, q_lines, factors):
    """Scale values so that they sum up to the table of one part."""
    factors[:] = 0.0
    length, at = np.uint64(length), np.uint64(0)
    for o in o_lines:
        for q in q_lines:
            place = np.uint64(o + q) * length
            for h in range(length):
                factors[place + h] += values[at + h]
            at += length
    for h in range(len(wanted)):
        total = factors[h]
        factors[h] = wanted[h] / total if total > LEAST_SUM else total
    at = np.uint64(0)
    for o in o_lines:
        for q in q_lines:
            place = np.uint64(o + q) * length
            for h in range(length):
                values[at + h] *= factors[place + h]
            at += length


@compiled
def _divide_by_rows(values, rows, shares):
    """Values as shares of one over Q, and spread over the rows again.

    Shares of cells without rows stay as they were.
    """
    n_o, n_q, n_classes = shares.shape
    factors = np.empty(n_classes)
    for o in range(n_o):
        factors[:] = 0.0
        for q in range(n_q):
            for y in range(n_classes):
                factors[y] += values[o, q, y]
        for y in range(n_classes):
            if factors[y] > LEAST_SUM:
                factors[y] = 1.0 / factors[y]
            else:
                factors[y] = 1.0
                for q in range(n_q):
                    values[o, q, y] = shares[o, q, y]
        for q in range(n_q):
            for y in range(n_classes):
                share = values[o, q, y] * factors[y]
                shares[o, q, y] = share
                values[o, q, y] = share * (rows[o, y] + EMPTY)
