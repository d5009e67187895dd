"""Numbers that order the classes of the target, seen through the bins that they were cut into.

A number that lies lower in every row of one class than in any row of the next determines the
target, and yet its bins do not where they cut through a class. Then every bin is filled in the
order of the classes: the table of bins and classes is that of rows dealt out in order, which its
margins alone give (the north-west corner rule).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

IN_ORDER = 0.95
"""The share of the rows of every class that lie where they would if classes were in order."""
LEAST_ROWS = 20
"""Fewer rows of a class lie in one bin easily by chance."""


def orders_classes(counts: ArrayLike) -> bool:
    """Whether bins are filled class by class; counts have a line a bin, in their order.

    Examples
    --------
    Bins of twenty rows cut through classes of thirty, which lie in order or not:

    >>> orders_classes([[20, 0], [10, 10], [0, 20]]), orders_classes([[14, 6], [10, 10], [6, 14]])
    (True, False)
    """
    table = np.asarray(counts, dtype=np.float64)
    table = table[:, table.sum(axis=0) > 0]
    by_class = table.sum(axis=0)
    if len(by_class) < 2 or by_class.min() < LEAST_ROWS:
        return False
    table = table[:, np.argsort(np.arange(len(table)) @ table / by_class)]
    agreeing = np.minimum(table, _dealt_in_order(table)).sum(axis=0)
    return bool((agreeing >= IN_ORDER * table.sum(axis=0)).all())


def _dealt_in_order(table: Floats) -> Floats:
    """The table of the same margins in which the rows of classes follow each other."""
    bins = np.concatenate([[0.0], np.cumsum(table.sum(axis=1))])
    classes = np.concatenate([[0.0], np.cumsum(table.sum(axis=0))])
    upper = np.minimum(bins[1:, None], classes[None, 1:])
    lower = np.maximum(bins[:-1, None], classes[None, :-1])
    dealt: Floats = np.maximum(upper - lower, 0.0)
    return dealt
