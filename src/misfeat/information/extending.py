"""Scores of some sets with every further feature: what a search that grows sets asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.mutual_info import mutual_info_of
from misfeat.information.prepared import prepare_rows
from misfeat.information.searching import listed_tasks
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Scores = NDArray[np.float64]


def extended_mutual_info(
    cohort: Cohort,
    sets: NDArray[np.integer],
    *,
    above_chance: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Scores:
    """Score some sets with every other feature added, one at a time.

    The rows of a set are grouped once for all features that join it.

    The result, of shape (n_sets, n_features), is NaN for the features of the set itself, and where
    the cohort never recorded one.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> cohort = build_cohorts(table, "y")["all rows"]
    >>> extended_mutual_info(cohort, np.array([[0]])).round(4)
    array([[   nan, 0.6931]])
    """
    rows = prepare_rows(cohort, above_chance=above_chance)
    found = np.full((len(sets), len(cohort.recorded)), np.nan)
    own = rows.positions[sets]
    computable = np.flatnonzero((own >= 0).all(axis=1))
    n_features, size = rows.n_features, own.shape[1]
    if not len(computable) or not n_features:
        return found
    members = np.empty((len(computable), n_features, size + 1), dtype=np.int16)
    members[:, :, :size] = own[computable][:, None]
    members[:, :, size] = np.arange(n_features)
    listed = members.reshape(-1, size + 1)
    further = (listed[:, :size] != listed[:, size:]).all(axis=1)
    listed = listed[further]
    sums = np.zeros((4 if rows.lacks_values else 1, len(listed)))
    sizes = np.full(len(listed), size + 1, dtype=np.int64)
    work = Work(n_jobs, progress)
    work.run(listed_tasks(rows, listed, sizes, sums, work))
    scores = np.full(len(further), np.nan)
    scores[further] = mutual_info_of(rows, sums)
    found[np.ix_(computable, rows.features)] = scores.reshape(-1, n_features)
    return found
