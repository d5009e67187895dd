"""Completers that need scores alone: the mean gain elsewhere, single scores added, or nothing.

For a set S = O + Q, of which cohort i recorded O and never recorded Q, the mean gain predicts

    I_i(O) + mean over the cohorts j that scored S of (I_j(S) - I_j(O)).

Where no cohort scored all of S, each feature q of Q adds its own mean gain over O, or, where no
cohort scored O with q either, its mean score alone. The result is kept between the two bounds that
are certain: the score of the recorded part, and the ceiling of the measure. Sets that a cohort
recorded but a sampling budget left out are filled in first (`recorded_sets_filled`).
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter, recorded_part_scores, recorded_sets_filled
from misfeat.completion.completer_data import Guess
from misfeat.completion.interactions_completer import InteractionsCompleter
from misfeat.completion.registry import INHERIT
from misfeat.lattice.levels import level, rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.completer_data import ExactScores, Known

    Scores = NDArray[np.float64]
    Subsets = NDArray[np.integer]
    from misfeat.completion.registry import Confidence, Seed


def mean_over_cohorts(values: Scores) -> Scores:
    """The mean over the cohorts that have a value, NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is meant to be NaN
        return np.asarray(np.nanmean(values, axis=0))


class GainCompleter(BaseCompleter):
    """Predict a score as that of the recorded part plus the mean gain elsewhere.

    Needs scores only: subgroups that share their scores but no rows can use it.

    Parameters
    ----------
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Examples
    --------
    Cohort 0 recorded both features, cohort 1 only the first:

    >>> from misfeat.completion import ExactScores, Known
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
    >>> GainCompleter().complete(Known(exact), 2).score.round(2)
    array([[0.25],
           [0.45]])
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        by_size = [exact.by_size[0], *(guess_by_gain(exact, m) for m in range(1, size + 1))]
        return Guess.of(by_size)


def guess_by_gain(exact: ExactScores, size: int) -> Scores:
    """A guess for every subset of one size in every cohort; exact scores where they are known."""
    subsets = level(exact.missing.shape[1], size)
    filled = recorded_sets_filled(exact, size)
    score = filled[size].copy()
    for cohort, missing in enumerate(exact.missing):
        for pattern in product((False, True), repeat=size):
            chosen = np.flatnonzero((missing[subsets] == pattern).all(axis=1))
            if not len(chosen) or not any(pattern):
                continue
            absent = np.array(pattern)
            recorded, unrecorded = subsets[chosen][:, ~absent], subsets[chosen][:, absent]
            floor = _scores(filled, recorded)[cohort]
            gain = _mean_gain(filled, subsets[chosen], recorded, unrecorded)
            score[cohort, chosen] = np.clip(floor + gain, floor, exact.ceiling[cohort])
    return score


def _scores(by_size: list[Scores] | tuple[Scores, ...], subsets: Subsets) -> Scores:
    """Scores of subsets of any one size in every cohort, of shape (n_cohorts, n_subsets)."""
    return by_size[subsets.shape[1]][:, rank(subsets)]


def _mean_gain(
    filled: list[Scores], whole: Subsets, recorded: Subsets, unrecorded: Subsets
) -> Scores:
    gain = mean_over_cohorts(_scores(filled, whole) - _scores(filled, recorded))
    if np.isnan(gain).any():
        gain = np.where(np.isnan(gain), _sum_of_single_gains(filled, recorded, unrecorded), gain)
    return gain


def _sum_of_single_gains(filled: list[Scores], recorded: Subsets, unrecorded: Subsets) -> Scores:
    total = np.zeros(len(recorded))
    for feature in unrecorded.T:
        joined = np.sort(np.column_stack([recorded, feature]), axis=1)
        gain = mean_over_cohorts(_scores(filled, joined) - _scores(filled, recorded))
        alone = np.nan_to_num(mean_over_cohorts(_scores(filled, feature[:, None])))
        total += np.where(np.isnan(gain), alone, gain)
    return total


class AddCompleter(InteractionsCompleter):
    """Predict a score as that of the recorded part plus single features' scores elsewhere.

    Parameters
    ----------
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Examples
    --------
    >>> import numpy as np
    >>> from misfeat.completion import ExactScores, Known
    >>> exact = ExactScores(
    ...     by_size=(
    ...         np.zeros((2, 1)),
    ...         np.array([[0.1, 0.2], [0.3, np.nan]]),
    ...         np.array([[0.25], [np.nan]]),
    ...     ),
    ...     missing=np.array([[False, False], [False, True]]),
    ...     ceiling=np.array([0.6, 0.6]),
    ... )
    >>> AddCompleter().complete(Known(exact), 2).score
    array([[0.25],
           [0.5 ]])
    """

    def __init__(
        self,
        *,
        confidence: Confidence = INHERIT,
        rounds: int = 12,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(largest=1, confidence=confidence, rounds=rounds, random_state=random_state)


class DropCompleter(BaseCompleter):
    """Predict a score as that of the recorded part; unrecorded features count for nothing.

    Needs scores only. It is here for comparison: it cannot tell unrecorded features apart.

    Parameters
    ----------
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Examples
    --------
    >>> from misfeat.completion import ExactScores, Known
    >>> exact = ExactScores(
    ...     by_size=(
    ...         np.zeros((2, 1)),
    ...         np.array([[0.1, 0.2], [0.3, np.nan]]),
    ...         np.array([[0.25], [np.nan]]),
    ...     ),
    ...     missing=np.array([[False, False], [False, True]]),
    ...     ceiling=np.array([0.6, 0.6]),
    ... )
    >>> DropCompleter().complete(Known(exact), 2).score
    array([[0.25],
           [0.3 ]])
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        filled = recorded_sets_filled(exact, size)
        levels = [level(exact.missing.shape[1], m) for m in range(size + 1)]
        return Guess.of([recorded_part_scores(filled, own, exact.missing) for own in levels])
