"""Sparse depth-first search for up to four classes, counted in the lanes of one machine word.

The search is that of `misfeat.information.kernels.depth_first`; here counts are below 2**16, so
that a cell is one word and its part of the sum often one look-up: four to six times as fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.information.kernels.depth_first import next_begins_so, shared_depth
from misfeat.runtime.compilation import compiled, compiled_fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.null_expectation import Logs

PACKED_BITS = 16
PACKED_CLASSES = 4
SCANNED_CELLS = 2
"""With at most so many cells a row, all are looked at in order; else those that rows touched."""
PURE = -1e-9
"""A group whose sum lies above this holds one class; sums of mixed groups are below -1."""
_ONES = (1 << 48) + (1 << 32) + (1 << 16) + 1
"""A word times this has the sum of its lanes in the highest one."""


class PackedRows(NamedTuple):
    """Rows of up to four classes."""

    codes: NDArray[np.integer]  # (n_features, n_rows), none missing
    cardinalities: NDArray[np.int64]
    counts: NDArray[np.uint64]  # how many rows each stands for, in the lane of its class
    drop_pure: bool  # whether groups of one class are dropped, or only those of one row
    logs: Logs


class PackedPath(NamedTuple):
    """The nodes of the search from its root to where it is; a line per depth."""

    features: NDArray[np.int64]  # the feature that leads from each node to the next
    rows: NDArray[np.uint16]  # (n_depths, n_rows + 1): rows in groups that are kept
    groups: NDArray[np.uint16]  # (n_depths, n_rows + 1): the group of each
    n_left: NDArray[np.int64]  # how many such rows there are
    n_groups: NDArray[np.int64]  # and how many groups
    sums: NDArray[np.float64]  # over all groups, of f over classes less g of the group


class PackedScratch(NamedTuple):
    """Memory for splitting groups."""

    cells: NDArray[np.uint64]  # counts of the new groups; all 0 between splits
    renumbered: NDArray[np.int32]  # the new numbers of groups that are kept, else -1
    keys: NDArray[np.uint32]  # (n_rows + 1,): the cell of each row
    touched: NDArray[np.uint32]  # (n_rows + 1,): cells with rows, as they were met


@compiled
def score_listed_packed(members, sizes, rows, scores):
    """Write the sum over groups of f over classes less g of the group, of listed subsets."""
    path, scratch = _start(rows, members.shape[1] + 1), _scratch(rows)
    depth = 0
    for s in range(len(sizes)):
        size = sizes[s]
        depth = shared_depth(path.features, depth, members[s], size)
        while depth < size:
            feature = members[s, depth]
            if depth + 1 < size or next_begins_so(members, sizes, s):
                _split(feature, depth, rows, path, scratch)
            else:
                path.sums[depth + 1] = _sum(feature, depth, rows, path, scratch)
            path.features[depth] = feature
            depth += 1
        scores[s] = path.sums[depth]


@compiled
def _start(rows, n_depths):
    """A path with its root alone: all rows in one group."""
    n_rows = len(rows.counts)
    path = PackedPath(
        np.full(n_depths, -1, dtype=np.int64),
        np.empty((n_depths, n_rows + 1), dtype=np.uint16),  # fewer rows than counts reach
        np.empty((n_depths, n_rows + 1), dtype=np.uint16),
        np.zeros(n_depths, dtype=np.int64),
        np.ones(n_depths, dtype=np.int64),
        np.zeros(n_depths, dtype=np.float64),
    )
    for i in range(n_rows):
        path.rows[0, i] = i
        path.groups[0, i] = 0
    path.n_left[0] = n_rows
    path.sums[0] = _sum_of_classes(rows.counts, rows.logs)
    return path


@compiled
def _scratch(rows):
    """Memory for any split. A mixed group has two rows at least, a heavy one may have one."""
    n_rows = len(rows.counts)
    most_groups = n_rows // 2 + 1 if rows.drop_pure else n_rows + 1
    largest = 1
    for feature in range(len(rows.cardinalities)):
        largest = max(largest, rows.cardinalities[feature])
    n_cells = most_groups * largest
    return PackedScratch(
        np.zeros(n_cells, dtype=np.uint64),
        np.empty(n_cells, dtype=np.int32),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows + 1, dtype=np.uint32),
    )


@compiled
def _sum_of_classes(counts, logs):
    """For the empty subset: the sum of f over the classes less g of the number of rows."""
    lane = np.uint64(2**PACKED_BITS - 1)
    total = np.uint64(0)
    for i in range(len(counts)):
        total += counts[i]
    difference = 0.0
    everything = np.uint64(0)
    for y in range(PACKED_CLASSES):
        count = (total >> np.uint64(y * PACKED_BITS)) & lane
        everything += count
        difference += logs.f[count]
    return difference - logs.g[everything]


@compiled_fast
def _difference(cell, f, g, small):
    """Sum of f over the four lanes of a word less g of their sum."""
    if cell & np.uint64(0xFFF0FFF0FFF0FFF0) == np.uint64(0):
        spread = np.uint64((1 << 48) + (1 << 36) + (1 << 24) + (1 << 12))
        return small[(cell * spread) >> np.uint64(48)]
    lane = np.uint64(0xFFFF)
    a = cell & lane
    b = (cell >> np.uint64(16)) & lane
    c = (cell >> np.uint64(32)) & lane
    d = cell >> np.uint64(48)
    return ((f[a] + f[b]) + (f[c] + f[d])) - g[a + b + c + d]


@compiled_fast
def _sum(feature, depth, table, path, scratch):
    """The sum of differences over the groups that a feature makes, which are not kept."""
    codes, counts = table.codes[feature], table.counts
    f, g, _, small, _, _, _ = table.logs
    n_rows = path.n_left[depth]
    rows, groups = path.rows[depth, :n_rows], path.groups[depth, :n_rows]
    cells, touched = scratch.cells, scratch.touched
    width = np.uint32(table.cardinalities[feature])
    n_cells = path.n_groups[depth] * table.cardinalities[feature]
    total = 0.0
    if n_cells <= SCANNED_CELLS * n_rows:
        for i in range(n_rows):
            row = rows[i]
            cells[np.uint32(groups[i]) * width + codes[row]] += counts[row]
        for key in range(n_cells):
            cell = cells[key]
            cells[key] = np.uint64(0)
            total += _difference(cell, f, g, small)
        return total
    n_touched = 0
    for i in range(n_rows):
        row = rows[i]
        key = np.uint32(groups[i]) * width + codes[row]
        cell = cells[key]
        touched[n_touched] = key
        n_touched += cell == np.uint64(0)
        cells[key] = cell + counts[row]
    for t in range(n_touched):
        cell = cells[touched[t]]
        cells[touched[t]] = np.uint64(0)
        total += _difference(cell, f, g, small)
    return total


@compiled_fast
def _split(feature, depth, table, path, scratch):
    """Split the groups of a node by a feature, and keep the rows of those that still matter."""
    codes, counts = table.codes[feature], table.counts
    n_rows = path.n_left[depth]
    rows, groups = path.rows[depth, :n_rows], path.groups[depth, :n_rows]
    cells, keys, touched = scratch.cells, scratch.keys, scratch.touched
    width = np.uint32(table.cardinalities[feature])
    n_cells = path.n_groups[depth] * table.cardinalities[feature]
    if n_cells <= SCANNED_CELLS * n_rows:
        for i in range(n_rows):
            row = rows[i]
            key = np.uint32(groups[i]) * width + codes[row]
            keys[i] = key
            cells[key] += counts[row]
        total, n_kept = _renumber_all(n_cells, table, scratch)
    else:
        n_touched = 0
        for i in range(n_rows):
            row = rows[i]
            key = np.uint32(groups[i]) * width + codes[row]
            keys[i] = key
            cell = cells[key]
            touched[n_touched] = key
            n_touched += cell == np.uint64(0)
            cells[key] = cell + counts[row]
        total, n_kept = _renumber_touched(n_touched, table, scratch)
    path.sums[depth + 1], path.n_groups[depth + 1] = total, n_kept
    renumbered = scratch.renumbered
    next_rows, next_groups = path.rows[depth + 1], path.groups[depth + 1]
    n_left = 0
    for i in range(n_rows):
        group = renumbered[keys[i]]
        next_rows[n_left] = rows[i]
        next_groups[n_left] = group
        n_left += group >= 0
    path.n_left[depth + 1] = n_left


@compiled_fast
def _renumber_all(n_cells, table, scratch):
    """Number the cells that are kept; the sum of differences, and how many are kept."""
    f, g, _, small, _, _, _ = table.logs
    drop_pure = table.drop_pure
    cells, renumbered = scratch.cells, scratch.renumbered
    total = 0.0
    n_kept = 0
    for key in range(n_cells):
        cell = cells[key]
        part = _difference(cell, f, g, small)
        cells[key] = np.uint64(0)
        total += part
        kept = part < PURE if drop_pure else cell * np.uint64(_ONES) >> np.uint64(48) > 1
        renumbered[key] = n_kept if kept else -1
        n_kept += kept
    return total, n_kept


@compiled_fast
def _renumber_touched(n_touched, table, scratch):
    """The same for the cells that rows touched."""
    f, g, _, small, _, _, _ = table.logs
    drop_pure = table.drop_pure
    cells, renumbered, touched = scratch.cells, scratch.renumbered, scratch.touched
    total = 0.0
    n_kept = 0
    for t in range(n_touched):
        key = touched[t]
        cell = cells[key]
        part = _difference(cell, f, g, small)
        cells[key] = np.uint64(0)
        total += part
        kept = part < PURE if drop_pure else cell * np.uint64(_ONES) >> np.uint64(48) > 1
        renumbered[key] = n_kept if kept else -1
        n_kept += kept
    return total, n_kept
