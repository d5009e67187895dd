"""What a predicted score can rest on: which cohorts recorded the features together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE, SINGLES, PAIRS, JOINT, OWN_ROWS = range(5)


def support_of(missing: NDArray[np.bool_], subsets: NDArray[np.integer]) -> NDArray[np.int8]:
    """The support of every subset in every cohort, as `CompletedScores.support` explains.

    Examples
    --------
    Cohort 0 lacks feature 0, which cohort 1 recorded with feature 1 but not with feature 2.

    >>> missing = np.array([[True, False, False], [False, False, True]])
    >>> support_of(missing, np.array([[0, 1], [0, 2], [1, 2]])).tolist()
    [[3, 1, 4], [4, 1, 3]]
    """
    recorded = ~missing
    lacking = missing[:, subsets]
    support = np.full(lacking.shape[:2], PAIRS, dtype=np.int8)
    together = np.logical_or.reduce(recorded[:, :, None] & recorded[:, None, :], axis=0)
    size = subsets.shape[1]
    for a in range(size):
        for b in range(a):
            apart = ~together[subsets[:, a], subsets[:, b]]
            support[(lacking[:, :, a] | lacking[:, :, b]) & apart] = SINGLES
    support[:, recorded[:, subsets].all(axis=2).any(axis=0)] = JOINT
    nowhere = np.logical_and.reduce(missing, axis=0)[subsets]
    support[(lacking & nowhere).any(axis=2)] = NONE
    support[~lacking.any(axis=2)] = OWN_ROWS
    return support
