"""Steps B2, B3 and C: tables and scores of sets of which a cohort lacks some members.

See docs/explanation/completion.md (the transfer). What is known for sure of a subset of cohort i
that falls into O, recorded, and Q, not, is n_i(o,y). What is predicted is P(q|o,y), kept as an
array (cell of O, cell of Q, class) over the cells of O that the cohort has rows in. Scores above
chance are those of step C less what the same rows would score with permuted classes.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from misfeat.completion.transfer.contingency_tables import (
    Rows,
    cohorts_lacking,
    part_cells_of,
    rake,
    rank_of,
    recorded_rows,
    split_of,
    strides_of,
    tables_of,
)
from misfeat.completion.transfer.donor_shrinkage import Smoothed, smoothed_triple
from misfeat.runtime.array_types import Flags, Floats, Integers
from misfeat.runtime.compilation import compiled, copy_values

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
    margins: Floats
    # Completed singles, pairs, and triples; without lines where they are not kept
    kept: "tuple[Completed, Completed, Completed]"
    # (n_parts, 2 or 3): which members of a set the pairs or triples are that it is fitted to
    members: Integers
    poisson: "Poisson"  # Means of n log n


@compiled
def donors_mean(tables, weights, split):
    """Σ_j w_j [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε]: without the prior, and the prior's part."""
    # Of shape (n_cells, n_classes), without cells if there are no donors, and (n_o, n_classes).
    n_donors, n_cells, n_classes = tables.shape
    n_o, n_q = len(split.of_o), len(split.of_q)
    average = np.zeros((n_cells if n_donors else 0, n_classes))
    of_prior, weight = np.zeros((n_o, n_classes)), weights.sum()
    for d in range(n_donors):
        for o in range(n_o):
            for y in range(n_classes):
                total = BACK_OFF
                for q in range(n_q):
                    total += tables[d, split.of_o[o] + split.of_q[q], y]
                factor = weights[d] / weight / total
                of_prior[o, y] += BACK_OFF * factor
                for q in range(n_q):
                    cell = split.of_o[o] + split.of_q[q]
                    average[cell, y] += factor * tables[d, cell, y]
    return average, of_prior


@compiled
def fit_to_parts(i, shares, rows, split, seen, evidence):
    """IPF of P(q|o,y) to the informed tables of parts, each sweep ending with the exact n_i(o,y).

    Returns how many parts are informed.
    """
    members = evidence.members
    kept, n_parts = evidence.kept[members.shape[1] - 1], 0
    ranks = np.empty(len(members), np.int64)
    o_cells = np.empty((len(members), len(seen)), np.int64)
    q_cells = np.empty((len(members), len(split.of_q)), np.int64)
    steps, strides = np.empty(len(split.cards), np.int64), np.empty(members.shape[1], np.int64)
    for u in range(len(members)):
        rank = rank_of(split.subset[members[u]])
        if kept.informed[i, rank]:
            steps[:] = 0
            strides_of(split.cards[members[u]], strides)
            for a in range(len(strides)):
                steps[members[u, a]] = strides[a]
            numbers = part_cells_of(split.cards, steps, split.o_members)
            copy_values(numbers[seen], o_cells[n_parts])
            numbers = part_cells_of(split.cards, steps, split.q_members)
            copy_values(numbers, q_cells[n_parts])
            ranks[n_parts] = rank
            n_parts += 1
    values = shares * (rows + EMPTY).reshape((len(rows), 1, rows.shape[1]))
    once = n_parts + (len(split.o_members) >= 2) <= 1
    for _ in range(min(n_parts, 1) if once else FITTING_SWEEPS):
        for u in range(n_parts):
            wanted = kept.tables[i, kept.starts[ranks[u]] : kept.starts[ranks[u] + 1]]
            _fit_part(values, wanted, o_cells[u], q_cells[u])
        _divide_by_rows(values, rows, shares)
    return n_parts


@compiled
def _fit_part(values, wanted, o_cells, q_cells):
    """Scale values so that they sum up to the table of one part."""
    factors = np.zeros(wanted.shape)
    for o in range(len(o_cells)):
        for q in range(len(q_cells)):
            for y in range(wanted.shape[1]):
                factors[o_cells[o] + q_cells[q], y] += values[o, q, y]
    for k in range(len(wanted)):
        for y in range(wanted.shape[1]):
            if factors[k, y] > LEAST_SUM:
                factors[k, y] = wanted[k, y] / factors[k, y]
    for o in range(len(o_cells)):
        for q in range(len(q_cells)):
            for y in range(wanted.shape[1]):
                values[o, q, y] *= factors[o_cells[o] + q_cells[q], y]


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
        donated = tables_of(tables, donors, start, stop)
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
    if informed:  # P(q|o,y) = Σ_j w_j (T_j(o,q,y) + ε P0) / (T_j(o,y) + ε)
        average, of_prior = mean
        for o in range(shares.shape[0]):
            for q in range(shares.shape[1]):
                cell = split.of_o[seen[o]] + split.of_q[q]
                for y in range(shares.shape[2]):
                    shares[o, q, y] = average[cell, y] + of_prior[seen[o], y] * shares[o, q, y]
    if len(split.subset) == 2:  # step B2
        _keep(table, shares, own, split, seen)
        if informed:
            _rake_pair(table, i, split, evidence)
        _read_shares(table, own, split, seen, shares)
    else:  # step B3; single features have no parts
        informed |= fit_to_parts(i, shares, own, split, seen, evidence) > 0
        _keep(table, shares, own, split, seen)
    completed.informed[i, s] = informed
    against_chance = completed.above.shape[1] > 0
    found = expected_score(shares, own, evidence.poisson, against_chance)  # step C
    completed.score[i, s], completed.variance[i, s], above = found
    if against_chance:
        completed.above[i, s] = above


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
    n_q, n_classes = len(split.of_q), margins.shape[2]
    shares, stride = np.ones((n_o, n_q, n_classes)), n_q
    for a in split.q_members:
        stride //= split.cards[a]
        for o in range(n_o):
            for q in range(n_q):
                for y in range(n_classes):
                    value = q // stride % split.cards[a]
                    shares[o, q, y] *= margins[split.subset[a], value, y]
    return shares


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
    values: Floats  # The values


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
def expected_score(shares, rows, poisson, against_chance):
    """The mean plug-in score if rows fell into cells of Q as P(q|o,y) says, its variance, and the
    mean score above chance, NaN where it is not asked for.
    """
    # MI = log N + [Σ E φ(n_oqy) - Σ E φ(n_oq) - Σ φ(n_y)] / N with φ(n) = n log n. The variance is
    # that of the sum over rows of log P(y|o,q) to first order, given which o and y a row has.
    #
    # Above chance it is Σ E φ(n_oqy) / N less Σ E φ(m_oqy) / N: m_oqy are the rows of class y in a
    # cell whose rows have random classes. Of n rows of mean λ and variance r λ, a share π of one
    # class has mean π λ and variance π² r λ + π (1 - π) λ, that is, π r + 1 - π times its mean.
    # (Every row is given its class by itself, not from a stock that runs out, which makes chance
    # larger by (n_classes - 1) / 2N.)
    n_o, n_q, n_classes = shares.shape
    with_class, without_class, chance, variance = 0.0, 0.0, 0.0, 0.0
    by_class, total, logs = np.zeros(n_classes), rows.sum(), np.zeros(n_classes)
    means, squares = np.empty(n_classes), np.empty(n_classes)
    of_all = rows.sum(axis=0) / total
    logs_of_all = np.log(np.where(of_all > 0, of_all, 1.0))
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
                log, ratio = np.log(mean), spread / mean
                without_class += _mean_n_log_n(mean, log, ratio, poisson)
                for y in range(n_classes):
                    if rows[o, y] * shares[o, q, y] > 0:
                        means[y] += shares[o, q, y] * (logs[y] - log)
                        squares[y] += shares[o, q, y] * (logs[y] - log) ** 2
                    if against_chance:
                        share, log_of_m = of_all[y], log + logs_of_all[y]
                        of_m = share * ratio + 1.0 - share
                        chance += _mean_n_log_n(mean * share, log_of_m, of_m, poisson)
        for y in range(n_classes):
            variance += rows[o, y] * max(squares[y] - means[y] ** 2, 0.0)
    classes = (by_class * np.log(np.where(by_class > 0, by_class, 1.0))).sum()
    score = np.log(total) + (with_class - without_class - classes) / total
    above = (with_class - chance) / total if against_chance else np.nan
    return score, variance / total**2, above


@compiled
def _mean_n_log_n(mean, log, spread, poisson):
    """E φ ≈ λ log λ + r (F(λ) - λ log λ), λ the mean, r variance over mean (at most 1)."""
    if mean <= 1e-12 or (spread <= 1e-9 and mean <= 1.0):
        return 0.0
    certain = mean * log
    if spread <= 1e-9:
        return max(certain, 0.0)
    if mean <= 1e-4:  # F(λ), E[n log n] of a Poisson count: tabulated between its two limits
        of_poisson = mean * mean * 0.6931
    elif mean >= 399.0:
        of_poisson = mean * log + 0.5 + 1.0 / (12.0 * mean)
    else:
        place = (log - poisson.first_log) * poisson.steps_a_log
        k = int(place)
        part = place - k
        of_poisson = mean * (poisson.values[k] * (1.0 - part) + poisson.values[k + 1] * part)
    return max(certain + spread * (of_poisson - certain), 0.0)


class Completed(NamedTuple):
    """What is found out about the subsets of one size that cohorts lack a member of."""

    # (n_cohorts, n_subsets): expected plug-in scores, their sampling variance, and scores above
    # chance, these without columns where they are not asked for; NaN where nothing is lacking
    score: Floats
    variance: Floats
    above: Floats
    starts: Integers  # (n_subsets + 1,): the first line of each subset's table
    # (n_cohorts, n_cells, n_classes): counts where recorded, else expected; none where not kept
    tables: Floats
    informed: Flags  # (n_cohorts, n_subsets): whether larger subsets are fitted to it
