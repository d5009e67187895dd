"""Steps B2, B3 and C: tables and scores of sets of which a cohort lacks some members.

What is known for sure of a subset of cohort i that falls into O, recorded, and Q, not, is n_i(o,y).
What is predicted is P(q|o,y), kept as an array (cell of O, cell of Q, class) over the cells of O
that the cohort has rows in: the donors' mean conditional distribution, raked to the margins or
fitted to tables of parts by iterative proportional fitting (IPF).

Step C: the plug-in score that the cohort's own number of rows would give on average, and, where
asked for, the same above chance: less what those rows would score with permuted classes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.smoothing import smoothed_triple
from misfeat.completion.transfer.tables import (
    LANES,
    cohorts_lacking,
    in_lanes,
    part_cells,
    parts_of,
    rake,
    recorded_rows,
    split_of,
)
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.transfer.smoothing import Smoothed
    from misfeat.completion.transfer.tables import Rows

BACK_OFF = 1.0  # so many rows of the prior are added to every conditional distribution of a donor
EMPTY = 1e-9  # rows that a class without rows in a cell counts as, so that its shares stay defined
LEAST_SUM = 1e-14  # A sum that is not above this cannot be scaled
RAKING_SWEEPS = 8
FITTING_SWEEPS = 5


class SetEvidence(NamedTuple):
    """What sets are completed from."""

    rows: Rows  # The rows of all cohorts
    pairs: Smoothed  # The donors' smoothed tables of pairs
    joint: bool  # Whether donors' own tables of the whole set are used; for pairs and triples only
    # (n_cohorts, n_features, most_categories, n_classes): p̂(x|y) of unrecorded features
    margins: NDArray[np.float64]
    # Completed singles, pairs, and triples; without lines where they are not kept
    kept: tuple[Completed, Completed, Completed]
    # (n_parts, 2 or 3): which members of a set the pairs or triples are that it is fitted to
    members: NDArray[np.int64]
    poisson: Poisson  # Means of n log n


@compiled
def donors_mean(tables, weights, split):
    """Σ_j w_j [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε]: without the prior, and the prior's part.

    Of shape (n_cells, n_classes), without cells if there are no donors, and (n_o, n_classes).
    """
    n_groups, n_cells, n_classes, _ = tables.shape
    n_o, o_cells = len(split.of_o), np.empty(split.cards.prod(), np.int64)
    part_cells(split.cards, split.o_strides, o_cells)
    average = np.zeros((n_cells if n_groups else 0, n_classes))
    of_prior = np.zeros((n_o, n_classes))
    factors, shares = np.empty((n_o * n_classes, LANES)), np.empty(LANES)
    total = weights.sum()
    for g in range(n_groups):
        for lane in range(LANES):
            donor = g * LANES + lane
            shares[lane] = weights[donor] / total if donor < len(weights) else 0.0
        # w_j / [T_j(o,y) + ε] of every lane
        table, flat = tables[g].reshape(-1), factors.reshape(-1)
        width = np.uint64(n_classes * LANES)
        flat[:] = BACK_OFF
        for k in range(np.uint64(len(o_cells))):
            line, of_o = k * width, np.uint64(o_cells[k]) * width
            for h in range(width):
                flat[of_o + h] += table[line + h]
        for o in range(len(factors)):
            for lane in range(LANES):
                factors[o, lane] = shares[lane] / factors[o, lane]
        for o in range(n_o):
            for y in range(n_classes):
                of_prior[o, y] += BACK_OFF * _sum_of(factors[o * n_classes + y])
        for k in range(n_cells):
            for y in range(n_classes):
                line = factors[o_cells[k] * n_classes + y]
                average[k, y] += _sum_of_products(tables[g, k, y], line)
    return average, of_prior


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
def fit_conditional(shares, rows, parts, sweeps):
    """IPF of P(q|o,y) to the tables of parts, each sweep ending with the exact n_i(o,y)."""
    values = shares * (rows + EMPTY).reshape((len(rows), 1, rows.shape[1]))
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
    """Values as shares of one over Q, and spread over the rows again; 0 of 0 rows stay."""
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


@compiled
def complete_sets(subsets, evidence, completed, first, last):
    """Steps A (for triples), B and C for the sets first to last; recorded ones are counted."""
    rows = evidence.rows
    for s in range(first, last):
        subset = subsets[s]
        donors = cohorts_lacking(subset, 0, rows.missing)
        if not evidence.joint or len(donors) == len(rows.missing):
            donors = donors[:0]
        tables = evidence.pairs.tables if len(subset) == 2 else completed.tables
        start, stop = completed.starts[s], completed.starts[s + 1]
        donated = in_lanes(tables, donors, start, stop - start)
        if len(subset) == 3 and len(donors):
            donated = smoothed_triple(rows, subset, donors, evidence.pairs, donated)
        for pattern in range(1, 2 ** len(subset)):
            lacking = cohorts_lacking(subset, pattern, rows.missing)
            if not len(lacking):
                continue
            split = split_of(subset, rows.cards[subset], pattern)
            mean = donors_mean(donated, rows.sizes[donors], split)
            for i in lacking:
                _complete_set(i, s, split, mean, evidence, completed)


@compiled
def _complete_set(i, s, split, mean, evidence, completed):
    """Steps B and C for one set of cohort i."""
    table = completed.tables[i, completed.starts[s] : completed.starts[s + 1]]
    seen, own = recorded_rows(i, evidence.rows, split, evidence.kept)
    shares = _product_of_margins(evidence.margins[i], split, len(seen))
    informed = len(mean[0]) > 0
    if informed:
        _start_from_donors(shares, mean, split, seen)
    if len(split.subset) == 2:  # step B2
        _keep(table, shares, own, split, seen)
        if informed:
            _rake_pair(table, i, split, evidence)
        _read_shares(table, own, split, seen, shares)
    else:  # step B3; single features have no parts
        parts = parts_of(i, split, seen, evidence.kept, evidence.members)
        if len(parts.sizes):
            informed = True
            once = len(parts.sizes) + (len(split.o_members) >= 2) <= 1
            fit_conditional(shares, own, parts, 1 if once else FITTING_SWEEPS)
        _keep(table, shares, own, split, seen)
    completed.informed[i, s] = informed
    score, variance = expected_score(shares, own, evidence.poisson)  # step C
    completed.score[i, s], completed.variance[i, s] = score, variance
    if completed.above.shape[1]:
        completed.above[i, s] = expected_above_chance(shares, own, evidence.poisson)


@compiled
def _rake_pair(table, i, split, evidence):
    """Fit a pair's table to n_i(a,y) and n_i(b,y) in turns, ending on one that is not recorded."""
    a, b = split.subset
    singles = evidence.kept[0]
    of_a = singles.tables[i, singles.starts[a] : singles.starts[a + 1]]
    of_b = singles.tables[i, singles.starts[b] : singles.starts[b + 1]]
    first_a = not evidence.rows.missing[i, b]
    flat, sums, n_classes = table.reshape(-1), np.empty(of_b.size), table.shape[1]
    for turn in range(2 * RAKING_SWEEPS):
        if (turn % 2 == 0) == first_a:
            rake(flat, len(of_b), n_classes, of_a.reshape(-1), sums, LEAST_SUM)
        else:
            rake(flat, len(of_a), of_b.size, of_b.reshape(-1), sums, LEAST_SUM)


@compiled
def _read_shares(table, rows, split, seen, shares):
    """A pair's table as P(q|o,y)."""
    n_o, n_q, n_classes = shares.shape
    for o in range(n_o):
        for y in range(n_classes):
            total = 0.0
            for q in range(n_q):
                n = table[split.of_o[seen[o]] + split.of_q[q], y]
                shares[o, q, y] = n / rows[o, y] if rows[o, y] > 0 else 0.0
                total += shares[o, q, y]
            if total > 0:
                for q in range(n_q):
                    shares[o, q, y] /= total


@compiled
def _product_of_margins(margins, split, n_o):
    """P0 = Π p̂(q|y): the unrecorded features independent of all others within every class."""
    n_q, n_classes = len(split.q_digits), margins.shape[2]
    shares = np.empty((n_o, n_q, n_classes))
    for q in range(n_q):
        for y in range(n_classes):
            share = 1.0
            for place, a in enumerate(split.q_members):
                share *= margins[split.subset[a], split.q_digits[q, place], y]
            for o in range(n_o):
                shares[o, q, y] = share
    return shares


@compiled
def _start_from_donors(shares, mean, split, seen):
    """P(q|o,y) = Σ_j w_j (T_j(o,q,y) + ε P0) / (T_j(o,y) + ε), the shares being P0."""
    average, of_prior = mean
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            cell = split.of_o[seen[o]] + split.of_q[q]
            for y in range(shares.shape[2]):
                shares[o, q, y] = average[cell, y] + of_prior[seen[o], y] * shares[o, q, y]


@compiled
def _keep(table, shares, rows, split, seen):
    """Write P(q|o,y) n_i(o,y) as a table of the whole set."""
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            cell = split.of_o[seen[o]] + split.of_q[q]
            for y in range(shares.shape[2]):
                table[cell, y] = shares[o, q, y] * rows[o, y]


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
    from scipy.special import gammaln

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
    by_class = rows.sum(axis=0)
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
