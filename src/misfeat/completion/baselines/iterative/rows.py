"""Rows cut so that each may be given a value of its own.

Equal rows of a table come as one row with a weight. A value that is drawn for it would hold for all
of them, as if they agreed in a feature that nobody recorded, so rows that stand for many are cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts


def cut_rows(cohorts: Cohorts, missing: NDArray[np.bool_], max_rows: int) -> Cohorts:
    """The same cohorts with rows of lower weight, and more of them.

    Only cohorts that lack a feature have their rows cut: to weight 1 where one then has at most
    `max_rows`, else to the least weight that adds at most so many.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> cohorts = build_cohorts({"x": [0, 0, 0, 1], "y": [0, 0, 0, 1]}, "y")
    >>> cohorts.weights.tolist(), cut_rows(cohorts, np.array([[True]]), 10).weights.tolist()
    ([3, 1], [1, 1, 1, 1])
    """
    sizes = np.diff(np.concatenate([[0], np.cumsum(cohorts.weights)])[cohorts.offsets])
    unit = np.where(missing.any(axis=1), np.maximum(1, -(-sizes // max_rows)), sizes)
    weights = cohorts.weights
    pieces = -(-weights // np.repeat(unit, np.diff(cohorts.offsets)))
    row_of = np.repeat(np.arange(len(weights)), pieces)
    starts = np.concatenate([[0], np.cumsum(pieces)])
    place = np.arange(len(row_of)) - starts[row_of]
    whole, rest = np.divmod(weights, pieces)
    return replace(
        cohorts,
        codes=cohorts.codes[:, row_of],
        target_codes=cohorts.target_codes[row_of],
        weights=whole[row_of] + (place < rest[row_of]),
        offsets=starts[cohorts.offsets],
    )
