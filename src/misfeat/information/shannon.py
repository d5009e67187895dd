"""Plug-in entropies: of the target, of feature subsets, and of both together, in nats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.prepared import prepare_rows
from misfeat.information.scoring import sums_of_subsets
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort

    Subsets = NDArray[np.integer]
    Values = NDArray[np.float64]


def entropy(counts: NDArray[np.floating | np.integer]) -> float:
    """The plug-in entropy of a distribution given by counts, in nats.

    Examples
    --------
    >>> round(entropy(np.array([1, 1])), 4)
    0.6931
    """
    counts = counts[counts > 0].astype(np.float64)
    if len(counts) < 2:
        return 0.0  # to the last bit: nothing is left to tell
    total = counts.sum()
    return float(np.log(total) - (counts @ np.log(counts)) / total)


def target_entropy(cohort: Cohort) -> float:
    """H(Y) of a cohort: the score that no feature set can exceed.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> round(target_entropy(build_cohorts({"a": [0, 1], "y": [0, 1]}, "y")["all rows"]), 4)
    0.6931
    """
    return entropy(np.bincount(cohort.target, weights=cohort.counts))


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

    features: Values
    joint: Values
    target: Values


def entropies(cohort: Cohort, subsets: Subsets, *, n_jobs: int | None = None) -> Entropies:
    """H(S), H(S, Y) and H(Y) of listed feature subsets of one size.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 1, 1, 0]}
    >>> found = entropies(build_cohorts(table, "y")["all rows"], np.array([[0, 1]]))
    >>> found.features.round(4), found.joint.round(4), found.target.round(4)
    (array([1.3863]), array([1.3863]), array([0.6931]))
    """
    rows = prepare_rows(cohort)
    found = sums_of_subsets(rows, subsets, 2, Work(n_jobs))
    total = found[3] if len(found) == 4 else np.full(len(subsets), float(rows.total))
    classes = found[2] if len(found) == 4 else np.full(len(subsets), rows.sum_f_of_classes)
    with np.errstate(invalid="ignore"):
        parts = [np.log(total) - part / total for part in (found[1], found[0], classes)]
    return Entropies(*(np.where(total == 0, 0.0, part) for part in parts))
