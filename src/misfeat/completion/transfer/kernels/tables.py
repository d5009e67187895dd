"""Count tables of subsets: where cells are, how many rows fall into each, and fits to margins.

The cell of values x of a subset with c_1, …, c_m categories is ((x_1 c_2 + x_2) c_3 + …): a sum of
one stride a feature times its value, so the cells of parts and wholes follow from each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.machine.compiling import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024
"""Rows whose cells are found together, so that they stay in the first-level cache."""


class Rows(NamedTuple):
    """The coded, weighted rows of all cohorts.

    Attributes
    ----------
    codes : ndarray of int64 of shape (n_features, n_rows)
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

    codes: NDArray[np.int64]
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
    """The place of a pair or a triple among those of its size."""
    a, b = subset[0], subset[1]
    place = b * (b - 1) // 2 + a
    if len(subset) == 3:
        c = subset[2]
        place += c * (c - 1) * (c - 2) // 6
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
    """The tables of the subsets first to last, in every cohort that recorded them."""
    strides = np.empty(layout.subsets.shape[1], np.int64)
    for s in range(first, last):
        subset, start = layout.subsets[s], layout.starts[s]
        cells = strides_of(rows.cards[subset], strides)
        for j in donors_of(subset, rows.missing):
            count_cells(rows, j, subset, strides, counts[j, start : start + cells])


@compiled
def fit_to(values, cells, wanted, sums):
    """Scale values so that their sums over `cells`, class by class, are as wanted."""
    n_classes = values.shape[1]
    sums[: len(wanted)] = 0.0
    for k in range(len(values)):
        for y in range(n_classes):
            sums[cells[k], y] += values[k, y]
    for h in range(len(wanted)):
        for y in range(n_classes):
            sums[h, y] = wanted[h, y] / sums[h, y] if sums[h, y] > 1e-300 else 0.0
    for k in range(len(values)):
        for y in range(n_classes):
            values[k, y] *= sums[cells[k], y]


@compiled
def fit_rows(values, wanted):
    """Scale values so that every cell has the wanted sum over the classes."""
    for k in range(len(values)):
        total = 0.0
        for y in range(values.shape[1]):
            total += values[k, y]
        factor = wanted[k] / total if total > 1e-300 else 0.0
        for y in range(values.shape[1]):
            values[k, y] *= factor
