"""How large the lattice graph of some sizes is."""

from __future__ import annotations

from math import comb


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
