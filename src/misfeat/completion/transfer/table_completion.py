"""Steps B2 and B3: tables of pairs and larger sets of which a cohort lacks some members.

What is known for sure of a subset of cohort i that falls into O, recorded, and Q, not, is n_i(o,y).
What is predicted is P(q|o,y), kept as an array (cell of O, cell of Q, class) over the cells of O
that the cohort has rows in: the donors' mean conditional distribution, raked to the margins or
fitted to tables of parts by iterative proportional fitting (IPF). Step C follows for every table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.expectation import note_score
from misfeat.completion.transfer.smoothing import smoothed_triple
from misfeat.completion.transfer.tables import (
    LANES,
    cohorts_lacking,
    donors_of,
    in_lanes,
    part_cells,
    parts_of,
    recorded_rows,
    split_of,
)
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.transfer.expectation import Completed, Poisson
    from misfeat.completion.transfer.smoothing import Smoothed
    from misfeat.completion.transfer.tables import Rows

BACK_OFF = 1.0  # so many rows of the prior are added to every conditional distribution of a donor
EMPTY = 1e-9  # rows that a class without rows in a cell counts as, so that its shares stay defined
LEAST_SUM = 1e-14  # A sum that is not above this cannot be scaled
RAKING_SWEEPS = 8
FITTING_SWEEPS = 5


class DonorsMean(NamedTuple):
    """The donors' mean conditional distribution, as ``average + of_prior[o_cells] * prior``."""

    average: NDArray[np.float64]  # (n_cells, n_classes): of the donors; no cells without donors
    of_prior: NDArray[np.float64]  # (n_o, n_classes): how much of the prior is added
    o_cells: NDArray[np.int64]  # (n_cells,): the cell of O for every cell of the subset


class Margins(NamedTuple):
    """How single features are distributed in every cohort."""

    counts: NDArray[np.float64]  # (n_cohorts, n_cells, n_classes): n_i(x,y) of recorded features
    starts: NDArray[np.int64]  # (n_features,): the first line of each feature
    # (n_cohorts, n_features, most_categories, n_classes): p̂(x|y) of unrecorded features
    predicted: NDArray[np.float64]


class SetEvidence(NamedTuple):
    """What sets are completed from."""

    rows: Rows  # The rows of all cohorts
    pairs: Smoothed  # The donors' smoothed tables of pairs
    joint: bool  # Whether donors' own tables of the whole set are used; for triples only
    margins: NDArray[np.float64]  # `Margins.predicted`
    # Completed singles, pairs, and triples, these without lines where they are not kept
    kept: tuple[Completed, Completed, Completed]
    # (n_parts, 2 or 3): which members of a set the pairs or triples are that it is fitted to
    members: NDArray[np.int64]
    poisson: Poisson  # Means of n log n


@compiled
def donors_mean(tables, weights, split):
    """Σ_j w_j [T_j(o,q,y) + ε prior] / [T_j(o,y) + ε], of tables with a donor a lane."""
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
        table, flat, width = (
            tables[g].reshape(-1),
            factors.reshape(-1),
            np.uint64(n_classes * LANES),
        )
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
    return DonorsMean(average, of_prior, o_cells)


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
def complete_pairs(rows, pairs, margins, poisson, first, last, completed):
    """Steps B2 and C for the pairs first to last, in every cohort that lacks a member."""
    for s in range(first, last):
        pair, at = pairs.subsets[s], pairs.starts[s]
        cards = rows.cards[pair]
        stop = at + cards[0] * cards[1]
        donors = donors_of(pair, rows.missing)
        donated = in_lanes(pairs.tables, donors, at, stop - at)
        for pattern in range(1, 4):
            lacking = cohorts_lacking(pair, pattern, rows.missing)
            if not len(lacking):
                continue
            split = split_of(pair, cards, pattern)
            mean = donors_mean(donated, rows.sizes[donors], split)
            for i in lacking:
                table = completed.tables[i, at:stop]
                own = _pair_table(i, rows, split, mean, margins, table)
                shares = _as_shares(table, own, pattern, cards)
                completed.informed[i, s] = len(donors) > 0
                note_score(i, s, shares, own, poisson, completed)


@compiled
def _pair_table(i, rows, split, mean, margins, table):
    """Step B2: t(q|o,y) n_i(o,y), raked to n_i(a,y) and n_i(b,y) if donated; gives n_i(o,y)."""
    a, b = split.subset
    of_a, of_b = _margin(i, a, rows, margins), _margin(i, b, rows, margins)
    lacks_a, lacks_b = rows.missing[i, a], rows.missing[i, b]
    own = rows.by_class[i : i + 1]
    if not (lacks_a and lacks_b):
        own = of_b if lacks_a else of_a
    predicted_a, predicted_b = margins.predicted[i, a], margins.predicted[i, b]
    for k in range(len(table)):
        x, v, o = k // len(of_b), k % len(of_b), mean.o_cells[k]
        for y in range(table.shape[1]):
            share = 1.0
            if lacks_a:
                share *= predicted_a[x, y]
            if lacks_b:
                share *= predicted_b[v, y]
            if len(mean.average):
                share = mean.average[k, y] + mean.of_prior[o, y] * share
            table[k, y] = share * own[o, y]
    if len(mean.average):
        rake_pair(table, not lacks_b, of_a, of_b)
    return own


@compiled
def _margin(i, f, rows, margins):
    """n_i(f,y): counted, or n_i(y) p̂(f|y)."""
    n, by_class = rows.cards[f], rows.by_class
    if not rows.missing[i, f]:
        return margins.counts[i, margins.starts[f] : margins.starts[f] + n]
    return margins.predicted[i, f, :n] * by_class[i]


@compiled
def _as_shares(table, rows, pattern, cards):
    """A pair's table as P(q|o,y)."""
    n_o, n_classes = rows.shape
    n_q, n_b = len(table) // n_o, cards[1]
    shares = np.empty((n_o, n_q, n_classes))
    for o in range(n_o):
        for q in range(n_q):
            k = q * n_b + o if pattern == 1 else (o * n_b + q if pattern == 2 else q)
            for y in range(n_classes):
                shares[o, q, y] = table[k, y] / rows[o, y] if rows[o, y] > 0 else 0.0
        for y in range(n_classes):
            total = 0.0
            for q in range(n_q):
                total += shares[o, q, y]
            if total > 0:
                for q in range(n_q):
                    shares[o, q, y] /= total
    return shares


@compiled
def complete_sets(subsets, evidence, first, last, completed):
    """Steps A (where `joint`), B3 and C for the sets first to last, where a member is lacking.

    The tables of the cohorts that recorded all members are counted before.
    """
    rows = evidence.rows
    for s in range(first, last):
        subset = subsets[s]
        donors = donors_of(subset, rows.missing)
        if not evidence.joint or len(donors) == len(rows.missing):
            donors = donors[:0]
        n_cells = rows.cards[subset].prod()
        donated = in_lanes(completed.tables, donors, completed.starts[s], n_cells)
        if len(donors):
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
    """Steps B3 and C for one set of cohort i."""
    seen, own = recorded_rows(i, evidence.rows, split, evidence.kept)
    shares = _product_of_margins(evidence.margins[i], split, len(seen))
    if len(mean.average):
        _start_from_donors(shares, mean, split, seen)
    parts = parts_of(i, split, seen, evidence.kept, evidence.members)
    if len(parts.sizes):
        once = len(parts.sizes) + (len(split.o_members) >= 2) <= 1
        fit_conditional(shares, own, parts, 1 if once else FITTING_SWEEPS)
    note_score(i, s, shares, own, evidence.poisson, completed)
    completed.informed[i, s] = len(mean.average) > 0 or len(parts.sizes) > 0
    _keep(completed.tables[i, completed.starts[s] :], shares, own, split, seen)


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
    average, of_prior, _ = mean
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
