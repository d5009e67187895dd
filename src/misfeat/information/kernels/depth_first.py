"""Sparse depth-first: scores of listed subsets where tables would have many cells.

Subsets are visited so that those with a common beginning follow each other. A node of the search
keeps the rows that still matter, the number of the group that each belongs to, and its class; one
more feature splits the groups. With f(c) = c log c and N rows,

    N I(S; Y) = N H(Y) + sum over groups s of [sum over classes y of f(c_sy) - f(c_s)].

A group that holds one class only contributes 0, under every further split: its rows are dropped for
the whole subtree. So the deeper the search, the fewer rows are left.

Where entropies are wanted, or where rows lack values, no row may be dropped for that reason.
"""

from __future__ import annotations

import numpy as np

from misfeat.information.kernels.cube import f_of
from misfeat.machine.compiling import compiled, compiled_fast

PACKED_BITS = 16
PACKED_CLASSES = 4
SCANNED_CELLS = 2
"""With at most so many cells a row, all are looked at in order; else those that rows touched."""
PURE = -1e-9
"""A group whose sum lies above this holds one class; sums of mixed groups are below -1."""


@compiled_fast
def _difference(cell, f, small):
    """Sum of f over the four lanes of a word less f of their sum."""
    if cell & np.uint64(0xFFF0FFF0FFF0FFF0) == np.uint64(0):
        spread = np.uint64((1 << 48) + (1 << 36) + (1 << 24) + (1 << 12))
        return small[(cell * spread) >> np.uint64(48)]
    lane = np.uint64(0xFFFF)
    a = cell & lane
    b = (cell >> np.uint64(16)) & lane
    c = (cell >> np.uint64(32)) & lane
    d = cell >> np.uint64(48)
    return ((f[a] + f[b]) + (f[c] + f[d])) - f[a + b + c + d]


@compiled_fast
def _sum_packed(codes, cardinality, rows, groups, n_groups, counts, f, small, cells, touched):
    """The sum of differences over the groups that a feature makes, which are not kept."""
    total = 0.0
    width = np.uint32(cardinality)
    n_cells = n_groups * cardinality
    if n_cells <= SCANNED_CELLS * len(rows):
        for i in range(len(rows)):
            row = rows[i]
            cells[np.uint32(groups[i]) * width + codes[row]] += counts[row]
        for key in range(n_cells):
            cell = cells[key]
            cells[key] = np.uint64(0)
            total += _difference(cell, f, small)
        return total
    n_touched = 0
    for i in range(len(rows)):
        row = rows[i]
        key = np.uint32(groups[i]) * width + codes[row]
        cell = cells[key]
        touched[n_touched] = key
        n_touched += cell == np.uint64(0)
        cells[key] = cell + counts[row]
    for t in range(n_touched):
        cell = cells[touched[t]]
        cells[touched[t]] = np.uint64(0)
        total += _difference(cell, f, small)
    return total


@compiled_fast
def _split_packed(
    codes,
    cardinality,
    rows,
    groups,
    n_groups,
    counts,
    f,
    small,
    next_rows,
    next_groups,
    cells,
    keys,
    touched,
    renumbered,
):
    """Split groups by a feature, up to four classes packed into the 16-bit lanes of one word.

    Returns the sum of differences over the new groups, how many rows are left in mixed ones, and
    how many of those groups there are.
    """
    n_rows = len(rows)
    width = np.uint32(cardinality)
    n_cells = n_groups * cardinality
    total = 0.0
    n_mixed = 0
    if n_cells <= SCANNED_CELLS * n_rows:
        for i in range(n_rows):
            row = rows[i]
            key = np.uint32(groups[i]) * width + codes[row]
            keys[i] = key
            cells[key] += counts[row]
        for key in range(n_cells):
            part = _difference(cells[key], f, small)
            cells[key] = np.uint64(0)
            total += part
            mixed = part < PURE
            renumbered[key] = n_mixed if mixed else -1
            n_mixed += mixed
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
        for t in range(n_touched):
            key = touched[t]
            part = _difference(cells[key], f, small)
            cells[key] = np.uint64(0)
            total += part
            mixed = part < PURE
            renumbered[key] = n_mixed if mixed else -1
            n_mixed += mixed
    n_left = 0
    for i in range(n_rows):
        group = renumbered[keys[i]]
        next_rows[n_left] = rows[i]
        next_groups[n_left] = group
        n_left += group >= 0
    return total, n_left, n_mixed


@compiled
def score_listed_packed(members, sizes, codes, cardinalities, counts, f, small, scores):
    """Score listed subsets; `counts` holds each row's weight in the lane of its class."""
    n_rows = len(counts)
    depths = members.shape[1] + 1
    rows = np.empty((depths, n_rows + 1), dtype=np.uint16)  # fewer rows than counts reach
    groups = np.empty((depths, n_rows + 1), dtype=np.uint16)
    left = np.zeros(depths, dtype=np.int64)
    n_groups = np.ones(depths, dtype=np.int64)
    sums = np.zeros(depths, dtype=np.float64)
    # At most half of the rows' number of groups are mixed.
    largest = 1
    for feature in range(len(cardinalities)):
        largest = max(largest, cardinalities[feature])
    n_cells = (n_rows // 2 + 1) * largest
    cells = np.zeros(n_cells, dtype=np.uint64)
    renumbered = np.empty(n_cells, dtype=np.int32)
    keys = np.empty(n_rows + 1, dtype=np.uint32)
    touched = np.empty(n_rows + 1, dtype=np.uint32)
    for i in range(n_rows):
        rows[0, i] = i
        groups[0, i] = 0
    left[0] = n_rows
    sums[0] = _sum_f_of_classes(counts, f)
    path = np.full(depths, -1, dtype=np.int64)
    depth = 0
    for s in range(len(sizes)):
        size = sizes[s]
        depth = _shared_depth(path, depth, members[s], size)
        while depth < size:
            feature = members[s, depth]
            length = left[depth]
            divide = depth + 1 < size or _next_begins_so(members, sizes, s)
            held, own = rows[depth, :length], groups[depth, :length]
            line, cardinality = codes[feature], cardinalities[feature]
            if divide:
                sums[depth + 1], left[depth + 1], n_groups[depth + 1] = _split_packed(
                    line,
                    cardinality,
                    held,
                    own,
                    n_groups[depth],
                    counts,
                    f,
                    small,
                    rows[depth + 1],
                    groups[depth + 1],
                    cells,
                    keys,
                    touched,
                    renumbered,
                )
            else:
                sums[depth + 1] = _sum_packed(
                    line, cardinality, held, own, n_groups[depth], counts, f, small, cells, touched
                )
            path[depth] = feature
            depth += 1
        scores[s] = sums[depth]


@compiled
def _sum_f_of_classes(counts, f):
    """For the empty subset: the sum of f over the classes less f of the number of rows."""
    lane = np.uint64(2**PACKED_BITS - 1)
    total = np.uint64(0)
    for i in range(len(counts)):
        total += counts[i]
    difference = 0.0
    everything = np.uint64(0)
    for y in range(PACKED_CLASSES):
        count = (total >> np.uint64(y * PACKED_BITS)) & lane
        everything += count
        difference += f[count]
    return difference - f[everything]


@compiled
def _shared_depth(path, depth, subset, size):
    """How many members of a subset the search has taken already, in this order."""
    shared = 0
    while shared < min(depth, size) and path[shared] == subset[shared]:
        shared += 1
    return shared


@compiled
def _next_begins_so(members, sizes, s):
    """Whether the subset after the s-th one begins with all its members."""
    if s + 1 == len(sizes) or sizes[s + 1] <= sizes[s]:
        return False
    for j in range(sizes[s]):
        if members[s + 1, j] != members[s, j]:
            return False
    return True


@compiled_fast
def _split(
    codes,
    cardinality,
    target,
    weights,
    rows,
    groups,
    f,
    divide,
    drop_pure,
    next_rows,
    next_groups,
    cells,
    keys,
    touched,
    renumbered,
    class_totals,
):
    """Split groups by a feature, for any number of classes and any weights.

    Rows whose code is negative lack the value and are left out from here on. Returns the sums of f
    over the groups' classes and over the groups, and how many rows are left to `divide` further.
    """
    n_classes = cells.shape[1]
    n_rows = len(rows)
    n_touched = 0
    class_totals[:] = 0
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
    joint = 0.0
    marginal = 0.0
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
            joint += f_of(count, f)
        marginal += f_of(total, f)
        renumbered[key] = -2  # dropped
        if n_present > 1 or not drop_pure:
            renumbered[key] = n_groups
            n_groups += 1
    n_left = 0
    if divide:
        for i in range(n_rows):
            if keys[i] >= 0 and renumbered[keys[i]] >= 0:
                next_rows[n_left] = rows[i]
                next_groups[n_left] = renumbered[keys[i]]
                n_left += 1
    for t in range(n_touched):
        renumbered[touched[t]] = -1
    return joint, marginal, n_left


@compiled
def score_listed(
    members, sizes, codes, cardinalities, target, weights, n_classes, n_cells, f, drop_pure, sums
):
    """Write the sums of f of listed subsets.

    `sums` has one row for the sum over classes less that over groups; two rows keep them apart;
    two more hold the sum of f over the class totals and the number of rows, which vary between
    subsets where rows lack values.
    """
    n_rows = len(target)
    depths = members.shape[1] + 1
    rows = np.empty((depths, n_rows), dtype=np.int32)
    groups = np.empty((depths, n_rows), dtype=np.int64)
    left = np.zeros(depths, dtype=np.int64)
    joint = np.zeros(depths, dtype=np.float64)
    marginal = np.zeros(depths, dtype=np.float64)
    totals = np.zeros((depths, n_classes), dtype=np.int64)
    cells = np.zeros((n_cells, n_classes), dtype=np.int64)
    renumbered = np.full(n_cells, -1, dtype=np.int64)
    keys = np.empty(n_rows, dtype=np.int64)
    touched = np.empty(n_rows, dtype=np.int64)
    for i in range(n_rows):
        rows[0, i] = i
        groups[0, i] = 0
        totals[0, target[i]] += weights[i]
    left[0] = n_rows
    everything = np.int64(0)
    for y in range(n_classes):
        everything += totals[0, y]
        joint[0] += f_of(totals[0, y], f)
    marginal[0] = f_of(everything, f)
    path = np.full(depths, -1, dtype=np.int64)
    depth = 0
    for s in range(len(sizes)):
        size = sizes[s]
        depth = _shared_depth(path, depth, members[s], size)
        while depth < size:
            feature = members[s, depth]
            length = left[depth]
            divide = depth + 1 < size or _next_begins_so(members, sizes, s)
            joint[depth + 1], marginal[depth + 1], left[depth + 1] = _split(
                codes[feature],
                cardinalities[feature],
                target,
                weights,
                rows[depth, :length],
                groups[depth, :length],
                f,
                divide,
                drop_pure,
                rows[depth + 1],
                groups[depth + 1],
                cells,
                keys,
                touched,
                renumbered,
                totals[depth + 1],
            )
            path[depth] = feature
            depth += 1
        if len(sums) == 1:
            sums[0, s] = joint[depth] - marginal[depth]
        else:
            sums[0, s] = joint[depth]
            sums[1, s] = marginal[depth]
        if len(sums) == 4:
            for y in range(n_classes):
                sums[2, s] += f_of(totals[depth, y], f)
                sums[3, s] += totals[depth, y]
