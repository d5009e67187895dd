"""The simplest honest completer: the score of the recorded part plus the mean gain elsewhere.

For a set S = O + Q, of which cohort i recorded O and never recorded Q, the prediction is

    I_i(O) + mean over the cohorts j that recorded S of (I_j(S) - I_j(O)).

Where no cohort recorded all of S, each feature q of Q adds its own mean gain over O, or, where no
cohort recorded O with q either, its mean score alone. The result is kept between the two bounds
that are certain: the score of the recorded part, and H(Y).
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import CompletedScores, ExactScores
from misfeat.lattice import rank

if TYPE_CHECKING:
    from numpy.typing import NDArray


def complete_by_gain(exact: ExactScores, subsets: NDArray[np.integer]) -> CompletedScores:
    """Predict the scores that could not be computed.

    Parameters
    ----------
    exact : ExactScores
        What could be computed.
    subsets : ndarray of shape (n_subsets, size)
        Every subset of the wanted size, in the order of their ranks.

    Examples
    --------
    Cohort 0 recorded both features, cohort 1 only the first:

    >>> nan = np.nan
    >>> exact = ExactScores(
    ...     by_size=(
    ...         np.array([[0.0], [0.0]]),
    ...         np.array([[0.1, 0.2], [0.3, nan]]),
    ...         np.array([[0.25], [nan]]),
    ...     ),
    ...     missing=np.array([[False, False], [False, True]]),
    ...     ceiling=np.array([0.6, 0.6]),
    ... )
    >>> complete_by_gain(exact, np.array([[0, 1]])).score.round(2)
    array([[0.25],
           [0.45]])
    """
    size = subsets.shape[1]
    score = exact.by_size[size].copy()
    predicted = np.isnan(score)
    low, high = score.copy(), score.copy()
    for cohort, missing in enumerate(exact.missing):
        for pattern in product((False, True), repeat=size):
            chosen = np.flatnonzero((missing[subsets] == pattern).all(axis=1))
            if not len(chosen) or not any(pattern):
                continue
            absent = np.array(pattern)
            recorded, unrecorded = subsets[chosen][:, ~absent], subsets[chosen][:, absent]
            floor = _scores(exact, recorded)[cohort]
            gain = _mean_gain(exact, subsets[chosen], recorded, unrecorded)
            low[cohort, chosen] = floor
            high[cohort, chosen] = exact.ceiling[cohort]
            score[cohort, chosen] = np.clip(floor + gain, floor, exact.ceiling[cohort])
    return CompletedScores(subsets, score, low, high, predicted)


def _scores(exact: ExactScores, subsets: NDArray[np.integer]) -> NDArray[np.float64]:
    """Scores of subsets of any one size in every cohort, of shape (n_cohorts, n_subsets)."""
    return exact.by_size[subsets.shape[1]][:, rank(subsets)]


def _mean_gain(
    exact: ExactScores,
    whole: NDArray[np.integer],
    recorded: NDArray[np.integer],
    unrecorded: NDArray[np.integer],
) -> NDArray[np.float64]:
    gain = _mean_over_cohorts(_scores(exact, whole) - _scores(exact, recorded))
    if np.isnan(gain).any():
        gain = np.where(np.isnan(gain), _sum_of_single_gains(exact, recorded, unrecorded), gain)
    return gain


def _sum_of_single_gains(
    exact: ExactScores, recorded: NDArray[np.integer], unrecorded: NDArray[np.integer]
) -> NDArray[np.float64]:
    total = np.zeros(len(recorded))
    for feature in unrecorded.T:
        joined = np.sort(np.column_stack([recorded, feature]), axis=1)
        gain = _mean_over_cohorts(_scores(exact, joined) - _scores(exact, recorded))
        alone = _mean_over_cohorts(_scores(exact, feature[:, None]))
        total += np.where(np.isnan(gain), alone, gain)
    return total


def _mean_over_cohorts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the cohorts that have a value, NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is meant to be NaN
        mean: NDArray[np.float64] = np.nanmean(values, axis=0)
    return mean
