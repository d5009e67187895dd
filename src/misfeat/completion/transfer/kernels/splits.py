"""How a subset falls into O, which a cohort recorded, and Q, which it did not, and their cells.

Which members are lacking is a pattern of bits, bit a for member a. Cohorts that lack the same
members share the split. The parts that a cohort has completed tables of are laid out for fitting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.fitting import Parts
from misfeat.completion.transfer.kernels.tables import count_cells, rank_of, strides_of
from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


LARGEST_KEPT = 3
"""Tables of up to so many features are kept where larger ones are fitted to them."""


class Split(NamedTuple):
    """A subset, and which of its members are lacking.

    Attributes
    ----------
    subset, cards, strides : ndarray of int64 of shape (size,)
        Feature numbers, their categories, and what a step in each moves a cell of the subset by.
    pattern : int
        Bit a is set where member a is lacking.
    recorded, o_cards : ndarray of int64 of shape (n_recorded,)
        The recorded members, and their categories.
    o_strides : ndarray of int64 of shape (size,)
        What a step in each member moves a cell of O by: 0 for lacking ones.
    q_digits : ndarray of int64 of shape (n_q, n_lacking)
        The value of every lacking member in each cell of Q.
    of_o, of_q : ndarray of int64 of shape (n_o,), (n_q,)
        What the values of O, and those of Q, contribute to the cell of the whole subset.
    n_o : int
        How many cells the table of O has.
    """

    subset: NDArray[np.int64]
    cards: NDArray[np.int64]
    strides: NDArray[np.int64]
    pattern: int
    recorded: NDArray[np.int64]
    o_cards: NDArray[np.int64]
    o_strides: NDArray[np.int64]
    q_digits: NDArray[np.int64]
    of_o: NDArray[np.int64]
    of_q: NDArray[np.int64]
    n_o: int


@compiled
def _pattern(subset, missing):
    """Which members a cohort lacks, as bits."""
    pattern = 0
    for a in range(len(subset)):
        if missing[subset[a]]:
            pattern |= 1 << a
    return pattern


@compiled
def cohorts_lacking(subset, pattern, missing):
    """The cohorts that lack just these members of a subset."""
    found = np.empty(len(missing), np.int64)
    many = 0
    for i in range(len(missing)):
        if _pattern(subset, missing[i]) == pattern:
            found[many] = i
            many += 1
    return found[:many]


@compiled
def split_of(subset, cards, pattern):
    """Split a subset whose members have so many categories."""
    size = len(cards)
    strides, o_strides = np.empty(size, np.int64), np.zeros(size, np.int64)
    strides_of(cards, strides)
    recorded = np.empty(size, np.int64)
    o_cards, q_cards = np.empty(size, np.int64), np.empty(size, np.int64)
    n_o, n_q = 1, 1
    o, q = size, size  # filled from behind
    for a in range(size - 1, -1, -1):
        if pattern >> a & 1:
            q -= 1
            q_cards[q] = cards[a]
            n_q *= cards[a]
        else:
            o -= 1
            recorded[o], o_cards[o] = subset[a], cards[a]
            o_strides[a] = n_o
            n_o *= cards[a]
    q_digits = digits_of(np.arange(n_q), q_cards[q:])
    of_o, of_q = np.empty(n_o, np.int64), np.empty(n_q, np.int64)
    cells_of_half(cards, pattern, False, strides, of_o)
    cells_of_half(cards, pattern, True, strides, of_q)
    return Split(
        subset,
        cards,
        strides,
        pattern,
        recorded[o:],
        o_cards[o:],
        o_strides,
        q_digits,
        of_o,
        of_q,
        n_o,
    )


@compiled
def cells_of_half(cards, pattern, lacking, steps, cells):
    """For every cell of O, or of Q where `lacking`, the sum of the steps of its values."""
    cells[0] = 0
    filled = 1
    for a in range(len(cards) - 1, -1, -1):
        if (pattern >> a & 1 == 1) == lacking:
            for x in range(1, cards[a]):
                for k in range(filled):
                    cells[x * filled + k] = cells[k] + x * steps[a]
            filled *= cards[a]


@compiled
def digits_of(cells, cards):
    """The value of every feature in each of some cells."""
    digits = np.empty((len(cells), len(cards)), np.int64)
    for r in range(len(cells)):
        rest = cells[r]
        for a in range(len(cards) - 1, -1, -1):
            digits[r, a] = rest % cards[a]
            rest //= cards[a]
    return digits


@compiled
def recorded_rows(i, rows, split, kept):
    """The cells of O that cohort i has rows in, and n_i(o,y) of these.

    `kept` are the counts of singles, pairs and triples; other tables are counted.
    """
    n_classes, size = rows.by_class.shape[1], len(split.recorded)
    if size == 0:
        table = rows.by_class[i : i + 1]
    elif size <= LARGEST_KEPT and kept[size - 1].tables.shape[1]:
        start = kept[size - 1].starts[rank_of(split.recorded)]
        table = kept[size - 1].tables[i, start : start + split.n_o]
    else:
        table = np.zeros((split.n_o, n_classes))
        strides = np.empty(size, np.int64)
        strides_of(split.o_cards, strides)
        count_cells(rows, i, split.recorded, strides, table)
    seen, counts = np.empty(split.n_o, np.int64), np.empty((split.n_o, n_classes))
    many = 0
    for o in range(split.n_o):
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
