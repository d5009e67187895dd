"""Blocks of features that together hold every set of a size, for counting a block at a time."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def covering_blocks(cards: Sequence[int], size: int, most_cells: int) -> list[tuple[int, ...]]:
    """Blocks of features so that every set of a size lies within one of them.

    Features are dealt into parts of equal length, and every `size` parts make a block: the longer
    the parts, the fewer the blocks, and the more cells each has. `cards` are the values of each
    feature. A block has at most `most_cells`, unless it has only `size` features.

    Examples
    --------
    >>> covering_blocks([2] * 6, 2, most_cells=16)
    [(0, 1, 2, 3), (0, 1, 4, 5), (2, 3, 4, 5)]
    >>> covering_blocks([2] * 6, 2, most_cells=64)
    [(0, 1, 2, 3, 4, 5)]
    """
    n_features = len(cards)
    if n_features <= size or float(np.prod(np.asarray(cards, dtype=float))) <= most_cells:
        return [tuple(range(n_features))]
    largest = np.sort(np.asarray(cards, dtype=float))[::-1]
    length = 1
    while (length + 1) * size <= n_features and largest[: (length + 1) * size].prod() <= most_cells:
        length += 1
    features = range(n_features)
    parts = [features[first : first + length] for first in range(0, n_features, length)]
    return [
        tuple(feature for part in chosen for feature in part)
        for chosen in combinations(parts, min(size, len(parts)))
    ]
