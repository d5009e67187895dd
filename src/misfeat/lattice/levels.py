"""Subsets of one size, numbered: colexicographic ranks, their inverse, and neighbours by rank.

The rank of ``c_1 < c_2 < … < c_m`` among the subsets of size m is ``C(c_1, 1) + … + C(c_m, m)``. It
does not depend on how many features there are, and there is no limit of 64 of them.
"""

from functools import cache, lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from misfeat.exceptions import MisfeatError
from misfeat.runtime.array_types import Flags, Floats, Indices, Integers

LARGEST_LEVEL = 2**62  # a level with more subsets than this cannot be numbered
KEPT_SUBSETS = 2**15  # levels of up to so many subsets are kept: they are asked for again and again


def count(n_features: int, size: int) -> int:
    """How many subsets of one size there are."""
    n_subsets = comb(n_features, size) if 0 <= size <= n_features else 0
    if n_subsets > LARGEST_LEVEL:
        raise MisfeatError(
            f"There are {n_subsets:.1e} sets of {size} among {n_features} features, too many to "
            "number; lower size, or leave features out."
        )
    return n_subsets


def level(n_features: int, size: int) -> NDArray[np.int32]:
    """All subsets of one size, a subset a row, members ascending, in the order of their ranks."""
    few = count(n_features, size) <= KEPT_SUBSETS
    return _kept_level(n_features, size) if few else _level(n_features, size)


def _level(n_features: int, size: int) -> NDArray[np.int32]:
    smaller = np.empty((1, 0), dtype=np.int32)
    for m in range(1, size + 1):
        # The subsets whose largest member is c are those of size m - 1 among the first c features.
        fits = n_features - (size - m)
        sizes = [comb(c, m - 1) for c in range(max(fits, 0))]
        subsets = np.empty((sum(sizes), m), dtype=np.int32)
        start = 0
        for largest, many in enumerate(sizes):
            subsets[start : start + many, :-1] = smaller[:many]
            subsets[start : start + many, -1] = largest
            start += many
        smaller = subsets
    smaller.flags.writeable = False
    return smaller


_kept_level = lru_cache(maxsize=64)(_level)


def rank(subsets: Indices) -> Integers:
    """The rank of each subset among those of its size; members must ascend along a row."""
    ranks = np.zeros(len(subsets), dtype=np.int64)
    for position, members in enumerate(subsets.T):
        ranks += _binomials(int(subsets.max(initial=0)), position + 1)[members]
    return ranks


def unrank(ranks: Integers, size: int) -> NDArray[np.int32]:
    """The subsets of one size that have these ranks."""
    rest = np.array(ranks, dtype=np.int64)
    subsets = np.empty((len(rest), size), dtype=np.int32)
    for position in range(size, 0, -1):
        counts, largest = [0], int(rest.max(initial=0))
        while counts[-1] <= largest:  # C(c, position) from c = 0 until it passes the largest rank
            counts.append(comb(len(counts), position))
        table = np.array(counts, dtype=np.int64)
        members = np.searchsorted(table, rest, side="right") - 1
        subsets[:, position - 1] = members
        rest -= table[members]
    return subsets


def contains(subsets: Indices, n_features: int) -> Flags:
    """Membership: row s, column f is whether subset s holds feature f."""
    member = np.zeros((len(subsets), n_features), dtype=bool)
    np.put_along_axis(member, subsets.astype(np.int64), True, axis=1)
    return member


def ranks_below(subsets: Indices) -> Integers:
    """The ranks of the subsets one smaller: column j leaves member j out."""
    n_subsets, size = subsets.shape
    largest = int(subsets.max(initial=0))
    below = np.zeros((n_subsets, size), dtype=np.int64)
    for position, members in enumerate(subsets.T):
        # Members before the one left out keep their position, those behind it move down by one.
        below[:, position + 1 :] += _binomials(largest, position + 1)[members][:, None]
        below[:, :position] += _binomials(largest, position)[members][:, None]
    return below


def ranks_above(subsets: Indices, n_features: int) -> Integers:
    """The ranks of the supersets one larger, in the order of the feature that is added."""
    n_subsets, size = subsets.shape
    added = np.nonzero(~contains(subsets, n_features))[1].reshape(n_subsets, n_features - size)
    above = np.zeros(added.shape, dtype=np.int64)
    place = np.zeros(added.shape, dtype=np.int64)
    for position, members in enumerate(subsets.T):
        before = members[:, None] < added
        kept = _binomials(n_features, position + 1)[members][:, None]
        moved = _binomials(n_features, position + 2)[members][:, None]
        above += np.where(before, kept, moved)
        place += before
    by_place = np.stack([_binomials(n_features, p + 1) for p in range(size + 1)])
    return above + by_place[place, added]


def binomials(largest: int, most: int) -> Integers:
    """A table of C(c, k) for c from 0 to `largest` and k from 0 to `most`."""
    return np.stack([_binomials(largest, k) for k in range(most + 1)], axis=1)


@cache
def _binomials(largest: int, k: int) -> Integers:
    """C(c, k) for c from 0 to `largest`; beyond what can be numbered it saturates."""
    table = np.array([min(comb(c, k), LARGEST_LEVEL) for c in range(largest + 1)], dtype=np.int64)
    table.flags.writeable = False
    return table


def count_nodes(n_features: int, low: int, high: int) -> int:
    """Subsets of sizes low to high."""
    return sum(comb(n_features, size) for size in range(low, high + 1))


def best_below(scores: Floats, n_features: int, size: int) -> Floats:
    """The best score of the parts one smaller, for every subset of a size."""
    ranks = ranks_below(level(n_features, size)).T
    best = scores[:, ranks[0]]
    for part in ranks[1:]:
        np.maximum(best, scores[:, part], out=best)
    return np.asarray(best)
