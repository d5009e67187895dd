"""Completed scores from guesses: first with the bounds that are certain, then with intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.calibration import ErrorModel, reasons_for_errors
from misfeat.completion.model import CompletedScores
from misfeat.completion.support import NONE, OWN_ROWS, support_of
from misfeat.lattice import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.calibration import Trial
    from misfeat.completion.model import ExactScores, Guess

    Scores = NDArray[np.float64]


def with_certain_bounds(exact: ExactScores, size: int, score: Scores) -> CompletedScores:
    """Scores of one size, exact and guessed ones together, between what is certain."""
    subsets = level(exact.missing.shape[1], size)
    low, high = exact.bounds(size)
    return CompletedScores(
        subsets=subsets,
        score=score,
        low=low,
        high=high,
        predicted=np.isnan(exact.by_size[size]),
        support=support_of(exact.missing, subsets),
    )


def with_intervals(
    completed: CompletedScores,
    guess: Guess,
    exact: ExactScores,
    trial: Trial,
    confidence: float,
) -> CompletedScores:
    """Narrow the certain bounds to intervals that hold the truth as often as `confidence` says.

    The certain bounds stay where nothing can be learned: for features that no cohort recorded, and
    for sets whose features the cohort has, but that were not scored (hiding features says nothing
    about these).
    """
    errors = ErrorModel(trial, confidence)
    if not errors.knows:
        return completed
    half = errors.half_width(reasons_for_errors(guess, completed.score, exact))
    narrowed = completed.predicted & ~np.isin(completed.support, (NONE, OWN_ROWS))
    return replace(
        completed,
        low=_narrowed(completed.low, completed.score - half, narrowed, np.maximum),
        high=_narrowed(completed.high, completed.score + half, narrowed, np.minimum),
    )


def _narrowed(
    certain: Scores, likely: Scores, where: NDArray[np.bool_], tighter: np.ufunc
) -> Scores:
    narrowed: Scores = np.where(where, tighter(certain, likely), certain)
    return narrowed
