"""What every row adds to the noise of a score: the influence function of mutual information.

The plug-in score of a set S is the mean over rows of log p(s, y) / (p(s) p(y)). To first order its
sampling error is the mean of what that logarithm lies above or below the score, row by row. So the
errors of two sets of a cohort are correlated as these deviations are over its rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Floats = NDArray[np.float64]

MOST_CELLS = 2**16
"""Cells that are numbered as they are; more are first numbered anew, without the empty ones."""
LEAST_DEVIATION = 1e-12
"""Nats; deviations as small as this are rounding."""


def influence(cohort: Cohort, members: Sequence[int]) -> Floats:
    """The influence of every row on the score of a set, of length 1.

    The product of those of two sets is the correlation of their errors. Rows that lack a value have
    none; all zeros where all rows say the same.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 1, 1, 1, 0], "y": [0, 0, 1, 1, 1, 0]}
    >>> rows = build_cohorts(table, "y")["all rows"]
    >>> round(float(influence(rows, [0]) @ influence(rows, [0, 1])), 4)
    0.0
    >>> round(float(influence(rows, [0]) @ influence(rows, [0])), 4)
    1.0
    """
    whole: NDArray[np.bool_] = np.all(cohort.codes[list(members)] >= 0, axis=0)
    found = np.zeros(len(whole))
    if not whole.any():
        return found
    cells = cells_of_rows(cohort, members, whole)
    target = cohort.target[whole].astype(np.int64)
    counts = cohort.counts[whole]
    share = counts / counts.sum()
    joint = np.bincount(cells * cohort.n_classes + target, weights=share)
    joint = np.append(joint, np.zeros(-len(joint) % cohort.n_classes))
    table = joint.reshape(-1, cohort.n_classes)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pointwise = np.log(table / expected)[cells, target]
    # Sums, not products of vectors: threads of the linear algebra cost more than they save here.
    off = pointwise - (share * pointwise).sum()
    deviation = float(np.sqrt((share * off**2).sum()))
    if deviation >= LEAST_DEVIATION:
        found[whole] = off * np.sqrt(share) / deviation
    return found


def cells_of_rows(
    cohort: Cohort, members: Sequence[int], whole: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The number of the cell that each of some rows lies in, those that lack no value."""
    cells = np.zeros(int(whole.sum()), dtype=np.int64)
    many = 1
    for member in members:
        values = int(cohort.cardinalities[member])
        cells = cells * values + cohort.codes[member, whole]
        many *= values
        if many > MOST_CELLS:
            held, cells = np.unique(cells, return_inverse=True)
            many = len(held)
    return cells
