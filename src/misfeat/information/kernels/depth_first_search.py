"""Sparse depth-first: scores of listed subsets where tables would have many cells.

Subsets are visited so that those with a common beginning follow each other. A node of the search
keeps the rows that still matter, the number of the group that each belongs to, and its class; one
more feature splits the groups. With f(c) = c log c and N rows,

    N I(S; Y) = N H(Y) + sum over groups s of [sum over classes y of f(c_sy) - f(c_s)].

Rows of groups of one class are dropped (docs/explanation/scores.md). Scores above chance have
g(c_s), the null expectation, in place of f(c_s); a pure group then contributes, unless it holds one
row. Where rows lack values, none may be dropped, and g depends on a subset's rows of every class.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from misfeat.information.null_expectation import Logs, c_log_c, sum_of_expectations, sum_of_weighted
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.runtime.compilation import compiled, compiled_fast


@compiled
def shared_depth(path, depth, subset, size):
    """How many members of a subset the search has taken already, in this order."""
    shared = 0
    while shared < min(depth, size) and path[shared] == subset[shared]:
        shared += 1
    return shared


@compiled
def next_begins_so(members, sizes, s):
    """Whether the subset after the s-th one begins with all its members."""
    if s + 1 == len(sizes) or sizes[s + 1] <= sizes[s]:
        return False
    for j in range(sizes[s]):
        if members[s + 1, j] != members[s, j]:
            return False
    return True


class SearchedRows(NamedTuple):
    """Rows of any number of classes and any weights."""

    codes: Indices  # (n_features, n_rows), negative where a value is missing
    cardinalities: Integers
    target: NDArray[np.unsignedinteger]
    weights: Integers
    n_classes: int
    n_cells: int  # that a split may touch
    drop_pure: bool  # whether rows of groups that hold one class only are dropped
    negligible: int  # rows of groups that hold at most so many are dropped in any case
    lacks_values: bool
    logs: Logs


class Path(NamedTuple):
    """The nodes of the search from its root to where it is; a line per depth."""

    features: Integers  # the feature that leads from each node to the next
    rows: NDArray[np.int32]  # (n_depths, n_rows): rows that still matter
    groups: Integers  # (n_depths, n_rows): the group of each
    n_left: Integers  # how many such rows there are
    joint: Floats  # sums of f over the classes of all groups
    marginal: Floats  # sums of g over all groups
    totals: Integers  # (n_depths, n_classes): rows of every class


class Scratch(NamedTuple):
    """Memory for splitting groups."""

    cells: Integers  # (n_cells, n_classes): counts of new groups; 0 between splits
    renumbered: Integers  # (n_cells,): numbers of new groups; -1 between splits
    keys: Integers  # (n_rows,): the cell of each row
    touched: Integers  # (n_rows,): cells with rows, as they were met
    beyond: Integers  # (n_rows,): totals of cells that no table reaches


@compiled
def score_listed(members, sizes, rows, sums):
    """Write the sums of listed subsets."""
    # `sums` has one row for the sum over classes less that over groups. Where rows lack values it
    # has four: these two apart, the sum of f over the class totals, and the number of rows.
    path = _start(rows, members.shape[1] + 1)
    scratch = Scratch(
        np.zeros((rows.n_cells, rows.n_classes), dtype=np.int64),
        np.full(rows.n_cells, -1, dtype=np.int64),
        np.empty(len(rows.target), dtype=np.int64),
        np.empty(len(rows.target), dtype=np.int64),
        np.empty(len(rows.target), dtype=np.int64),
    )
    depth = 0
    for s in range(len(sizes)):
        size = sizes[s]
        depth = shared_depth(path.features, depth, members[s], size)
        while depth < size:
            feature = members[s, depth]
            n_touched = _count(feature, depth, rows, path, scratch)
            n_beyond = _sum(n_touched, depth, rows, path, scratch)
            if n_beyond > 0:
                _add_expectations(n_beyond, depth, rows, path, scratch)
            if depth + 1 < size or next_begins_so(members, sizes, s):
                _divide(depth, path, scratch)
            for t in range(n_touched):
                scratch.renumbered[scratch.touched[t]] = -1
            path.features[depth] = feature
            depth += 1
        if len(sums) == 1:
            sums[0, s] = path.joint[depth] - path.marginal[depth]
            continue
        sums[0, s] = path.joint[depth]
        sums[1, s] = path.marginal[depth]
        for y in range(rows.n_classes):
            sums[2, s] += c_log_c(path.totals[depth, y], rows.logs.f)
            sums[3, s] += path.totals[depth, y]


@compiled
def _start(rows, n_depths):
    """A path with its root alone: all rows in one group."""
    n_rows = len(rows.target)
    path = Path(
        np.full(n_depths, -1, dtype=np.int64),
        np.empty((n_depths, n_rows), dtype=np.int32),
        np.empty((n_depths, n_rows), dtype=np.int64),
        np.zeros(n_depths, dtype=np.int64),
        np.zeros(n_depths, dtype=np.float64),
        np.zeros(n_depths, dtype=np.float64),
        np.zeros((n_depths, rows.n_classes), dtype=np.int64),
    )
    for i in range(n_rows):
        path.rows[0, i] = i
        path.groups[0, i] = 0
        path.totals[0, rows.target[i]] += rows.weights[i]
    path.n_left[0] = n_rows
    f, g, by_class, _, _, _, _ = rows.logs
    everything = np.int64(0)
    for y in range(rows.n_classes):
        everything += path.totals[0, y]
        path.joint[0] += c_log_c(path.totals[0, y], f)
    path.marginal[0] = path.joint[0] if len(by_class) else c_log_c(everything, g)
    return path


@compiled_fast
def _count(feature, depth, table, path, scratch):
    """Count the groups that a feature makes, without rows that lack it; how many cells."""
    codes, target, weights = table.codes[feature], table.target, table.weights
    cardinality = table.cardinalities[feature]
    n_rows = path.n_left[depth]
    rows, groups = path.rows[depth, :n_rows], path.groups[depth, :n_rows]
    cells, renumbered, keys, touched, _ = scratch
    class_totals = path.totals[depth + 1]
    class_totals[:] = 0
    n_touched = 0
    for i in range(n_rows):
        row = rows[i]
        code = codes[row]
        if code < 0:
            keys[i] = -1
            continue
        key = groups[i] * cardinality + code
        keys[i] = key
        if renumbered[key] < 0:
            renumbered[key] = 0
            touched[n_touched] = key
            n_touched += 1
        cells[key, target[row]] += weights[row]
        class_totals[target[row]] += weights[row]
    return n_touched


@compiled_fast
def _sum(n_touched, depth, table, path, scratch):
    """Sum f and g over touched cells, number groups; how many cells no table of g reaches."""
    f, g, by_class, _, _, _, _ = table.logs
    n_classes, drop_pure, negligible = table.n_classes, table.drop_pure, table.negligible
    cells, renumbered, touched = scratch.cells, scratch.renumbered, scratch.touched
    is_null = len(by_class) > 0
    beyond = scratch.beyond
    joint = 0.0
    marginal = 0.0
    n_beyond = 0
    n_groups = 0
    for t in range(n_touched):
        key = touched[t]
        total = np.int64(0)
        n_present = 0
        for y in range(n_classes):
            count = cells[key, y]
            cells[key, y] = 0
            total += count
            n_present += count > 0
            joint += c_log_c(count, f)
        if total < len(g):
            marginal += g[total]
        elif is_null:
            beyond[n_beyond] = total
            n_beyond += 1
        else:
            marginal += c_log_c(total, g)
        renumbered[key] = -2  # dropped
        if n_present > 1 or not (drop_pure or total <= negligible):
            renumbered[key] = n_groups
            n_groups += 1
    path.joint[depth + 1], path.marginal[depth + 1] = joint, marginal
    return n_beyond


@compiled
def _add_expectations(n_beyond, depth, table, path, scratch):
    """Add the null expectations of the cells whose totals no table reaches."""
    # Where rows lack values, they depend on the rows that have the values of this subset.
    by_class = path.totals[depth + 1 if table.lacks_values else 0].astype(np.float64)
    beyond, logs = scratch.beyond[:n_beyond], table.logs
    if logs.unit == 1.0:
        path.marginal[depth + 1] += sum_of_expectations(beyond, by_class)
        return
    weighed, rounded = 0.0, 0.0
    for y in range(len(by_class)):  # whole rows of equal weight
        weighed += by_class[y]
        until = np.rint(weighed / logs.unit)
        by_class[y] = until - rounded
        rounded = until
    path.marginal[depth + 1] += sum_of_weighted(
        beyond, by_class, logs.unit, logs.shift, logs.entropies
    )


@compiled
def _divide(depth, path, scratch):
    """Keep the rows of the groups that still matter one deeper."""
    renumbered, keys = scratch.renumbered, scratch.keys
    rows, next_rows, next_groups = path.rows[depth], path.rows[depth + 1], path.groups[depth + 1]
    n_left = 0
    for i in range(path.n_left[depth]):
        if keys[i] >= 0 and renumbered[keys[i]] >= 0:
            next_rows[n_left] = rows[i]
            next_groups[n_left] = renumbered[keys[i]]
            n_left += 1
    path.n_left[depth + 1] = n_left


PACKED_BITS = 16
PACKED_CLASSES = 4
SCANNED_CELLS = 2  # With at most so many cells a row all are looked at; else those touched
PURE = -1e-9  # a group whose sum lies above this holds one class; sums of mixed groups are below -1
_ONES = (1 << 48) + (1 << 32) + (1 << 16) + 1  # A word times this has the sum of its lanes on top


class PackedRows(NamedTuple):
    """Rows of up to four classes."""

    codes: Indices  # (n_features, n_rows), none missing
    cardinalities: Integers
    counts: NDArray[np.uint64]  # how many rows each stands for, in the lane of its class
    drop_pure: bool  # whether groups of one class are dropped, or only those of one row
    logs: Logs


class PackedPath(NamedTuple):
    """The nodes of the search from its root to where it is; a line per depth."""

    features: Integers  # the feature that leads from each node to the next
    rows: NDArray[np.uint16]  # (n_depths, n_rows + 1): rows in groups that are kept
    groups: NDArray[np.uint16]  # (n_depths, n_rows + 1): the group of each
    n_left: Integers  # how many such rows there are
    n_groups: Integers  # and how many groups
    sums: Floats  # over all groups, of f over classes less g of the group


class PackedScratch(NamedTuple):
    """Memory for splitting groups."""

    cells: NDArray[np.uint64]  # counts of the new groups; all 0 between splits
    renumbered: NDArray[np.int32]  # the new numbers of groups that are kept, else -1
    keys: NDArray[np.uint32]  # (n_rows + 1,): the cell of each row
    touched: NDArray[np.uint32]  # (n_rows + 1,): cells with rows, as they were met


@compiled
def score_listed_packed(members, sizes, rows, scores):
    """Write the sum over groups of f over classes less g of the group, of listed subsets."""
    path, scratch = _start_packed(rows, members.shape[1] + 1), _scratch_packed(rows)
    depth = 0
    for s in range(len(sizes)):
        size = sizes[s]
        depth = shared_depth(path.features, depth, members[s], size)
        while depth < size:
            feature = members[s, depth]
            if depth + 1 < size or next_begins_so(members, sizes, s):
                _split_packed(feature, depth, rows, path, scratch)
            else:
                path.sums[depth + 1] = _sum_packed(feature, depth, rows, path, scratch)
            path.features[depth] = feature
            depth += 1
        scores[s] = path.sums[depth]


@compiled
def _start_packed(rows, n_depths):
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
    # The empty subset: the sum of f over the classes less g of the number of rows.
    lane = np.uint64(2**PACKED_BITS - 1)
    total = np.uint64(0)
    for i in range(n_rows):
        total += rows.counts[i]
    everything = np.uint64(0)
    for y in range(PACKED_CLASSES):
        count = (total >> np.uint64(y * PACKED_BITS)) & lane
        everything += count
        path.sums[0] += rows.logs.f[count]
    path.sums[0] -= rows.logs.g[everything]
    return path


@compiled
def _scratch_packed(rows):
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
def _count_packed(feature, depth, table, path, scratch):
    """Count the groups that a feature makes; how many cells, and whether all or those touched."""
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
        return n_cells, True
    n_touched = 0
    for i in range(n_rows):
        row = rows[i]
        key = np.uint32(groups[i]) * width + codes[row]
        keys[i] = key
        cell = cells[key]
        touched[n_touched] = key
        n_touched += cell == np.uint64(0)
        cells[key] = cell + counts[row]
    return n_touched, False


@compiled_fast
def _sum_packed(feature, depth, table, path, scratch):
    """The sum of differences over the groups that a feature makes, which are not kept."""
    n_cells, in_order = _count_packed(feature, depth, table, path, scratch)
    f, g, _, small, _, _, _ = table.logs
    cells, touched = scratch.cells, scratch.touched
    total = 0.0
    for t in range(n_cells):
        key = np.int64(t) if in_order else np.int64(touched[t])
        total += _difference(cells[key], f, g, small)
        cells[key] = np.uint64(0)
    return total


@compiled_fast
def _split_packed(feature, depth, table, path, scratch):
    """Split the groups of a node by a feature, and keep the rows of those that still matter."""
    n_cells, in_order = _count_packed(feature, depth, table, path, scratch)
    f, g, _, small, _, _, _ = table.logs
    drop_pure = table.drop_pure
    cells, renumbered, touched = scratch.cells, scratch.renumbered, scratch.touched
    total = 0.0
    n_kept = 0
    for t in range(n_cells):
        key = np.int64(t) if in_order else np.int64(touched[t])
        cell = cells[key]
        part = _difference(cell, f, g, small)
        cells[key] = np.uint64(0)
        total += part
        kept = part < PURE if drop_pure else cell * np.uint64(_ONES) >> np.uint64(48) > 1
        renumbered[key] = n_kept if kept else -1
        n_kept += kept
    path.sums[depth + 1], path.n_groups[depth + 1] = total, n_kept
    n_rows, keys = path.n_left[depth], scratch.keys
    rows, next_rows, next_groups = path.rows[depth], path.rows[depth + 1], path.groups[depth + 1]
    n_left = 0
    for i in range(n_rows):
        group = renumbered[keys[i]]
        next_rows[n_left] = rows[i]
        next_groups[n_left] = group
        n_left += group >= 0
    path.n_left[depth + 1] = n_left
