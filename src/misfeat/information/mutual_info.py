"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohort

    Rows = NDArray[np.int64]
    Ids = NDArray[np.int64]

DENSE_CELLS_A_ROW = 8
"""Group ids are made dense again once there are more possible ids than this a row."""


def entropy(counts: NDArray[np.floating | np.integer]) -> float:
    """The plug-in entropy of a distribution given by counts, in nats.

    Examples
    --------
    >>> round(entropy(np.array([1, 1])), 4)
    0.6931
    """
    counts = counts[counts > 0].astype(np.float64)
    total = counts.sum()
    return float(np.log(total) - (counts @ np.log(counts)) / total) if total else 0.0


def target_entropy(cohort: Cohort) -> float:
    """H(Y) of a cohort, in nats: the score that no feature set can exceed."""
    return entropy(np.bincount(cohort.target, weights=cohort.weights))


def joint_mutual_info(cohort: Cohort, subsets: NDArray[np.integer]) -> NDArray[np.float64]:
    """Score feature subsets of one size in one cohort.

    Rows in which a member of the subset has no value are left out of that subset's counts.

    Parameters
    ----------
    cohort : Cohort
        Coded, weighted rows.
    subsets : ndarray of shape (n_subsets, size)
        Feature numbers, ascending along a row. Subsets that follow each other and share their
        largest members share work, as in the order of `misfeat.lattice.level`.

    Returns
    -------
    ndarray of shape (n_subsets,)
        In nats; NaN for subsets with a feature that the cohort never recorded.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> from misfeat.datasets import load_readmission
    >>> patients = load_readmission()
    >>> cohorts = build_cohorts(patients.columns, patients.target, groups={"age": [1000]})
    >>> family_history = cohorts.features.index("family_history")
    >>> joint_mutual_info(cohorts["age<=1000"], np.array([[family_history]])).round(4)
    array([0.1169])
    """
    scores = np.full(len(subsets), np.nan)
    everything = (np.arange(len(cohort.weights)), np.zeros(len(cohort.weights), dtype=np.int64), 1)
    # Each stack entry: the rows complete so far, their dense group ids, and the number of groups.
    stack: list[tuple[Rows, Ids, int]] = [everything]
    path: list[int] = []
    for position, subset in enumerate(subsets):
        if not cohort.recorded[subset].all():
            continue
        members = subset[::-1].tolist()
        shared = 0
        while shared < len(path) and path[shared] == members[shared]:
            shared += 1
        del path[shared:], stack[shared + 1 :]
        for feature in members[shared:]:
            stack.append(_refine(cohort, feature, *stack[-1]))
            path.append(feature)
        scores[position] = _score(cohort, *stack[-1])
    return scores


def _refine(
    cohort: Cohort, feature: int, rows: Rows, ids: Ids, n_ids: int
) -> tuple[Rows, Ids, int]:
    """Split groups of rows by one more feature."""
    codes = cohort.codes[feature, rows].astype(np.int64)
    complete = codes >= 0
    if not complete.all():
        rows, ids, codes = rows[complete], ids[complete], codes[complete]
    cardinality = int(cohort.cardinalities[feature])
    ids = ids * cardinality + codes
    n_ids *= cardinality
    if n_ids > DENSE_CELLS_A_ROW * max(len(rows), 1):
        distinct, ids = np.unique(ids, return_inverse=True)
        n_ids = len(distinct)
    return rows, ids, n_ids


def _score(cohort: Cohort, rows: Rows, ids: Ids, n_ids: int) -> float:
    weights = cohort.weights[rows]
    cells = np.bincount(
        ids * cohort.n_classes + cohort.target[rows],
        weights=weights,
        minlength=n_ids * cohort.n_classes,
    ).reshape(n_ids, cohort.n_classes)
    score = entropy(cells.sum(axis=1)) + entropy(cells.sum(axis=0)) - entropy(cells.ravel())
    return max(score, 0.0)
