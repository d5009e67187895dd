"""Runs: which stretches of sorted rows belong to which cohort, and what their parts recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

DROPPED = -1
PART_OF_A_COHORT = 10
"""Of fewer rows it is not known whether they recorded a feature or lack it by chance."""


@dataclass(frozen=True)
class Runs:
    """Stretches of sorted rows that belong to one cohort each.

    Attributes
    ----------
    bounds : ndarray of int64
        Run r holds the rows ``bounds[r]:bounds[r + 1]``.
    cohort : ndarray of int64
        The cohort of each run, `DROPPED` for rows that belong to none.
    codes : ndarray of shape (n_groupings, n_runs)
        The codes of the groupings, which are the same throughout a run.
    """

    bounds: NDArray[np.int64]
    cohort: NDArray[np.int64]
    codes: NDArray[np.integer]

    def of(self, cohort: int) -> list[slice]:
        """The stretches of rows that belong to a cohort."""
        return [
            slice(self.bounds[r], self.bounds[r + 1]) for r in np.flatnonzero(self.cohort == cohort)
        ]

    def sizes(self, weights: NDArray[np.int64], n_cohorts: int) -> NDArray[np.int64]:
        """How many rows of the table each cohort holds."""
        totals = np.add.reduceat(weights, self.bounds[:-1])
        sizes = np.zeros(n_cohorts, dtype=np.int64)
        kept = self.cohort != DROPPED
        np.add.at(sizes, self.cohort[kept], totals[kept])
        return sizes

    def cohort_of(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """The cohort of each column of grouping codes, `DROPPED` where no run has them."""
        known = dict(zip(map(tuple, self.codes.T.tolist()), self.cohort.tolist(), strict=True))
        found = [known.get(tuple(column), DROPPED) for column in codes.T.tolist()]
        return np.array(found, dtype=np.int64)


def joined_recordings(
    codes: NDArray[np.integer],
    weights: NDArray[np.int64],
    runs: Runs,
    names: Sequence[str],
    features: Mapping[str, int],
    threshold: float,
) -> tuple[tuple[str, str], ...]:
    """Cohorts made of several parts, with a feature that some recorded and others did not.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_rows)
        The codes of all rows.
    weights : ndarray
        The weights of all rows.
    runs : Runs
        Which rows belong to which cohort, a part a run.
    names : sequence of str
        The cohorts.
    features : mapping of str to int
        How many codes each feature has, the one for missing not counted.
    threshold : float
        From this share of missing values on a feature counts as never recorded.
    """
    starts = runs.bounds[:-1]
    rows = np.add.reduceat(weights, starts)
    large = (rows >= PART_OF_A_COHORT) & (runs.cohort != DROPPED)
    parts = np.bincount(runs.cohort[large], minlength=len(names))
    if not (parts > 1).any():
        return ()
    found = []
    for line, (feature, cardinality) in zip(codes, features.items(), strict=True):
        absent = np.add.reduceat(np.where(line == cardinality, weights, 0), starts)
        never = absent >= threshold * rows
        without = np.bincount(runs.cohort[large & never], minlength=len(names))
        mixed = np.flatnonzero((without > 0) & (without < parts))
        found += [(names[cohort], feature) for cohort in mixed.tolist()]
    return tuple(found)
