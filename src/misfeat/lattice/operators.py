"""Sums over neighbours in the lattice, without a stored edge.

For values on the nodes of one level, U sums over the subsets one smaller and D over the supersets
one larger. Two subsets of size m that share m - 1 features have exactly one subset of size m - 1 in
common, so the sum over a node's neighbours in its own level is U(D h) - m h.

Values are arrays whose first axis is the rank; further axes are carried along.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice.levels import level, ranks_above, ranks_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.floating]


def sum_below(values: Values, n_features: int, size: int) -> Values:
    """U: for every subset of `size`, the sum of the values of its subsets one smaller.

    Examples
    --------
    >>> sum_below(np.array([1.0, 10.0, 100.0]), 3, 2).tolist()
    [11.0, 101.0, 110.0]
    """
    total = np.zeros((comb(n_features, size), *values.shape[1:]), dtype=values.dtype)
    for ranks in ranks_below(level(n_features, size)).T:
        total += values[ranks]
    return total


def sum_above(values: Values, n_features: int, size: int) -> Values:
    """D: for every subset of `size`, the sum of the values of its supersets one larger.

    Examples
    --------
    >>> sum_above(np.array([1.0, 10.0, 100.0]), 3, 1).tolist()
    [11.0, 101.0, 110.0]
    """
    total = np.zeros((comb(n_features, size), *values.shape[1:]), dtype=values.dtype)
    for ranks in ranks_above(level(n_features, size), n_features).T:
        total += values[ranks]
    return total


def sum_beside(values: Values, n_features: int, size: int) -> Values:
    """The sum over the subsets of the same size that differ in one feature.

    Examples
    --------
    >>> sum_beside(np.array([1.0, 10.0, 100.0]), 3, 2).tolist()
    [110.0, 101.0, 11.0]
    """
    through_below = sum_above(values, n_features, size - 1)
    return sum_below(through_below, n_features, size) - size * values


def count_nodes(n_features: int, low: int, high: int) -> int:
    """Subsets of sizes low to high.

    Examples
    --------
    >>> count_nodes(4, 1, 4) == 2**4 - 1
    True
    """
    return sum(comb(n_features, size) for size in range(low, high + 1))


def count_edges_between(n_features: int, low: int, high: int) -> int:
    """Edges between a subset and one of the next size.

    Examples
    --------
    >>> count_edges_between(4, 1, 4) == 4 * (2**4 - 2) // 2
    True
    """
    return sum(comb(n_features, size) * size for size in range(low + 1, high + 1))


def count_edges_beside(n_features: int, low: int, high: int) -> int:
    """Edges between subsets of one size that differ in one feature and share at least one.

    Examples
    --------
    >>> count_edges_beside(4, 2, 2)
    12
    """
    return sum(
        comb(n_features, size) * size * (n_features - size) // 2
        for size in range(max(low, 2), high + 1)
    )
