"""From how many rows on a subgroup can tell anything: enough to tell a pair from chance.

If two features tell nothing, the score of their pair in N rows is about chi-squared over 2 N, with
(cells - 1)(classes - 1) degrees of freedom, d: what it exceeds its mean by has the standard
deviation sqrt(2 d) / (2 N). A pair that tells a fifth of the target is clear of that by two
standard deviations from

    N = 2 sqrt(2 d) / (2 * 0.2 * H)

rows on, H being the entropy of the target. With two features of five values and two classes that
are equally common it is 50 rows; with two values each, 18; with five values and 1 % of cases, 619.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

TELLS = 0.2
"""A pair that tells this share of the target must be clear of chance."""
DEVIATIONS = 2.0
"""So many standard deviations of chance."""


def rows_to_tell(cardinalities: Sequence[int], by_class: ArrayLike) -> int:
    """The rows that tell a pair of usual features from chance; 1 where there is nothing to tell.

    The pair is one of two features with the median number of values; `by_class` are the rows of
    each class in the whole table.

    Examples
    --------
    >>> rows_to_tell([5, 5, 2, 5], [500, 500]), rows_to_tell([2, 2], [500, 500])
    (50, 18)
    """
    counts = np.asarray(by_class, dtype=np.float64)
    shares = counts[counts > 0] / max(counts.sum(), 1.0)
    entropy = float(-(shares * np.log(shares)).sum())
    if not len(cardinalities) or len(shares) < 2:
        return 1
    cells = float(np.median(cardinalities)) ** 2
    freedom = max(cells - 1, 1.0) * (len(shares) - 1)
    return max(ceil(DEVIATIONS * sqrt(2 * freedom) / (2 * TELLS * entropy)), 1)
