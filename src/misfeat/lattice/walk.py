"""The compiled lazy random walk over the subsets of some sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.runtime.compilation import compiled, copy_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Sizes(NamedTuple):
    """The subsets that are walked over, numbered by ``offsets[size] + rank``."""

    n_features: int
    low: int
    high: int
    offsets: NDArray[np.int64]  # (high + 2,): the number of the first subset of each size
    binomials: NDArray[np.int64]  # (n_features + 1, high + 1): C(c, k), which ranks are sums of


@compiled
def _next_random(state):
    """Advance a xorshift64* generator; the upper bits of the result are random."""
    bits = state[0]
    bits ^= bits >> np.uint64(12)
    bits ^= bits << np.uint64(25)
    bits ^= bits >> np.uint64(27)
    state[0] = bits
    return bits * np.uint64(0x2545F4914F6CDD1D)


@compiled
def _below(bound, state):
    """A whole number below `bound` (at most 2**31), uniform but for a share of bound / 2**32."""
    return np.int64(((_next_random(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled
def _add(seen, node):
    """Put a node into an open-addressing hash set; whether it is new."""
    mask = np.uint64(len(seen) - 1)
    slot = (np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while seen[slot] != -1:
        if seen[slot] == node:
            return False
        slot = (slot + np.uint64(1)) & mask
    seen[slot] = node
    return True


@compiled
def _flip(members, size, feature):
    """Take a feature out of the sorted members, or put it in; the new size."""
    j = 0
    while j < size and members[j] < feature:
        j += 1
    if j < size and members[j] == feature:
        for i in range(j, size - 1):
            members[i] = members[i + 1]
        return size - 1
    for i in range(size, j, -1):
        members[i] = members[i - 1]
    members[j] = feature
    return size + 1


@compiled
def lazy_walk(sizes, start, keep_every, most_steps, state, seen, nodes):
    """Walk from `start` until `nodes` is full or the steps are used up; how many were found.

    `state` is that of the random numbers (not 0), and `seen` a hash set, all -1, as long as a power
    of two, with room for twice as many nodes as are wanted.
    """
    n_features, low, high, offsets, binomials = sizes
    members = np.empty(high + 2, dtype=np.int64)
    size = len(start)
    copy_values(start, members)
    found = 0
    for step in range(most_steps + 1):
        if size > 0 and step % keep_every == 0:
            node = offsets[size]
            for j in range(size):
                node += binomials[members[j], j + 1]
            if _add(seen, node):
                nodes[found] = node
                found += 1
                if found == len(nodes):
                    break
        if _next_random(state) >> np.uint64(63):
            continue
        feature = _below(n_features, state)
        size = _flip(members, size, feature)
        if size < low or size > high:
            size = _flip(members, size, feature)
    return found
