"""From guesses to completed scores with intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator

from misfeat.completion.calibration import ErrorModel, reasons_for_errors, try_out
from misfeat.completion.closure import completed_scores
from misfeat.completion.support import NONE, OWN_ROWS
from misfeat.exceptions import MisfeatError, check_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.calibration import Trial
    from misfeat.completion.guess import Guess, Guesser
    from misfeat.completion.model import CompletedScores, Known


class GuessingCompleter(BaseEstimator, ABC):  # type: ignore[misc]
    """A completer that guesses, and learns from hidden features how far off its guesses are.

    Parameters
    ----------
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, default=None
        Seed of which features are hidden; None hides the same ones every time.
    """

    def __init__(
        self,
        *,
        confidence: float | None = 0.9,
        rounds: int = 12,
        random_state: int | None = None,
    ) -> None:
        self.confidence = confidence
        self.rounds = rounds
        self.random_state = random_state

    @abstractmethod
    def _guesser(self, known: Known) -> Guesser:
        """What guesses."""

    def reach(self, size: int, n_features: int) -> int:  # noqa: ARG002
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return size

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:  # noqa: ARG002
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return 0

    def guess(self, known: Known, size: int) -> Guess:
        """Bare guesses of all sizes up to one, before bounds, closure and intervals."""
        self._check_parameters()
        check_known(known, size)
        return self._guesser(known).guess(known, size)

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score for every subset of one size in every cohort."""
        self._check_parameters()
        check_known(known, size)
        return complete_with_intervals(
            self._guesser(known),
            known,
            size,
            confidence=self.confidence,
            rounds=self.rounds,
            seed=self.random_state,
        )

    def _check_parameters(self) -> None:
        check_confidence(self.confidence)
        check_count(self.rounds, "rounds", least=0)
        if self.random_state is not None:
            check_count(self.random_state, "random_state", least=0)


def check_known(known: Known, size: int) -> None:
    """Refuse a size of which there are no sets, or no scores."""
    check_count(size, "size")
    largest = len(known.exact.by_size) - 1
    if size > largest:
        raise MisfeatError(f"size={size}, but by_size ends at size {largest}; give larger sets.")


def check_confidence(confidence: object) -> None:
    """Refuse what is no share strictly between 0 and 1, nor None."""
    if confidence is None:
        return
    if not isinstance(confidence, int | float | np.number) or not 0 < confidence < 1:
        raise MisfeatError(f"confidence={confidence!r}; it must lie between 0 and 1, or be None.")


def complete_with_intervals(
    guesser: Guesser,
    known: Known,
    size: int,
    *,
    confidence: float | None,
    rounds: int,
    seed: int | None,
) -> CompletedScores:
    """Guess, close upwards, and learn from hidden features how far off guesses are.

    Parameters
    ----------
    guesser : Guesser
        How to guess.
    known : Known
        What is known.
    size : int
        The size of the sets that are asked for.
    confidence : float or None
        How often the truth is to lie between ``low`` and ``high``; None gives what is certain.
    rounds : int
        How often features are hidden.
    seed : int or None
        Seed of which ones.
    """
    guess = guesser.guess(known, size)
    completed = completed_scores(known.exact, guess.by_size)
    if confidence is None or not completed.predicted.any():
        return completed
    trial = try_out(guesser, known, size, rounds, seed)
    return with_intervals(completed, guess, known, size, trial, confidence)


def with_intervals(
    completed: CompletedScores,
    guess: Guess,
    known: Known,
    size: int,
    trial: Trial,
    confidence: float,
) -> CompletedScores:
    """Narrow the certain bounds to where the truth lies as often as asked.

    The certain bounds stay where nothing can be learned: for features that no cohort recorded, and
    for sets whose features the cohort has, but that were not scored (hiding features says nothing
    about these).
    """
    errors = ErrorModel(trial, confidence)
    if not errors.knows:
        return completed
    reasons = reasons_for_errors(guess, completed.score, known.exact, size)
    half = errors.half_width(reasons)
    narrowed = completed.predicted & ~np.isin(completed.support, (NONE, OWN_ROWS))
    return replace(
        completed,
        low=_narrowed(completed.low, completed.score - half, narrowed, np.maximum),
        high=_narrowed(completed.high, completed.score + half, narrowed, np.minimum),
    )


def _narrowed(
    certain: NDArray[np.float64],
    likely: NDArray[np.float64],
    where: NDArray[np.bool_],
    tighter: np.ufunc,
) -> NDArray[np.float64]:
    narrowed: NDArray[np.float64] = np.where(where, tighter(certain, likely), certain)
    return narrowed
