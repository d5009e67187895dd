"""Steps B2, B3 and C: a table that a cohort never recorded, and the score it would have given.

A subset S of cohort i falls into O, recorded, and Q, not. What is known for sure is n_i(o,y). What
is predicted is P(q|o,y), kept as an array (cell of O, cell of Q, class) over the cells of O that
the cohort has rows in.
"""

from __future__ import annotations

import numpy as np

from misfeat.machine.compiling import compiled

BACK_OFF = 1.0
"""So many rows of the prior are added to every conditional distribution of a donor."""
EMPTY = 1e-9
"""Rows that a class without rows in a cell counts as, so that its shares stay defined."""
RAKING_SWEEPS = 8


@compiled
def average_conditional(tables, weights, o_cells, n_o, average, of_prior):
    """Donors' mean of [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε], in two parts.

    It is `average` + `of_prior` x prior: the prior differs from cohort to cohort, these do not.
    """
    n_donors, n_cells, n_classes = tables.shape
    average[:n_cells] = 0.0
    of_prior[:n_o] = 0.0
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


@compiled
def rake_pair(target, n_a, n_b, first_a, wanted_a, wanted_b):
    """Fit a pair's table to its two margins with the target, in turns, ending on the second."""
    for _ in range(RAKING_SWEEPS):
        for turn in range(2):
            if (turn == 0) == first_a:
                _rake(target, n_a, n_b, n_b, 1, wanted_a)
            else:
                _rake(target, n_b, n_a, 1, n_b, wanted_b)


@compiled
def _rake(target, n_kept, n_summed, kept_step, summed_step, wanted):
    for y in range(target.shape[1]):
        for k in range(n_kept):
            total = 0.0
            for v in range(n_summed):
                total += target[k * kept_step + v * summed_step, y]
            factor = wanted[k, y] / total if total > 1e-14 else 0.0
            for v in range(n_summed):
                target[k * kept_step + v * summed_step, y] *= factor


@compiled
def fit_conditional(shares, rows, targets, target_starts, target_sizes, o_steps, q_steps, sweeps):
    """Fit P(q|o,y) to tables of parts of S, each sweep ending with the exact rows n_i(o,y).

    Parameters
    ----------
    shares : (n_o, n_q, n_classes)
        P(q|o,y), changed in place.
    rows : (n_o, n_classes)
        n_i(o,y).
    targets : (n_cells, n_classes)
        Tables of parts; `target_starts` and `target_sizes` say which lines.
    o_steps, q_steps : (n_targets, n_o), (n_targets, n_q)
        The cell of a part is the sum of one number for o and one for q.
    """
    n_o, n_q, n_classes = shares.shape
    values = np.empty((n_o, n_q, n_classes))
    for o in range(n_o):
        for q in range(n_q):
            for y in range(n_classes):
                values[o, q, y] = shares[o, q, y] * (rows[o, y] + EMPTY)
    factors = np.empty((target_sizes.max(), n_classes))
    for _ in range(sweeps):
        for u in range(len(target_starts)):
            factors[: target_sizes[u]] = 0.0
            for o in range(n_o):
                for q in range(n_q):
                    cell = o_steps[u, o] + q_steps[u, q]
                    for y in range(n_classes):
                        factors[cell, y] += values[o, q, y]
            for cell in range(target_sizes[u]):
                for y in range(n_classes):
                    if factors[cell, y] > 1e-14:
                        factors[cell, y] = targets[target_starts[u] + cell, y] / factors[cell, y]
            for o in range(n_o):
                for q in range(n_q):
                    cell = o_steps[u, o] + q_steps[u, q]
                    for y in range(n_classes):
                        values[o, q, y] *= factors[cell, y]
        for o in range(n_o):
            for y in range(n_classes):
                total = 0.0
                for q in range(n_q):
                    total += values[o, q, y]
                for q in range(n_q):
                    if total > 1e-14:
                        shares[o, q, y] = values[o, q, y] / total
                    values[o, q, y] = shares[o, q, y] * (rows[o, y] + EMPTY)


@compiled
def expected_score(shares, rows, table, first_log, step_log):
    """The mean plug-in score if rows fell into cells of Q as P(q|o,y) says, and its variance.

    MI = log N + [Σ E f(n_oqy) - Σ E f(n_oq) - Σ f(n_y)] / N with f(n) = n log n. The variance is
    that of the sum over rows of log P(y|o,q) to first order, given which o and y a row has.
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
                    with_class += _mean_n_log_n(n * p, 1.0 - p, table, first_log, step_log)
                    mean += n * p
                    variance += n * p * (1.0 - p)
                    by_class[y] += n * p
            if mean > 0:
                without_class += _mean_n_log_n(mean, variance / mean, table, first_log, step_log)
    classes = 0.0
    for y in range(n_classes):
        if by_class[y] > 0:
            classes += by_class[y] * np.log(by_class[y])
        for o in range(n_o):
            total += rows[o, y]
    score = np.log(total) + (with_class - without_class - classes) / total
    return score, _variance(shares, rows, total)


@compiled
def _variance(shares, rows, total):
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
def _mean_n_log_n(mean, spread, table, first_log, step_log):
    """E[n log n] of a count with this mean, and this variance over mean (at most 1)."""
    if mean <= 1e-12 or (spread <= 1e-9 and mean <= 1.0):
        return 0.0
    certain = mean * np.log(mean)
    if spread <= 1e-9:
        return max(certain, 0.0)
    poisson = _poisson_n_log_n(mean, table, first_log, step_log)
    return max(certain + spread * (poisson - certain), 0.0)


@compiled
def _poisson_n_log_n(mean, table, first_log, step_log):
    """E[n log n] of a Poisson count: tabulated between its two limits."""
    if mean <= 1e-4:
        return mean * mean * 0.6931
    if mean >= 399.0:
        return mean * np.log(mean) + 0.5 + 1.0 / (12.0 * mean)
    place = (np.log(mean) - first_log) / step_log
    k = int(place)
    part = place - k
    return mean * (table[k] * (1.0 - part) + table[k + 1] * part)
