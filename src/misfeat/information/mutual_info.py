"""Joint mutual information I(S; Y) = H(S) + H(Y) - H(S, Y) of feature subsets, and its kin.

Scores are in nats unless ``unit="bits"``, and a share of H(Y) where ``normalized=True``. A set with
a feature that the cohort never recorded has no score: NaN. Rows that lack a value of a set (see
``sporadic="available"``) are left out of that set's counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.prepared import PreparedRows, prepare_rows
from misfeat.information.scoring import Sums, sums_of_levels, sums_of_subsets
from misfeat.lattice.levels import level, rank
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohort

    Scores = NDArray[np.float64]
    Subsets = NDArray[np.integer]
    Progress = Callable[[int, int], None]

UNITS = {"nats": 1.0, "bits": float(np.log(2))}
WHOLE_LEVEL_SHARE = 0.1
"""Where this share of a level is asked for, scoring all of it costs less than searching."""
TRACE = 1e-12
"""An entropy below this is 0 but for rounding."""
LARGEST_POWER_SET = 22
"""Subsets of every size are scored for at most so many features."""


@dataclass(frozen=True, eq=False)
class Entropies:
    """The entropies that scores are made of.

    Attributes
    ----------
    features : ndarray of shape (n_subsets,)
        H(S).
    joint : ndarray of shape (n_subsets,)
        H(S, Y).
    target : ndarray of shape (n_subsets,)
        H(Y), over the rows that have all features of S.
    """

    features: Scores
    joint: Scores
    target: Scores

    @property
    def mutual_info(self) -> Scores:
        """I(S; Y)."""
        return np.maximum(self.features + self.target - self.joint, 0.0)


def joint_mutual_info(
    cohort: Cohort,
    subsets: Subsets,
    *,
    unit: str = "nats",
    normalized: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score listed feature subsets of one size in one cohort.

    Parameters
    ----------
    cohort : Cohort
        Coded, weighted rows.
    subsets : ndarray of shape (n_subsets, size)
        Feature numbers, ascending along a row.
    unit : {"nats", "bits"}, default="nats"
        The unit.
    normalized : bool, default=False
        Divide by H(Y), so that 1 means that the set tells everything.
    n_jobs : int, default=None
        Threads, as joblib reads it. The result is the same for any number.
    progress : callable, default=None
        Called as ``progress(done, total)``; what it raises stops the work.

    Returns
    -------
    ndarray of shape (n_subsets,)

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
    rows = prepare_rows(cohort)
    found = _sums_of(rows, cohort, subsets, 1, Work(n_jobs, progress))
    return _scaled(_mutual_info(rows, found), found, rows, unit, normalized)


def level_mutual_info(
    cohort: Cohort,
    low: int,
    high: int,
    *,
    unit: str = "nats",
    normalized: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Scores]:
    """Score every feature subset of sizes low to high in one cohort.

    Parameters
    ----------
    cohort : Cohort
        Coded, weighted rows.
    low, high : int
        The sizes. All of them (the power set) for at most 22 recorded features.
    unit, normalized, n_jobs, progress
        As in `joint_mutual_info`.

    Returns
    -------
    list of ndarray
        One a size, in the order of the ranks of `misfeat.lattice.level`.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> cohort = build_cohorts(table, "y")["all rows"]
    >>> [scores.round(4).tolist() for scores in level_mutual_info(cohort, 1, 2, unit="bits")]
    [[0.0, 0.0], [1.0]]
    """
    rows = prepare_rows(cohort)
    n_features, n_recorded = len(cohort.recorded), rows.n_features
    if high > 6 and low <= n_recorded // 2 <= high and n_recorded > LARGEST_POWER_SET:
        raise MisfeatError(
            f"The sizes {low} to {high} of {n_recorded} features hold most of the power set, which "
            f"is scored for at most {LARGEST_POWER_SET} features; lower the size."
        )
    top = min(high, n_recorded)
    found = sums_of_levels(rows, low, top, 1, Work(n_jobs, progress)) if low <= top else []
    scores = []
    for size in range(low, high + 1):
        whole = np.full(comb(n_features, size), np.nan)
        if size <= top:
            sums = found[size - low]
            values = _scaled(_mutual_info(rows, sums), sums, rows, unit, normalized)
            if n_recorded == n_features:
                whole = values
            else:
                whole[rank(rows.features[level(n_recorded, size)])] = values
        scores.append(whole)
    return scores


def entropies(
    cohort: Cohort, subsets: Subsets, *, unit: str = "nats", n_jobs: int | None = None
) -> Entropies:
    """H(S), H(S, Y) and H(Y) of listed feature subsets of one size.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> found = entropies(build_cohorts(table, "y")["all rows"], np.array([[0, 1]]), unit="bits")
    >>> found.features.round(4), found.joint.round(4), found.target.round(4)
    (array([2.]), array([2.]), array([1.]))
    """
    rows = prepare_rows(cohort)
    found = _sums_of(rows, cohort, subsets, 2, Work(n_jobs))
    total = found[3] if len(found) == 4 else np.full(len(subsets), float(rows.total))
    classes = found[2] if len(found) == 4 else np.full(len(subsets), _sum_f_of_classes(rows))
    with np.errstate(invalid="ignore"):
        parts = [
            (np.log(total) - part / total) / _divisor(unit)
            for part in (found[1], found[0], classes)
        ]
    return Entropies(*(np.where(total == 0, 0.0, part) for part in parts))


def conditional_mutual_info(
    cohort: Cohort, subsets: Subsets, given: Subsets, *, unit: str = "nats"
) -> Scores:
    """I(S; Y | Z) = I(S and Z; Y) - I(Z; Y) for listed subsets and one set Z of features.

    Both are taken over the rows that have all features of S and Z.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> cohort = build_cohorts(table, "y")["all rows"]
    >>> conditional_mutual_info(cohort, np.array([[0]]), np.array([1]), unit="bits").round(4)
    array([1.])
    """
    known = np.asarray(given, dtype=np.int64).reshape(-1)
    gained = np.empty(len(subsets))
    for position, subset in enumerate(subsets):
        whole = np.union1d(subset, known).astype(np.int64)
        rows = _with_values(cohort, whole)
        together, alone = (
            joint_mutual_info(rows, part[None], unit=unit)[0] for part in (whole, known)
        )
        gained[position] = together - alone
    return np.where(gained < 0.0, 0.0, gained)


def _with_values(cohort: Cohort, features: NDArray[np.int64]) -> Cohort:
    """The rows that lack no value of some features, all of which the cohort recorded."""
    complete = (cohort.codes[features] >= 0).all(axis=0)
    if complete.all() or not cohort.recorded[features].all():
        return cohort
    return replace(
        cohort,
        codes=cohort.codes[:, complete],
        target=cohort.target[complete],
        weights=cohort.weights[complete],
    )


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


def target_entropy(cohort: Cohort, *, unit: str = "nats") -> float:
    """H(Y) of a cohort: the score that no feature set can exceed.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> target_entropy(build_cohorts({"a": [0, 1], "y": [0, 1]}, "y")["all rows"], unit="bits")
    1.0
    """
    return entropy(np.bincount(cohort.target, weights=cohort.weights)) / _divisor(unit)


def _sums_of(
    rows: PreparedRows, cohort: Cohort, subsets: Subsets, n_kinds: int, work: Work
) -> Sums:
    """Sums of listed subsets, NaN where one of their features was never recorded."""
    subsets = np.asarray(subsets)
    size = subsets.shape[1]
    if (np.diff(subsets, axis=1) <= 0).any():
        raise MisfeatError("The features of a subset must be distinct and ascend along its row.")
    position = np.full(len(cohort.recorded), -1, dtype=np.int64)
    position[rows.features] = np.arange(rows.n_features)
    own = position[subsets]
    computable = np.flatnonzero((own >= 0).all(axis=1))
    found = np.full((4 if rows.lacks_values else n_kinds, len(subsets)), np.nan)
    if not len(computable):
        return found
    if not rows.lacks_values and len(computable) >= WHOLE_LEVEL_SHARE * comb(rows.n_features, size):
        (whole,) = sums_of_levels(rows, size, size, n_kinds, work)
        found[:, computable] = whole[:, rank(own[computable])]
    else:
        found[:, computable] = sums_of_subsets(rows, own[computable], n_kinds, work)
    return found


def _sum_f_of_classes(rows: PreparedRows) -> float:
    counts = np.bincount(rows.target, weights=rows.weights, minlength=1)
    return float(counts[counts > 0] @ np.log(counts[counts > 0]))


def _mutual_info(rows: PreparedRows, sums: Sums) -> Scores:
    """I(S; Y) in nats from the sums of its subsets."""
    if len(sums) == 1:
        total = float(rows.total)
        score = np.log(total) + (sums[0] - _sum_f_of_classes(rows)) / total
    else:
        joint, marginal, classes, rows_of = sums
        with np.errstate(invalid="ignore", divide="ignore"):
            score = np.log(rows_of) + (joint - marginal - classes) / rows_of
        score[rows_of == 0] = np.nan  # no row has all of the set's features
    found: Scores = score
    found[found < 0.0] = 0.0  # rounding may leave a trace below zero
    return found


def _scaled(scores: Scores, sums: Sums, rows: PreparedRows, unit: str, normalized: bool) -> Scores:
    divisor: Scores | float = _divisor(unit)
    if normalized and len(sums) == 4:
        with np.errstate(invalid="ignore", divide="ignore"):
            divisor = np.log(sums[3]) - sums[2] / sums[3]
    elif normalized:
        divisor = entropy(np.bincount(rows.target, weights=rows.weights))
    # A target of one class leaves nothing to tell.
    return np.divide(scores, divisor, out=scores.copy(), where=np.asarray(divisor) > TRACE)


def _divisor(unit: str) -> float:
    if unit not in UNITS:
        raise MisfeatError(f"unit={unit!r} is unknown; use {' or '.join(map(repr, UNITS))}.")
    return UNITS[unit]
