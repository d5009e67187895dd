"""Count tables of subsets: where cells are, how many rows fall into each, and fits to margins.

The cell of values x of a subset with c_1, …, c_m categories is ((x_1 c_2 + x_2) c_3 + …): a sum of
one stride a feature times its value, so the cells of parts and wholes follow from each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024
"""Rows whose cells are found together, so that they stay in the first-level cache."""
LANES = 8
"""Cohorts whose tables are fitted at once."""
UNFILLED = 1e-300
"""A sum that is not above this cannot be scaled."""


class Rows(NamedTuple):
    """The coded, weighted rows of all cohorts.

    Attributes
    ----------
    codes : ndarray of uint16 of shape (n_features, n_rows)
        Categories; those of unrecorded features are not read.
    target, weights : ndarray of shape (n_rows,)
        The class of a row, and how many rows of the table it stands for.
    offsets : ndarray of int64 of shape (n_cohorts + 1,)
        Cohort i owns the rows ``offsets[i]:offsets[i + 1]``.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    cards : ndarray of int64 of shape (n_features,)
        How many categories each feature has.
    by_class : ndarray of shape (n_cohorts, n_classes)
        n_i(y).
    sizes : ndarray of shape (n_cohorts,)
        N_i, the weights of donors.
    """

    codes: NDArray[np.uint16]
    target: NDArray[np.int64]
    weights: NDArray[np.float64]
    offsets: NDArray[np.int64]
    missing: NDArray[np.bool_]
    cards: NDArray[np.int64]
    by_class: NDArray[np.float64]
    sizes: NDArray[np.float64]


class Layout(NamedTuple):
    """The tables of all subsets of one size, laid end to end: a line a cell, a column a class.

    Attributes
    ----------
    subsets : ndarray of int64 of shape (n_subsets, size)
        Feature numbers, in the order of ranks.
    starts : ndarray of int64 of shape (n_subsets,)
        The first line of each subset's table.
    n_cells : int
        The lines of all tables.
    """

    subsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_cells: int


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
def donors_of(subset, missing):
    """J(s): the cohorts that recorded all of a subset."""
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
def count_level(rows, layout, first, last, counts):
    """The tables of the subsets first to last, in every cohort that recorded them.

    In the order of ranks the first member changes fastest: where the others stay, so do the cells
    that they lead to, and only the first one is added.
    """
    size, n_classes = layout.subsets.shape[1], counts.shape[2]
    strides = np.empty(size, np.int64)
    others = np.empty(len(rows.target), np.int32)
    for s in range(first, last):
        subset, start = layout.subsets[s], layout.starts[s]
        n_cells = strides_of(rows.cards[subset], strides)
        if s == first or not np.array_equal(subset[1:], layout.subsets[s - 1, 1:]):
            _cells_of_others(rows, subset, strides, n_classes, others)
        step = np.uint64(strides[0] * n_classes)
        for j in donors_of(subset, rows.missing):
            table = counts[j, start : start + n_cells].reshape(-1)
            begin, end = rows.offsets[j], rows.offsets[j + 1]
            codes, weights = rows.codes[subset[0], begin:end], rows.weights[begin:end]
            rest = others[begin:end]
            for r in range(len(codes)):
                table[np.uint64(codes[r]) * step + np.uint64(rest[r])] += weights[r]


@compiled
def _cells_of_others(rows, subset, strides, n_classes, cells):
    """Where a row falls in a table but for the first member: its other members, and its class."""
    for r in range(len(cells)):
        cells[r] = rows.target[r]
    for a in range(1, len(subset)):
        codes, step = rows.codes[subset[a]], np.int32(strides[a] * n_classes)
        for r in range(len(cells)):
            cells[r] += step * np.int32(codes[r])


@compiled
def rake(values, n_summed, inner, wanted, sums):
    """Scale values of shape (outer, n_summed, inner) so that their sums over the middle are wanted.

    All are flat; `wanted` is of shape (outer, inner), `sums` is room for `inner` numbers. Numbers
    of places have no sign, so that none is checked for it, and loops are as wide as the machine.
    """
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
            sums[h] = wanted[goal + h] / total if total > UNFILLED else 0.0
        for v in range(n_summed):
            line = block + v * inner
            for h in range(inner):
                values[line + h] *= sums[h]


@compiled
def rake_parts(values, cards, width, wanted, sums):
    """Rake a table, of `width` numbers a cell, to all tables of one member less, the last first.

    `wanted` has a line for each of these, in which it stands from the beginning.
    """
    inner = width
    for u in range(len(cards)):
        n_summed = cards[len(cards) - 1 - u]
        rake(values, n_summed, inner, wanted[u][: len(values) // n_summed], sums)
        inner *= n_summed


@compiled
def in_lanes(tables, cohorts, start, n_cells):
    """Tables of some cohorts with a cohort a lane, of shape (n_groups, n_cells, n_classes, LANES).

    What is done alike to every cohort is then done to a lane of them at once. Lanes to spare hold
    zeros.
    """
    n_classes = tables.shape[2]
    lanes = np.zeros(((len(cohorts) + LANES - 1) // LANES, n_cells, n_classes, LANES))
    for d in range(len(cohorts)):
        group, table = lanes[d // LANES].reshape(-1), tables[cohorts[d], start : start + n_cells]
        entries = table.reshape(-1)
        for k in range(np.uint64(len(entries))):
            group[k * np.uint64(LANES) + np.uint64(d % LANES)] = entries[k]
    return lanes
