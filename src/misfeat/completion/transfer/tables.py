"""Count tables of subsets: where cells are, how many rows fall into each, and fits to margins.

The cell of values x of a subset with c_1, …, c_m categories is ((x_1 c_2 + x_2) c_3 + …): a sum of
one stride a feature times its value, so the cells of parts and wholes follow from each other.

A subset falls into O, which a cohort recorded, and Q, which it did not. Cohorts that lack the same
members share the split. The parts that a cohort has completed tables of are laid out for fitting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024  # rows whose cells are found together, so that they stay in the first-level cache
LANES = 8  # cohorts whose tables are fitted at once
UNFILLED = 1e-300  # A sum that is not above this cannot be scaled
LARGEST_KEPT = 3  # tables of up to so many features are kept where larger ones are fitted to them


class Rows(NamedTuple):
    """The coded, weighted rows of all cohorts."""

    codes: NDArray[np.uint16]  # (n_features, n_rows); those of unrecorded features are not read
    target: NDArray[np.int64]  # (n_rows,): classes
    weights: NDArray[np.float64]  # (n_rows,): how many rows of the table each stands for
    offsets: NDArray[np.int64]  # cohort i owns the rows ``offsets[i]:offsets[i + 1]``
    missing: NDArray[np.bool_]  # (n_cohorts, n_features): which features each cohort never recorded
    cards: NDArray[np.int64]  # (n_features,): how many categories each feature has
    by_class: NDArray[np.float64]  # (n_cohorts, n_classes): n_i(y)
    sizes: NDArray[np.float64]  # (n_cohorts,): N_i, the weights of donors


class Layout(NamedTuple):
    """The tables of all subsets of one size, laid end to end: a line a cell, a column a class."""

    subsets: NDArray[np.int64]  # (n_subsets, size): feature numbers, in the order of ranks
    starts: NDArray[np.int64]  # (n_subsets + 1,): the first line of each subset's table


class SubsetSplit(NamedTuple):
    """A subset, and which of its members are lacking."""

    subset: NDArray[np.int64]  # (size,): feature numbers
    cards: NDArray[np.int64]  # (size,): their categories
    o_members: NDArray[np.int64]  # (n_recorded,): which members are recorded
    q_members: NDArray[np.int64]  # (n_lacking,): which are lacking
    o_cards: NDArray[np.int64]
    q_cards: NDArray[np.int64]
    o_strides: NDArray[np.int64]  # (size,): what a step moves a cell of O by, 0 for lacking members
    q_digits: NDArray[np.int64]  # (n_q, n_lacking): the value of every member in each cell of Q
    of_o: NDArray[np.int64]  # (n_o,): what the values of O contribute to the cell of the subset
    of_q: NDArray[np.int64]  # (n_q,): the same for those of Q


class Parts(NamedTuple):
    """Tables of parts that a set is fitted to, as lines of classes and the last members of Q."""

    wanted: NDArray[np.float64]  # (n_parts, most): the table of each part, line after line
    sizes: NDArray[np.int64]  # (n_parts,): the entries of each part's table
    lengths: NDArray[np.int64]  # (n_parts,): and of a line
    o_lines: NDArray[np.int64]  # (n_parts, n_o): a line is the sum of a number for o
    q_lines: NDArray[np.int64]  # (n_parts, n_q): and one for the other members of Q


@compiled
def strides_of(cards, strides):
    """Fill in what a step in each feature moves a cell by; returns the number of cells."""
    cells = 1
    for a in range(len(cards) - 1, -1, -1):
        strides[a] = cells
        cells *= cards[a]
    return cells


@compiled
def part_cells(cards, steps, cells):
    """For every cell of a subset, the cell of another table: `steps` is its stride a feature."""
    cells[0] = 0
    filled = 1
    for a in range(len(cards) - 1, -1, -1):
        for x in range(1, cards[a]):
            for k in range(filled):
                cells[x * filled + k] = cells[k] + x * steps[a]
        filled *= cards[a]


@compiled
def rank_of(subset):
    """The place of a feature, a pair or a triple among those of its size."""
    place = subset[0]
    if len(subset) > 1:
        place += subset[1] * (subset[1] - 1) // 2
    if len(subset) > 2:
        place += subset[2] * (subset[2] - 1) * (subset[2] - 2) // 6
    return place


@compiled
def count_cells(rows, cohort, subset, strides, counts):
    """C_j(x,y): add a cohort's rows to its table of some features."""
    first, last = rows.offsets[cohort], rows.offsets[cohort + 1]
    cells = np.empty(min(CHUNK, last - first), np.int64)
    for start in range(first, last, CHUNK):
        stop = min(start + CHUNK, last)
        cells[:] = 0
        for a in range(len(subset)):
            codes, stride = rows.codes[subset[a], start:stop], strides[a]
            for r in range(len(codes)):
                cells[r] += stride * codes[r]
        target, weights = rows.target[start:stop], rows.weights[start:stop]
        for r in range(len(target)):
            counts[cells[r], target[r]] += weights[r]


@compiled
def count_level(rows, layout, counts, first, last):
    """The tables of the subsets first to last, in every cohort that recorded them."""
    size, n_classes = layout.subsets.shape[1], counts.shape[2]
    strides = np.empty(size, np.int64)
    others = np.empty(len(rows.target), np.int32)
    for s in range(first, last):
        subset, start = layout.subsets[s], layout.starts[s]
        n_cells = strides_of(rows.cards[subset], strides)
        # By rank the first member changes fastest: while the others stay, it alone is added.
        if s == first or not np.array_equal(subset[1:], layout.subsets[s - 1, 1:]):
            for r in range(len(others)):
                others[r] = rows.target[r]
            for a in range(1, size):
                codes, stride = rows.codes[subset[a]], np.int32(strides[a] * n_classes)
                for r in range(len(others)):
                    others[r] += stride * np.int32(codes[r])
        step = np.uint64(strides[0] * n_classes)
        for j in cohorts_lacking(subset, 0, rows.missing):
            table = counts[j, start : start + n_cells].reshape(-1)
            begin, end = rows.offsets[j], rows.offsets[j + 1]
            codes, weights = rows.codes[subset[0], begin:end], rows.weights[begin:end]
            rest = others[begin:end]
            for r in range(len(codes)):
                table[np.uint64(codes[r]) * step + np.uint64(rest[r])] += weights[r]


@compiled
def rake(values, n_summed, inner, wanted, sums, least):
    """Scale flat values (outer, n_summed, inner) to wanted sums; those up to `least` become 0."""
    # Indices without a sign are not checked for it, so that loops are as wide as the machine.
    n_summed, inner = np.uint64(n_summed), np.uint64(inner)
    for o in range(np.uint64(len(wanted)) // inner):
        block, goal = o * n_summed * inner, o * inner
        for h in range(inner):
            sums[h] = values[block + h]
        for v in range(np.uint64(1), n_summed):
            line = block + v * inner
            for h in range(inner):
                sums[h] += values[line + h]
        for h in range(inner):
            total = sums[h]
            sums[h] = wanted[goal + h] / total if total > least else 0.0
        for v in range(n_summed):
            line = block + v * inner
            for h in range(inner):
                values[line + h] *= sums[h]


@compiled
def rake_parts(values, cards, width, wanted, sums, sweeps):
    """Rake a table, `width` numbers a cell, to all lines of one member less, the last first."""
    for _ in range(sweeps):
        inner = width
        for u in range(len(cards)):
            n_summed = cards[len(cards) - 1 - u]
            rake(values, n_summed, inner, wanted[u][: len(values) // n_summed], sums, UNFILLED)
            inner *= n_summed


@compiled
def in_lanes(tables, cohorts, start, n_cells):
    """Tables as (n_groups, n_cells, n_classes, LANES), a cohort a lane; spare lanes hold zeros."""
    n_classes = tables.shape[2]
    lanes = np.zeros(((len(cohorts) + LANES - 1) // LANES, n_cells, n_classes, LANES))
    for d in range(len(cohorts)):
        group, table = lanes[d // LANES].reshape(-1), tables[cohorts[d], start : start + n_cells]
        entries = table.reshape(-1)
        for k in range(np.uint64(len(entries))):
            group[k * np.uint64(LANES) + np.uint64(d % LANES)] = entries[k]
    return lanes


@compiled
def cohorts_lacking(subset, pattern, missing):
    """The cohorts that lack just the members in a bit pattern; of 0 J(s), the donors."""
    found = np.empty(len(missing), np.int64)
    many = 0
    for i in range(len(missing)):
        lacking = 0
        for a in range(len(subset)):
            if missing[i, subset[a]]:
                lacking |= 1 << a
        if lacking == pattern:
            found[many] = i
            many += 1
    return found[:many]


@compiled
def split_of(subset, cards, pattern):
    """Split a subset whose members have so many categories."""
    size = len(cards)
    members = np.arange(size)
    lacks = members < 0
    for a in range(size):
        lacks[a] = pattern >> a & 1 == 1
    o_members, q_members = members[~lacks], members[lacks]
    o_cards, q_cards = cards[o_members], cards[q_members]
    strides, o_strides = np.empty(size, np.int64), np.zeros(size, np.int64)
    strides_of(cards, strides)
    n_o = 1
    for a in o_members[::-1]:
        o_strides[a] = n_o
        n_o *= cards[a]
    n_q = q_cards.prod()
    of_o, of_q = np.empty(n_o, np.int64), np.empty(n_q, np.int64)
    part_cells(o_cards, strides[o_members], of_o)
    part_cells(q_cards, strides[q_members], of_q)
    q_digits = np.empty((n_q, len(q_cards)), np.int64)
    for q in range(n_q):
        rest = q
        for a in range(len(q_cards) - 1, -1, -1):
            q_digits[q, a] = rest % q_cards[a]
            rest //= q_cards[a]
    return SubsetSplit(
        subset, cards, o_members, q_members, o_cards, q_cards, o_strides, q_digits, of_o, of_q
    )


@compiled
def recorded_rows(i, rows, split, kept):
    """The cells of O that cohort i has rows in, and n_i(o,y): kept up to triples, else counted."""
    recorded, n_o = split.subset[split.o_members], len(split.of_o)
    n_classes, size = rows.by_class.shape[1], len(recorded)
    if size == 0:
        table = rows.by_class[i : i + 1]
    elif size <= LARGEST_KEPT:
        start = kept[size - 1].starts[rank_of(recorded)]
        table = kept[size - 1].tables[i, start : start + n_o]
    else:
        table = np.zeros((n_o, n_classes))
        strides = np.empty(size, np.int64)
        strides_of(split.o_cards, strides)
        count_cells(rows, i, recorded, strides, table)
    seen, counts = np.empty(n_o, np.int64), np.empty((n_o, n_classes))
    many = 0
    for o in range(n_o):
        total = 0.0
        for y in range(n_classes):
            counts[many, y] = table[o, y]
            total += table[o, y]
        if total > 0.0:
            seen[many] = o
            many += 1
    return seen[:many], counts[:many]


@compiled
def parts_of(i, split, seen, kept, members):
    """The parts of a set that cohort i has an informed table of, in the cells of O it has seen."""
    n_parts, part_size = members.shape
    smaller = kept[part_size - 1]
    n_classes, n_q, size = smaller.tables.shape[2], len(split.of_q), len(split.cards)
    most = 1
    for u in range(n_parts):
        most = max(most, split.cards[members[u]].prod())
    wanted, cells = np.empty((n_parts, most * n_classes)), np.empty(most, np.int64)
    sizes, lengths = np.empty(n_parts, np.int64), np.empty(n_parts, np.int64)
    o_lines = np.empty((n_parts, len(seen)), np.int64)
    q_lines = np.empty((n_parts, n_q), np.int64)
    steps, of_o = np.empty(size, np.int64), np.empty(len(split.of_o), np.int64)
    many = 0
    for u in range(n_parts):
        rank = rank_of(split.subset[members[u]])
        if not smaller.informed[i, rank]:
            continue
        n_last = _lay_steps(split, members[u], steps)
        start, n_cells = smaller.starts[rank], split.cards[members[u]].prod()
        table = smaller.tables[i, start : start + n_cells]
        part_cells(split.cards[members[u]], steps[members[u]], cells)
        for k in range(n_cells):
            for y in range(n_classes):
                wanted[many, cells[k] * n_classes + y] = table[k, y]
        sizes[many], lengths[many] = n_cells * n_classes, n_last * n_classes
        part_cells(split.o_cards, steps[split.o_members], of_o)
        part_cells(split.q_cards, steps[split.q_members], q_lines[many])
        for r in range(len(seen)):
            o_lines[many, r] = of_o[seen[r]] // n_last
        for r in range(n_q // n_last):
            q_lines[many, r] = q_lines[many, r * n_last] // n_last
        many += 1
    return Parts(wanted[:many], sizes[:many], lengths[:many], o_lines[:many], q_lines[:many])


@compiled
def _lay_steps(split, members, steps):
    """Strides of the part, O before Q; returns the values of the last members of Q within it."""
    steps[:] = 0
    for a in members:
        steps[a] = 1
    filled, n_last, unbroken = 1, 1, True
    for a in split.q_members[::-1]:
        unbroken &= steps[a] > 0
        if steps[a]:
            steps[a] = filled
            filled *= split.cards[a]
        if unbroken:
            n_last *= split.cards[a]
    for a in split.o_members[::-1]:
        if steps[a]:
            steps[a] = filled
            filled *= split.cards[a]
    return n_last
