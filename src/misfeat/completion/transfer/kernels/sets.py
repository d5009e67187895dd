"""From donors' tables to the scores of subsets: the steps put together, subset by subset.

Common parameters: `codes` (feature, row), `target`, `weights` and `offsets` are the coded rows of
all cohorts; `missing` (cohort, feature) says what was never recorded; `cards` are the categories of
each feature. Tables are laid end to end: those of subset s start at line `starts[s]`, a line a
cell, a column a class.
"""

from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.kernels.prediction import (
    average_conditional,
    expected_score,
    fit_conditional,
    rake_pair,
)
from misfeat.completion.transfer.kernels.smoothing import smooth_larger
from misfeat.completion.transfer.kernels.tables import count_cells, part_cells, strides_of
from misfeat.machine.compiling import compiled


@compiled
def rank_of(subset):
    """The place of a pair or a triple among those of its size."""
    a, b = subset[0], subset[1]
    place = b * (b - 1) // 2 + a
    if len(subset) == 3:
        c = subset[2]
        place += c * (c - 1) * (c - 2) // 6
    return place


@compiled
def donors_of(subset, missing):
    """The cohorts that recorded all of a subset."""
    found = np.empty(len(missing), np.int64)
    many = 0
    for j in range(len(missing)):
        recorded = True
        for a in range(len(subset)):
            recorded &= not missing[j, subset[a]]
        if recorded:
            found[many] = j
            many += 1
    return found[:many]


@compiled
def smooth_pairs(
    counts, starts, pairs, cards, missing, single_starts, single_tables, single_rows,
    single_kept, sweeps, first, last, tables, rows, kept, kept_rows,
):  # fmt: skip
    """Step A for the pairs first to last."""
    whole = np.ones(2)
    for s in range(first, last):
        donors = donors_of(pairs[s], missing)
        if not len(donors):
            continue
        a, b = pairs[s]
        cells = cards[a] * cards[b]
        at = starts[s]
        lower_cells = np.empty((2, cells), np.int64)
        for k in range(cells):
            lower_cells[0, k], lower_cells[1, k] = k // cards[b], k % cards[b]
        smooth = np.empty((len(donors), cells, counts.shape[2]))
        smooth_rows = np.empty((len(donors), cells))
        kept[s], kept_rows[s] = smooth_larger(
            counts[donors, at : at + cells], donors, cards[pairs[s]], single_starts[pairs[s]],
            lower_cells, cards[pairs[s]], single_tables, single_rows, single_kept[pairs[s]],
            whole, sweeps, smooth, smooth_rows,
        )  # fmt: skip
        for d in range(len(donors)):
            tables[donors[d], at : at + cells] = smooth[d]
            rows[donors[d], at : at + cells] = smooth_rows[d]


@compiled
def complete_pairs(
    tables, starts, pairs, cards, missing, sizes, single_starts, single_counts, by_class,
    margins, poisson, first, last, targets, has_target, scores, variances,
):  # fmt: skip
    """Steps B2 and C for the pairs first to last, in every cohort that lacks one of them."""
    n_classes = by_class.shape[1]
    for s in range(first, last):
        a, b = pairs[s]
        n_a, n_b = cards[a], cards[b]
        cells, at = n_a * n_b, starts[s]
        donors = donors_of(pairs[s], missing)
        o_cells = np.zeros((4, cells), np.int64)  # by pattern: 1 lacks a, 2 lacks b, 3 both
        for k in range(cells):
            o_cells[1, k], o_cells[2, k] = k % n_b, k // n_b
        average = np.empty((4, cells, n_classes))
        of_prior = np.empty((4, max(n_a, n_b), n_classes))
        averaged = np.zeros(4, np.bool_)
        for i in range(len(missing)):
            pattern = 1 * missing[i, a] + 2 * missing[i, b]
            if pattern == 0:
                continue
            n_o = n_b if pattern == 1 else (n_a if pattern == 2 else 1)
            if len(donors) and not averaged[pattern]:
                donor_tables = tables[donors, at : at + cells]
                average_conditional(
                    donor_tables, sizes[donors], o_cells[pattern], n_o, average[pattern],
                    of_prior[pattern],
                )  # fmt: skip
                averaged[pattern] = True
            of_a = _margin(i, a, missing, cards, single_starts, single_counts, by_class, margins)
            of_b = _margin(i, b, missing, cards, single_starts, single_counts, by_class, margins)
            rows = of_b if pattern == 1 else (of_a if pattern == 2 else by_class[i : i + 1])
            shares = np.empty((n_o, cells // n_o, n_classes))
            table = targets[i, at : at + cells]
            for k in range(cells):
                x, v = k // n_b, k % n_b
                o = o_cells[pattern, k]
                for y in range(n_classes):
                    prior = 1.0
                    if pattern & 1:
                        prior *= margins[i, a, x, y]
                    if pattern & 2:
                        prior *= margins[i, b, v, y]
                    table[k, y] = prior
                    if len(donors):
                        table[k, y] = average[pattern, k, y] + of_prior[pattern, o, y] * prior
                    table[k, y] *= rows[o, y]
            if len(donors):
                has_target[i, s] = True
                rake_pair(table, n_a, n_b, not missing[i, b], of_a, of_b)
            _as_shares(table, rows, pattern, n_b, shares)
            scores[i, s], variances[i, s] = expected_score(
                shares, rows, poisson[2:], poisson[0], poisson[1]
            )


@compiled
def _margin(i, f, missing, cards, starts, counts, by_class, margins):
    """n_i(f,y): counted, or the class counts spread as p̂(f|y) says."""
    if not missing[i, f]:
        return counts[i, starts[f] : starts[f] + cards[f]]
    spread = np.empty((cards[f], by_class.shape[1]))
    for x in range(cards[f]):
        for y in range(by_class.shape[1]):
            spread[x, y] = margins[i, f, x, y] * by_class[i, y]
    return spread


@compiled
def _as_shares(table, rows, pattern, n_b, shares):
    """A pair's table as P(q|o,y)."""
    n_o, n_q, n_classes = shares.shape
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


@compiled
def complete_sets(
    codes, target, weights, offsets, subsets, cards, missing, sizes, by_class, margins, joint,
    pair_starts, pair_tables, pair_rows, pair_kept, pair_kept_rows, smoothing_sweeps,
    parts, part_starts, part_targets, has_target, fitting_sweeps, poisson, first, last,
    scores, variances, keep, starts, kept_tables, informed,
):  # fmt: skip
    """Steps A (where `joint`), B3 and C for larger subsets, in every cohort that lacks a member.

    Parameters
    ----------
    joint : bool
        Whether donors' own tables of the whole subset are used; for triples only.
    parts : (n_parts, part_size)
        Which members the parts have whose completed tables a subset is fitted to.
    part_starts, part_targets, has_target
        Those tables, by cohort.
    keep : bool
        Whether completed tables are kept in `kept_tables`, for larger subsets to be fitted to.
    """
    size = subsets.shape[1]
    n_classes = by_class.shape[1]
    strides = np.empty(size, np.int64)
    for s in range(first, last):
        subset = subsets[s]
        of_cards = cards[subset]
        cells = strides_of(of_cards, strides)
        donors = donors_of(subset, missing)
        tables = np.empty((0, 0, n_classes))
        if joint and len(donors) and len(donors) < len(missing):
            tables = _smoothed_triple(
                codes, target, weights, offsets, subset, of_cards, strides, cells, donors,
                pair_starts, pair_tables, pair_rows, pair_kept, pair_kept_rows,
                smoothing_sweeps, n_classes,
            )  # fmt: skip
        o_cells = np.empty(cells, np.int64)
        average = np.empty((cells, n_classes))
        of_prior = np.empty((cells, n_classes))
        for pattern in range(1, 2**size):
            averaged = False
            for i in range(len(missing)):
                if _pattern(subset, missing[i]) != pattern:
                    continue
                o_cards, o_strides, q_cards, n_o, n_q = _split(pattern, of_cards)
                if len(tables) and not averaged:
                    part_cells(of_cards, o_strides, o_cells)
                    average_conditional(tables, sizes[donors], o_cells, n_o, average, of_prior)
                    averaged = True
                seen, rows = _recorded_rows(
                    i, codes, target, weights, offsets, subset, pattern, o_strides, n_o, by_class
                )
                o_digits, q_digits = _digits(seen, o_cards), _all_digits(q_cards, n_q)
                shares = _product_of_margins(margins[i], subset, pattern, q_digits, len(seen))
                if averaged:
                    _start_from_donors(
                        shares, average, of_prior, seen, o_digits, q_digits, strides, pattern
                    )
                informed[i, s] = averaged
                chosen = _chosen_parts(parts, subset, has_target[i])
                if len(chosen):
                    informed[i, s] = True
                    part_size = parts.shape[1]
                    at = np.empty(len(chosen), np.int64)
                    lengths = np.empty(len(chosen), np.int64)
                    o_steps = np.zeros((len(chosen), len(seen)), np.int64)
                    q_steps = np.zeros((len(chosen), n_q), np.int64)
                    for u in range(len(chosen)):
                        members = parts[chosen[u]]
                        at[u] = part_starts[rank_of(subset[members])]
                        of_part = np.empty(part_size, np.int64)
                        lengths[u] = strides_of(of_cards[members], of_part)
                        _steps(pattern, members, of_part, o_digits, o_steps[u], False)
                        _steps(pattern, members, of_part, q_digits, q_steps[u], True)
                    n_recorded = o_digits.shape[1]
                    once = len(chosen) + (n_recorded >= 2) <= 1
                    fit_conditional(
                        shares, rows, part_targets[i], at, lengths, o_steps, q_steps,
                        1 if once else fitting_sweeps,
                    )  # fmt: skip
                scores[i, s], variances[i, s] = expected_score(
                    shares, rows, poisson[2:], poisson[0], poisson[1]
                )
                if keep:
                    _keep(
                        kept_tables[i, starts[s] : starts[s] + cells], shares, rows, o_digits,
                        q_digits, strides, pattern,
                    )  # fmt: skip


@compiled
def _smoothed_triple(
    codes, target, weights, offsets, subset, of_cards, strides, cells, donors, pair_starts,
    pair_tables, pair_rows, pair_kept, pair_kept_rows, sweeps, n_classes,
):  # fmt: skip
    """Step A for one triple: the donors' smoothed tables."""
    counts = np.zeros((len(donors), cells, n_classes))
    for d in range(len(donors)):
        start, stop = offsets[donors[d]], offsets[donors[d] + 1]
        count_cells(codes, target, weights, start, stop, subset, strides, counts[d])
    lower = np.array([[0, 1], [0, 2], [1, 2]])
    lower_cells = np.empty((3, cells), np.int64)
    lower_sizes = np.empty(3, np.int64)
    lower_ranks = np.empty(3, np.int64)
    for u in range(3):
        a, b = lower[u]
        steps = np.zeros(3, np.int64)
        steps[a], steps[b] = of_cards[b], 1
        part_cells(of_cards, steps, lower_cells[u])
        lower_sizes[u] = of_cards[a] * of_cards[b]
        lower_ranks[u] = rank_of(subset[lower[u]])
    tables = np.empty((len(donors), cells, n_classes))
    rows = np.empty((len(donors), cells))
    smooth_larger(
        counts, donors, of_cards, pair_starts[lower_ranks], lower_cells, lower_sizes, pair_tables,
        pair_rows, pair_kept[lower_ranks], pair_kept_rows[lower_ranks], sweeps, tables, rows,
    )  # fmt: skip
    return tables


@compiled
def _pattern(subset, missing):
    """Which members a cohort lacks: bit a for member a."""
    pattern = 0
    for a in range(len(subset)):
        if missing[subset[a]]:
            pattern |= 1 << a
    return pattern


@compiled
def _split(pattern, cards):
    """Categories of the recorded and the unrecorded members, and the cells of both."""
    size = len(cards)
    lacking = 0
    for a in range(size):
        lacking += pattern >> a & 1
    o_cards, q_cards = np.empty(size - lacking, np.int64), np.empty(lacking, np.int64)
    o_strides = np.zeros(size, np.int64)
    n_o, n_q = 1, 1
    o, q = size - lacking, lacking
    for a in range(size - 1, -1, -1):
        if pattern >> a & 1:
            q -= 1
            q_cards[q] = cards[a]
            n_q *= cards[a]
        else:
            o -= 1
            o_cards[o] = cards[a]
            o_strides[a] = n_o
            n_o *= cards[a]
    return o_cards, o_strides, q_cards, n_o, n_q


@compiled
def _recorded_rows(i, codes, target, weights, offsets, subset, pattern, o_strides, n_o, by_class):
    """The cells of O that cohort i has rows in, and how many of every class."""
    counts = np.zeros((n_o, by_class.shape[1]))
    if n_o == 1:
        counts[0] = by_class[i]
    else:
        for row in range(offsets[i], offsets[i + 1]):
            cell = 0
            for a in range(len(subset)):
                if not pattern >> a & 1:
                    cell += o_strides[a] * codes[subset[a], row]
            counts[cell, target[row]] += weights[row]
    seen = np.empty(n_o, np.int64)
    many = 0
    for o in range(n_o):
        for y in range(counts.shape[1]):
            if counts[o, y] > 0:
                seen[many] = o
                counts[many] = counts[o]
                many += 1
                break
    return seen[:many], counts[:many]


@compiled
def _digits(cells, cards):
    """The value of every feature in each of some cells."""
    digits = np.empty((len(cells), len(cards)), np.int64)
    for r in range(len(cells)):
        rest = cells[r]
        for a in range(len(cards) - 1, -1, -1):
            digits[r, a] = rest % cards[a]
            rest //= cards[a]
    return digits


@compiled
def _all_digits(cards, n_cells):
    return _digits(np.arange(n_cells), cards)


@compiled
def _product_of_margins(margins, subset, pattern, q_digits, n_o):
    """P0: the unrecorded features independent of all others within every class."""
    n_q, n_classes = len(q_digits), margins.shape[2]
    shares = np.empty((n_o, n_q, n_classes))
    for q in range(n_q):
        for y in range(n_classes):
            share = 1.0
            place = 0
            for a in range(len(subset)):
                if pattern >> a & 1:
                    share *= margins[subset[a], q_digits[q, place], y]
                    place += 1
            for o in range(n_o):
                shares[o, q, y] = share
    return shares


@compiled
def _steps(pattern, members, of_part, digits, steps, lacking):
    """What the values of O, or of Q, contribute to the cell of a part."""
    for u in range(len(members)):
        a = members[u]
        if (pattern >> a & 1 == 1) != lacking:
            continue
        place = 0
        for b in range(a):
            place += (pattern >> b & 1 == 1) == lacking
        for r in range(len(digits)):
            steps[r] += of_part[u] * digits[r, place]


@compiled
def _whole_cells(pattern, strides, digits, lacking):
    """What the values of O, or of Q, contribute to the cell of the whole subset."""
    cells = np.zeros(len(digits), np.int64)
    _steps(pattern, np.arange(len(strides)), strides, digits, cells, lacking)
    return cells


@compiled
def _start_from_donors(shares, average, of_prior, seen, o_digits, q_digits, strides, pattern):
    """P(q|o,y) as the donors' mean, backed off to P0 where they have few rows."""
    of_o = _whole_cells(pattern, strides, o_digits, False)
    of_q = _whole_cells(pattern, strides, q_digits, True)
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            for y in range(shares.shape[2]):
                shares[o, q, y] = (
                    average[of_o[o] + of_q[q], y] + of_prior[seen[o], y] * shares[o, q, y]
                )


@compiled
def _chosen_parts(parts, subset, has_target):
    """The parts that a completed table is there for."""
    chosen = np.empty(len(parts), np.int64)
    many = 0
    for u in range(len(parts)):
        if has_target[rank_of(subset[parts[u]])]:
            chosen[many] = u
            many += 1
    return chosen[:many]


@compiled
def _keep(table, shares, rows, o_digits, q_digits, strides, pattern):
    """Write P(q|o,y) n_i(o,y) as a table of the whole subset."""
    of_o = _whole_cells(pattern, strides, o_digits, False)
    of_q = _whole_cells(pattern, strides, q_digits, True)
    for o in range(shares.shape[0]):
        for q in range(shares.shape[1]):
            for y in range(shares.shape[2]):
                table[of_o[o] + of_q[q], y] = shares[o, q, y] * rows[o, y]
