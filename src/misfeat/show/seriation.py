"""An order in which things that are alike stand side by side, so that patterns show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import pdist

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ORDERED = 300
"""Rows up to which the best order of the leaves is sought, which takes ever longer."""


def side_by_side(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Numbers of rows such that rows which are alike are neighbours, those with most on top.

    The leaves of an average-linkage tree in the order with the smallest distances between
    neighbours (Bar-Joseph, Gifford and Jaakkola, Bioinformatics 17, 2001).

    Examples
    --------
    >>> side_by_side(np.array([[0.0, 0.1], [0.9, 1.0], [0.1, 0.1], [1.0, 0.9]]))
    array([1, 3, 2, 0])
    """
    means = values.mean(axis=1)
    if len(values) < 3:
        return np.argsort(-means, kind="stable")
    apart = pdist(values)
    tree = linkage(apart, "average", optimal_ordering=len(values) <= MOST_ORDERED)
    order: NDArray[np.intp] = leaves_list(tree).astype(np.intp)
    half = len(order) // 2
    turned = means[order[:half]].mean() < means[order[-half:]].mean()
    return order[::-1] if turned else order
