"""How a subset falls into O, which a cohort recorded, and Q, which it did not, and their cells.

Which members are lacking is a pattern of bits, bit a for member a. Cohorts that lack the same
members share the split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.tables import count_cells, rank_of, strides_of
from misfeat.machine.compiling import compiled

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
