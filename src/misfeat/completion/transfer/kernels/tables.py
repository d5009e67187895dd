"""Count tables of subsets: where cells are, how many rows fall into each, and fits to margins.

The cell of values x of a subset with c_1, …, c_m categories is ((x_1 c_2 + x_2) c_3 + …): a sum of
one stride a feature times its value, so the cells of parts and wholes follow from each other.
"""

from __future__ import annotations

import numpy as np

from misfeat.machine.compiling import compiled


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
def count_cells(codes, target, weights, start, stop, subset, strides, counts):
    """Add the rows start to stop to the table of a subset."""
    for row in range(start, stop):
        cell = 0
        for a in range(len(subset)):
            cell += strides[a] * codes[subset[a], row]
        counts[cell, target[row]] += weights[row]


@compiled
def count_level(codes, target, weights, offsets, missing, subsets, cards, starts, first, last, out):
    """Tables of some subsets in every cohort that recorded them, each from its start on."""
    size = subsets.shape[1]
    strides = np.empty(size, np.int64)
    for s in range(first, last):
        cells = strides_of(cards[subsets[s]], strides)
        for j in range(len(offsets) - 1):
            recorded = True
            for a in range(size):
                recorded &= not missing[j, subsets[s, a]]
            if recorded:
                table = out[j, starts[s] : starts[s] + cells]
                count_cells(
                    codes, target, weights, offsets[j], offsets[j + 1], subsets[s], strides, table
                )


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
