"""Subsets of one size, in colexicographic order, and their ranks in it.

The rank of ``c_1 < c_2 < … < c_m`` is ``C(c_1, 1) + C(c_2, 2) + … + C(c_m, m)``. It does not depend
on how many features there are.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def level(n_features: int, size: int) -> NDArray[np.int64]:
    """All subsets of one size, a subset a row, in the order of their ranks.

    Examples
    --------
    >>> level(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    subsets = np.array(list(combinations(range(n_features), size)), dtype=np.int64)
    subsets = subsets.reshape(comb(n_features, size), size)
    return subsets[np.argsort(rank(subsets), kind="stable")]


def rank(subsets: NDArray[np.integer]) -> NDArray[np.int64]:
    """The rank of each subset among those of its size; members must ascend along a row.

    Examples
    --------
    >>> rank(np.array([[0, 1], [0, 2], [1, 2], [0, 3]])).tolist()
    [0, 1, 2, 3]
    """
    largest = int(subsets.max(initial=-1))
    ranks = np.zeros(len(subsets), dtype=np.int64)
    for position in range(subsets.shape[1]):
        binomials = np.array([comb(c, position + 1) for c in range(largest + 1)], dtype=np.int64)
        ranks += binomials[subsets[:, position]]
    return ranks
