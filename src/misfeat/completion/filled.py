"""Scores of sets that a cohort recorded, but that a sampling budget left out."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.model import Guess
from misfeat.lattice import level, ranks_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores, Known

    Scores = NDArray[np.float64]


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


class RecordedCompleter(BaseCompleter):
    """The exact scores of a table whose subgroups recorded every feature: nothing to predict."""

    def guess(self, known: Known, size: int) -> Guess:
        """The exact scores of all sizes up to one."""
        return Guess.of(recorded_sets_filled(known.exact, size))
