"""Which subsets to score exactly when the budget does not cover them all."""

from collections.abc import Callable
from math import ceil

import numpy as np

from misfeat.lattice.levels import binomials, count, unrank
from misfeat.runtime.array_types import Integers
from misfeat.runtime.compilation import compiled, copy_values

Sample = list[Integers]
Rng = np.random.Generator

VISITS_A_NODE = 16  # the walk ends once it has looked at so many subsets for each one wanted


def randwalk(n_features: int, low: int, high: int, budget: float, rng: Rng) -> Sample:
    """Collect subsets along a lazy random walk (the paper's RANDWALK, Algorithm 1).

    It starts with random bits, stays with probability one half, else flips a uniform feature, and
    ends with the share `budget` of the subsets of sizes low to high; their ranks come by size.

    Restricted to some sizes, it starts at a uniform subset of these and does not leave them, so
    that its stationary distribution stays uniform; only every 4 n log n-th subset is kept, since
    neighbours would be kept too often where it turns back. Within a single size, and where the walk
    finds nothing new for long, subsets are drawn uniformly.
    """
    sizes = range(low, high + 1)
    offsets, total = _numbering(n_features, low, high)
    wanted = _number_wanted(budget, total)
    if wanted == total:
        return _split(np.arange(total), offsets, low, high)
    if low == high:  # every flip would leave the size
        return arbitrary(n_features, low, high, budget, rng)
    if low <= 1 and high == n_features:
        low, keep_every = 0, 1
        start = np.flatnonzero(rng.random(n_features) < 0.5)
    else:
        keep_every = ceil(4 * n_features * np.log(n_features + 1))
        node = int(rng.integers(total))
        size = int(np.searchsorted(offsets[: high + 1], node, side="right")) - 1
        start = unrank(np.array([node - offsets[size]]), size)[0].astype(np.int64)
    nodes = np.empty(wanted, dtype=np.int64)
    state = rng.integers(1, 2**64, size=1, dtype=np.uint64, endpoint=False)
    walked = n_features, low, high, offsets, binomials(n_features, high)
    most_steps = VISITS_A_NODE * keep_every * wanted
    found = lazy_walk(walked, start, keep_every, most_steps, state, nodes)
    nodes = _filled_up(nodes[:found], wanted, total, rng)
    return _split(nodes, offsets, sizes.start, sizes.stop - 1)


def arbitrary(n_features: int, low: int, high: int, budget: float, rng: Rng) -> Sample:
    """Draw subsets uniformly, without repeats; parameters and result as for `randwalk`."""
    offsets, total = _numbering(n_features, low, high)
    nodes = rng.choice(total, size=_number_wanted(budget, total), replace=False)
    return _split(nodes, offsets, low, high)


def stratified(n_features: int, low: int, high: int, budget: float, rng: Rng) -> Sample:
    """Draw the same share of every size; parameters and result as for `randwalk`."""
    counts = [count(n_features, size) for size in range(low, high + 1)]
    return [np.sort(rng.choice(n, _number_wanted(budget, n), replace=False)) for n in counts]


SAMPLERS: dict[str, Callable[[int, int, int, float, Rng], Sample]] = {
    "randwalk": randwalk,
    "arbitrary": arbitrary,
    "stratified": stratified,
}


def _numbering(n_features: int, low: int, high: int) -> tuple[Integers, int]:
    """Number subsets size by size: where each size starts, and how many there are."""
    counts = [count(n_features, size) if size >= low else 0 for size in range(high + 1)]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), sum(counts)


def _number_wanted(budget: float, total: int) -> int:
    return min(total, ceil(budget * total))


def _split(nodes: Integers, offsets: Integers, low: int, high: int) -> Sample:
    nodes = np.sort(nodes)
    bounds = np.searchsorted(nodes, offsets)
    return [nodes[bounds[size] : bounds[size + 1]] - offsets[size] for size in range(low, high + 1)]


def _filled_up(nodes: Integers, wanted: int, total: int, rng: Rng) -> Integers:
    while len(nodes) < wanted:
        lacking = wanted - len(nodes)
        if total <= 4 * wanted:
            others = np.setdiff1d(np.arange(total), nodes)
            return np.concatenate([nodes, rng.choice(others, size=lacking, replace=False)])
        drawn = np.setdiff1d(rng.integers(total, size=lacking), nodes)
        nodes = np.concatenate([nodes, drawn])
    return nodes


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
def lazy_walk(sizes, start, keep_every, most_steps, state, nodes):
    """Walk from `start` until `nodes` is full or the steps are used up; how many were found."""
    # A node is ``offsets[size] + rank``; ranks are sums of binomials C(c, k). `state` is that of
    # the random numbers (not 0).
    seen = {-1}
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
            if node not in seen:
                seen.add(node)
                nodes[found] = node
                found += 1
                if found == len(nodes):
                    break
        if _next_random(state) >> np.uint64(63):
            continue
        # A whole number below n_features, uniform but for a share of n_features / 2**32.
        bits = _next_random(state) >> np.uint64(32)
        feature = np.int64((bits * np.uint64(n_features)) >> np.uint64(32))
        size = _flip(members, size, feature)
        if size < low or size > high:
            size = _flip(members, size, feature)
    return found
