"""Scores of parts of sets: of the recorded part, of sets that were left out, and upward closure."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import best_below, level, rank, ranks_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores

    Scores = NDArray[np.float64]


def recorded_part_scores(
    by_size: Sequence[Scores], cohort: int, subsets: NDArray[np.integer], missing: NDArray[np.bool_]
) -> Scores:
    """The score that the recorded part of each subset has in one cohort.

    `by_size` are scores from size 0 on; `missing` marks the features that the cohort never
    recorded.

    Examples
    --------
    >>> by_size = [np.array([[0.0]]), np.array([[0.1, 0.2]]), np.array([[0.3]])]
    >>> recorded_part_scores(by_size, 0, np.array([[0, 1]]), np.array([True, False]))
    array([0.2])
    """
    absent = missing[subsets]
    scores = np.empty(len(subsets))
    for size in range(subsets.shape[1] + 1):
        chosen = np.flatnonzero((~absent).sum(axis=1) == size)
        parts = subsets[chosen][~absent[chosen]].reshape(len(chosen), size)
        scores[chosen] = by_size[size][cohort, rank(parts)]
    return scores


def recorded_sets_filled(exact: ExactScores, size: int) -> list[Scores]:
    """Scores by size in which NaN stands only for sets with a feature never recorded.

    Small sets are filled in before large ones: the best score of a subset one smaller, plus the
    mean gain over it elsewhere.
    """
    filled = [exact.by_size[0]]
    for m in range(1, size + 1):
        scores = exact.by_size[m].copy()
        subsets = level(exact.missing.shape[1], m)
        unknown = np.isnan(scores) & ~exact.missing[:, subsets].any(axis=2)
        if unknown.any():
            best_part = filled[m - 1][:, ranks_below(subsets)].max(axis=2)
            gain = mean_over_cohorts(exact.by_size[m] - best_part)
            usual = np.nan_to_num(np.nanmean(gain) if not np.isnan(gain).all() else 0.0)
            guess = best_part + np.where(np.isnan(gain), usual, gain)
            bounded = np.clip(guess, best_part, exact.ceiling[:, None])
            scores[unknown] = bounded[unknown]
        filled.append(scores)
    return filled


def mean_over_cohorts(values: Scores) -> Scores:
    """The mean over the cohorts that have a value, NaN where none has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is meant to be NaN
        mean: Scores = np.nanmean(values, axis=0)
    return mean


def ceilings(exact: ExactScores, size: int) -> Scores:
    """What each subset of a size cannot exceed: known scores of larger sets, and the ceiling."""
    n_features = exact.missing.shape[1]
    limits: Scores = np.broadcast_to(
        exact.ceiling[:, None], (len(exact.ceiling), exact.by_size[-1].shape[1])
    )
    for larger in range(len(exact.by_size) - 1, size, -1):
        known = exact.by_size[larger]
        limits = np.where(np.isnan(known), limits, known)
        below = np.repeat(exact.ceiling[:, None], exact.by_size[larger - 1].shape[1], axis=1)
        for part in ranks_below(level(n_features, larger)).T:
            np.minimum.at(below.T, part, limits.T)
        limits = below
    return limits


def closed_upwards(guesses: list[Scores], exact: ExactScores) -> list[Scores]:
    """Exact and predicted scores of all sizes together, changed as little as upward closure asks.

    Guesses, the first those of size 0, are read only where no exact score is; exact ones stay as
    they are.
    """
    n_features = exact.missing.shape[1]
    completed = [exact.by_size[0]]
    for size in range(1, len(guesses)):
        known = exact.by_size[size]
        if not exact.closed:
            bounded = np.clip(guesses[size], 0.0, exact.ceiling[:, None])
        else:
            least = best_below(completed[size - 1], n_features, size)
            bounded = np.maximum(np.minimum(guesses[size], ceilings(exact, size)), least)
        completed.append(np.where(np.isnan(known), bounded, known))
    return completed
