"""Plain data that goes into and comes out of a completer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ExactScores:
    """Every score that can be computed, for all sizes up to the wanted one.

    Attributes
    ----------
    by_size : tuple of ndarray of shape (n_cohorts, n_subsets of that size)
        ``by_size[m][i, r]`` is the score of the subset of size m and rank r in cohort i, NaN where
        the cohort never recorded one of its features, has no row with all of them, or was not asked
        to compute it.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    closed : bool
        Whether a larger set never scores lower, so that the score of a part is a lower bound.
    """

    by_size: tuple[NDArray[np.float64], ...]
    missing: NDArray[np.bool_]
    ceiling: NDArray[np.float64]
    closed: bool = True


@dataclass(frozen=True, eq=False)
class CompletedScores:
    """A score for every subset of one size in every cohort.

    Attributes
    ----------
    subsets : ndarray of shape (n_subsets, size)
        Feature numbers, in the order of their ranks.
    score : ndarray of shape (n_cohorts, n_subsets)
        Exact where it could be computed, predicted elsewhere.
    low, high : ndarray of shape (n_cohorts, n_subsets)
        Between these the score lies; equal to it where it is exact.
    predicted : ndarray of bool of shape (n_cohorts, n_subsets)
        Where the score was predicted.
    """

    subsets: NDArray[np.integer]
    score: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    predicted: NDArray[np.bool_]
