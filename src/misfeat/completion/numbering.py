"""Values, and values that occur together, numbered without gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Codes = NDArray[np.integer]
    Numbers = NDArray[np.int64]

DENSE_FACTOR = 4
"""Numbers are looked up in a table as long as it has at most so many places a row."""


def numbered(codes: Codes) -> tuple[Numbers, int]:
    """Codes from 0 on numbered anew without gaps, in their order, and how many there are.

    Examples
    --------
    >>> numbered(np.array([7, 2, 7]))
    (array([1, 0, 1]), 2)
    """
    if int(codes.max(initial=0)) >= DENSE_FACTOR * max(1, len(codes)):
        values, places = np.unique(codes, return_inverse=True)
        return places.reshape(-1), len(values)
    there = np.bincount(codes) > 0
    numbers: Numbers = (np.cumsum(there) - 1)[codes]
    return numbers, int(there.sum())


def numbered_together(lines: Iterable[Codes], n_rows: int) -> tuple[Numbers, int]:
    """The number of each row's combination of codes, in their order, and how many there are.

    Codes are from 0 on, a line a variable; without any, all rows are alike.

    Examples
    --------
    >>> numbered_together(np.array([[1, 0, 1, 0], [0, 2, 0, 1]]), 4)
    (array([2, 1, 2, 0]), 3)
    """
    numbers, count = np.zeros(n_rows, dtype=np.int64), min(1, n_rows)
    for codes in lines:
        numbers, count = numbered(numbers * (int(codes.max(initial=0)) + 1) + codes)
    return numbers, count
