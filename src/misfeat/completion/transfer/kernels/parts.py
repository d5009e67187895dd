"""The parts of a subset that a cohort has completed tables of, laid out for fitting."""

from __future__ import annotations

import numpy as np

from misfeat.completion.transfer.kernels.fitting import Parts
from misfeat.completion.transfer.kernels.splits import cells_of_half
from misfeat.completion.transfer.kernels.tables import rank_of
from misfeat.machine.compiling import compiled


@compiled
def parts_of(i, split, seen, kept, members):
    """The parts of a set, of some members each, that cohort i has an informed table of.

    `seen` are the cells of O that matter.
    """
    n_parts, part_size = members.shape
    smaller = kept[part_size - 1]
    n_classes, n_q, size = smaller.tables.shape[2], len(split.of_q), len(split.cards)
    most = 1
    for u in range(n_parts):
        most = max(most, _n_cells(split.cards, members[u]))
    wanted = np.empty((n_parts, most * n_classes))
    sizes, lengths = np.empty(n_parts, np.int64), np.empty(n_parts, np.int64)
    o_lines = np.empty((n_parts, len(seen)), np.int64)
    q_lines = np.empty((n_parts, n_q), np.int64)
    steps, of_o = np.empty(size, np.int64), np.empty(split.n_o, np.int64)
    many = 0
    for u in range(n_parts):
        rank = rank_of(split.subset[members[u]])
        if not smaller.informed[i, rank]:
            continue
        n_last = _lay_steps(split, members[u], steps)
        start, n_cells = smaller.starts[rank], _n_cells(split.cards, members[u])
        table = smaller.tables[i, start : start + n_cells]
        _lay_out(table, split.cards, members[u], steps, wanted[many])
        sizes[many], lengths[many] = n_cells * n_classes, n_last * n_classes
        cells_of_half(split.cards, split.pattern, False, steps, of_o)
        cells_of_half(split.cards, split.pattern, True, steps, q_lines[many])
        for r in range(len(seen)):
            o_lines[many, r] = of_o[seen[r]] // n_last
        for r in range(n_q // n_last):
            q_lines[many, r] = q_lines[many, r * n_last] // n_last
        many += 1
    return Parts(wanted[:many], sizes[:many], lengths[:many], o_lines[:many], q_lines[:many])


@compiled
def _n_cells(cards, members):
    """The cells of a part."""
    n_cells = 1
    for a in members:
        n_cells *= cards[a]
    return n_cells


@compiled
def _lay_steps(split, members, steps):
    """What a step in each member moves a cell of the part by, members of O before those of Q.

    Returns how many values the last members of Q have, as far as all of them are in the part.
    """
    steps[:] = 0
    for a in members:
        steps[a] = 1
    filled, n_last, unbroken = 1, 1, True
    for a in range(len(steps) - 1, -1, -1):
        if split.pattern >> a & 1:
            unbroken &= steps[a] > 0
            if steps[a]:
                steps[a] = filled
                filled *= split.cards[a]
            if unbroken:
                n_last *= split.cards[a]
    for a in range(len(steps) - 1, -1, -1):
        if steps[a] and not split.pattern >> a & 1:
            steps[a] = filled
            filled *= split.cards[a]
    return n_last


@compiled
def _lay_out(table, cards, members, steps, laid):
    """Write a table, its members in the order of columns, with its cells where steps say."""
    n_classes = table.shape[1]
    places = np.empty(len(table), np.int64)
    places[0] = 0
    filled = 1
    for u in range(len(members) - 1, -1, -1):
        a = members[u]
        for x in range(1, cards[a]):
            for k in range(filled):
                places[x * filled + k] = places[k] + x * steps[a]
        filled *= cards[a]
    for k in range(len(table)):
        for y in range(n_classes):
            laid[places[k] * n_classes + y] = table[k, y]
