"""How a subset falls into O, which a cohort recorded, and Q, which it did not, and their cells.

Which members are lacking is a pattern of bits, bit a for member a. Cohorts that lack the same
members share the split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.completion.transfer.kernels.tables import count_cells, strides_of
from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    return Split(
        subset, cards, strides, pattern, recorded[o:], o_cards[o:], o_strides, q_digits, n_o
    )


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
def recorded_rows(i, rows, split):
    """The cells of O that cohort i has rows in, and n_i(o,y) of these."""
    counts = np.zeros((split.n_o, rows.by_class.shape[1]))
    if split.n_o == 1:
        counts[0] = rows.by_class[i]
    else:
        strides = np.empty(len(split.recorded), np.int64)
        strides_of(split.o_cards, strides)
        count_cells(rows, i, split.recorded, strides, counts)
    seen = np.empty(split.n_o, np.int64)
    many = 0
    for o in range(split.n_o):
        for y in range(counts.shape[1]):
            if counts[o, y] > 0:
                seen[many] = o
                counts[many] = counts[o]
                many += 1
                break
    return seen[:many], counts[:many]


@compiled
def add_steps(pattern, members, strides, digits, lacking, steps):
    """Add what the values of O, or of Q where `lacking`, contribute to the cells of a part."""
    for u in range(len(members)):
        a = members[u]
        if (pattern >> a & 1 == 1) != lacking:
            continue
        place = 0
        for b in range(a):
            place += (pattern >> b & 1 == 1) == lacking
        for r in range(len(digits)):
            steps[r] += strides[u] * digits[r, place]


@compiled
def whole_cells(split, o_digits):
    """What the values of O, and those of Q, contribute to the cell of the whole subset."""
    members = np.arange(len(split.strides))
    of_o = np.zeros(len(o_digits), np.int64)
    of_q = np.zeros(len(split.q_digits), np.int64)
    add_steps(split.pattern, members, split.strides, o_digits, False, of_o)
    add_steps(split.pattern, members, split.strides, split.q_digits, True, of_q)
    return of_o, of_q
