"""The scores of the lattice, packed for the explorer: arrays of 32-bit floats as Base64 text."""

from __future__ import annotations

import base64
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.show.report.findings import Findings

MOST_SCORES = 150_000
"""Scores that the page holds at most, over all cohorts: about 2.5 MB of it."""
MOST_LARGER = 30_000
"""Scores of sets with one feature more that are estimated only to be looked at."""


def sizes_that_fit(missing: NDArray[np.bool_], size: int) -> list[int]:
    """The sizes of sets that the explorer holds: from 1 up, as long as there is room.

    One more than `size`, that of the report, is held too, so that a set can be seen to grow, where
    that is worth the time.

    Examples
    --------
    >>> sizes_that_fit(np.zeros((20, 30), dtype=bool), 3)
    [1, 2, 3]
    >>> sizes_that_fit(np.zeros((4, 8), dtype=bool), 3)
    [1, 2, 3, 4]
    """
    n_cohorts, n_features = missing.shape
    held: list[int] = []
    room = MOST_SCORES
    larger = size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_LARGER
    for one in range(1, size + 1 + larger):
        room -= comb(n_features, one) * n_cohorts
        if room < 0:
            break
        held.append(one)
    return held


def packed_lattice(findings: Findings) -> dict[str, Any]:
    """Scores, bounds and what they rest on, by size: cohort after cohort, sets by their rank."""
    return {
        "levels": [
            {
                "size": size,
                "score": _base64(scores.score.astype("<f4")),
                "low": _base64(scores.low.astype("<f4")),
                "high": _base64(scores.high.astype("<f4")),
                "predicted": _base64(scores.predicted.astype("u1")),
                "support": _base64(scores.support.astype("u1")),
            }
            for size in sizes_that_fit(findings.missing, findings.size)
            if (scores := findings.scores.get(size)) is not None
        ]
    }


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
