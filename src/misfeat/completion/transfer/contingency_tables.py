"""Count tables of subsets: where cells are, how many rows fall into each, and fits to margins.

The cell of values x of a subset with c_1, …, c_m categories is ((x_1 c_2 + x_2) c_3 + …): a sum of
one stride a feature times its value, so the cells of parts and wholes follow from each other.

A subset falls into O, which a cohort recorded, and Q, which it did not. Cohorts that lack the same
members share the split.
"""

from typing import NamedTuple

import numpy as np

from misfeat.runtime.array_types import Flags, Floats, Indices, Integers
from misfeat.runtime.compilation import compiled, copy_lines

UNFILLED = 1e-300  # A sum that is not above this cannot be scaled
LARGEST_KEPT = 3  # tables of up to so many features are kept where larger ones are fitted to them


class Rows(NamedTuple):
    """The coded, weighted rows of all cohorts."""

    codes: Indices  # (n_features, n_rows); those of unrecorded features are not read
    target: Integers  # (n_rows,): classes
    weights: Floats  # (n_rows,): how many rows of the table each stands for
    offsets: Integers  # cohort i owns the rows ``offsets[i]:offsets[i + 1]``
    missing: Flags  # (n_cohorts, n_features): which features each cohort never recorded
    cards: Integers  # (n_features,): how many categories each feature has
    by_class: Floats  # (n_cohorts, n_classes): n_i(y)
    sizes: Floats  # (n_cohorts,): N_i, the weights of donors


class Layout(NamedTuple):
    """The tables of all subsets of one size, end to end: a line per cell, a column per class."""

    subsets: Integers  # (n_subsets, size): feature numbers, in the order of ranks
    starts: Integers  # (n_subsets + 1,): the first line of each subset's table


class SubsetSplit(NamedTuple):
    """A subset, and which of its members are lacking."""

    subset: Integers  # (size,): feature numbers
    cards: Integers  # (size,): their categories
    o_members: Integers  # (n_recorded,): which members are recorded
    q_members: Integers  # (n_lacking,): which are lacking
    of_o: Integers  # (n_o,): what the values of O contribute to the cell of the subset
    of_q: Integers  # (n_q,): the same for those of Q


@compiled
def strides_of(cards, strides):
    """Fill in what a step in each feature moves a cell by; returns the number of cells."""
    cells = 1
    for a in range(len(cards) - 1, -1, -1):
        strides[a] = cells
        cells *= cards[a]
    return cells


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
    for r in range(rows.offsets[cohort], rows.offsets[cohort + 1]):
        cell = 0
        for a in range(len(subset)):
            cell += strides[a] * rows.codes[subset[a], r]
        counts[cell, rows.target[r]] += rows.weights[r]


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
def rake_parts(values, cards, width, wanted, starts, sums, sweeps):
    """Rake a table, `width` numbers a cell, to all tables of one member less, the last first."""
    # The cells of the table without the u-th last member start at ``starts[u]`` of those wanted.
    for _ in range(sweeps):
        inner = width
        for u in range(len(cards)):
            n_summed, start = cards[len(cards) - 1 - u], starts[u] * width
            goal = wanted[start : start + len(values) // n_summed]
            rake(values, n_summed, inner, goal, sums, UNFILLED)
            inner *= n_summed


@compiled
def tables_of(tables, cohorts, start, stop):
    """The tables of one subset, which has the cells from start to stop, in some cohorts."""
    found = np.empty((len(cohorts), stop - start, tables.shape[2]))
    for d in range(len(cohorts)):
        copy_lines(tables[cohorts[d], start:stop], found[d])
    return found


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
    members = np.arange(len(cards))
    lacks = pattern >> members & 1 == 1
    o_members, q_members = members[~lacks], members[lacks]
    strides = np.empty(len(cards), np.int64)
    strides_of(cards, strides)
    of_o, of_q = part_cells_of(cards, strides, o_members), part_cells_of(cards, strides, q_members)
    return SubsetSplit(subset, cards, o_members, q_members, of_o, of_q)


@compiled
def part_cells_of(cards, steps, members):
    """For every cell of some members, what it adds to the cell of a table with these strides."""
    cells = np.zeros(cards[members].prod(), np.int64)
    filled = 1
    for a in members[::-1]:
        for x in range(1, cards[a]):
            for k in range(filled):
                cells[x * filled + k] = cells[k] + x * steps[a]
        filled *= cards[a]
    return cells


@compiled
def recorded_rows(i, rows, split, kept):
    """The cells of O that cohort i has rows in, and n_i(o,y): kept up to triples, else counted."""
    recorded, n_o = split.subset[split.o_members], len(split.of_o)
    size = len(recorded)
    if size == 0:
        table = rows.by_class[i : i + 1]
    elif size <= LARGEST_KEPT:
        start = kept[size - 1].starts[rank_of(recorded)]
        table = kept[size - 1].tables[i, start : start + n_o]
    else:
        table = np.zeros((n_o, rows.by_class.shape[1]))
        strides = np.empty(size, np.int64)
        strides_of(split.cards[split.o_members], strides)
        count_cells(rows, i, recorded, strides, table)
    seen = np.flatnonzero(table.sum(axis=1) > 0)
    return seen, table[seen]
