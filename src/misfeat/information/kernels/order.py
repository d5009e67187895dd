"""All subsets of some sizes in the order in which a depth-first search meets them."""

from __future__ import annotations

import numpy as np

from misfeat.machine.compiling import compiled


@compiled
def list_in_search_order(n_features, low, high, table, members, sizes, places):
    """List subsets so that those with a common beginning follow each other.

    Subsets are bit masks whose highest bit is feature 0, counted down. `places` gets the number of
    each subset: size by size from low, each size in the order of ranks.
    """
    starts = np.zeros(high + 2, dtype=np.int64)
    for size in range(low, high + 1):
        starts[size + 1] = starts[size] + table[n_features, size]
    at = 0
    mask = (1 << n_features) - 1
    while mask > 0:
        size = 0
        rank = 0
        for feature in range(n_features):
            bit = 1 << (n_features - 1 - feature)
            if mask & bit:
                if size == high:
                    # Whatever begins so and goes on is too large; next comes the beginning alone.
                    size += 1
                    mask &= ~(2 * bit - 1)
                    break
                members[at, size] = feature
                size += 1
                rank += table[feature, size]
        if size > high:
            continue
        if size >= low:
            sizes[at] = size
            places[at] = starts[size] + rank
            at += 1
            if at == len(sizes):
                break
        mask -= 1
    return at


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
