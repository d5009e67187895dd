"""What all completers share: from guesses to completed scores with intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator, clone

from misfeat.completion.calibration import ErrorModel, reasons_for_errors, try_out
from misfeat.completion.model import NONE, OWN_ROWS, CompletedScores, Guess, guess_of, support_of
from misfeat.completion.named import INHERIT, confidence_of, resolved
from misfeat.completion.parts import closed_upwards, recorded_sets_filled
from misfeat.exceptions import MisfeatError, Setting, check_count
from misfeat.lattice import level
from misfeat.parameters.declaring import a_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.calibration import Trial
    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.named import Confidence, Seed

    Scores = NDArray[np.float64]


def check_known(known: Known, size: int) -> None:
    """Raise unless there are sets of `size` and `known` has their scores."""
    check_count(size, "size")
    largest = len(known.exact.by_size) - 1
    if size > largest:
        raise MisfeatError(
            "{setting}, but by_size ends at size {largest}; give larger sets.",
            setting=Setting("size", size),
            largest=largest,
        )


def check_confidence(confidence: object) -> None:
    """Raise unless a number strictly between 0 and 1, or None."""
    a_level().check(confidence, "confidence")


def check_probability(value: object, name: str) -> None:
    """Raise unless a number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise MisfeatError("{setting}; it must lie between 0 and 1.", setting=Setting(name, value))


def check_share(value: object, name: str) -> None:
    """Raise unless a number of at least 0 and below 1."""
    if not is_number(value) or not 0 <= value < 1:
        raise MisfeatError(
            "{setting}; it must be at least 0 and below 1.", setting=Setting(name, value)
        )


def check_not_negative(value: object, name: str) -> None:
    """Raise unless a finite number of at least 0."""
    if not is_number(value) or not 0 <= value < np.inf:
        raise MisfeatError(
            "{setting}; it must be a number that is not negative.", setting=Setting(name, value)
        )


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True and False are none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


class BaseCompleter(BaseEstimator, ABC):  # type: ignore[misc]
    """A completer: its `guess` is all that one has to write.

    Guesses are closed upwards and kept within what is certain. How far they are off is learned by
    hiding features that the table does have.

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
    A completer that takes every unknown score for 0, which bounds and closure then mend:

    >>> from misfeat.completion import ExactScores, Guess, Known
    >>> class NothingCompleter(BaseCompleter):
    ...     def guess(self, known, size):
    ...         by_size = known.exact.by_size[: size + 1]
    ...         return Guess.of([np.zeros_like(scores) for scores in by_size])
    >>> exact = ExactScores(
    ...     by_size=(np.zeros((1, 1)), np.array([[0.1, np.nan]]), np.array([[np.nan]])),
    ...     missing=np.array([[False, True]]),
    ...     ceiling=np.array([0.6]),
    ... )
    >>> NothingCompleter().complete(Known(exact), 2).score
    array([[0.1]])
    """

    def __init__(
        self,
        *,
        confidence: Confidence = INHERIT,
        rounds: int = 12,
        random_state: Seed = INHERIT,
    ) -> None:
        self.confidence = confidence
        self.rounds = rounds
        self.random_state = random_state

    @abstractmethod
    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one, before bounds, closure and intervals.

        Parameters
        ----------
        known : Known
            What may be read. Rows may hold features that ``known.exact.missing`` marks; of these
            nothing may be read.
        size : int
            The largest size.
        """

    def reach(self, size: int, n_features: int) -> int:  # noqa: ARG002
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return size

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:  # noqa: ARG002
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return 0

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score for every subset of one size in every cohort.

        Parameters
        ----------
        known : Known
            What is known.
        size : int
            Features per set.
        """
        self._check_parameters()
        check_known(known, size)
        exact, confidence = known.exact, confidence_of(self)
        if not np.isnan(exact.by_size[size]).any():
            return with_certain_bounds(exact, size, exact.by_size[size])
        guess = guess_of(self, known, size)
        completed = with_certain_bounds(exact, size, self.combined(guess, exact))
        if confidence is None:
            return completed
        # On a copy: what a completer keeps of a guess stays that of the table itself.
        trial = try_out(clone(self), known, size, self.rounds, self._seed)
        return with_intervals(completed, guess, exact, trial, confidence)

    def combined(self, guess: Guess, exact: ExactScores) -> NDArray[np.float64]:
        """Scores of the asked size: exact where they are known, else guesses, closed upwards.

        Parameters
        ----------
        guess : Guess
            Guesses of all sizes up to the asked one.
        exact : ExactScores
            What could be computed.
        """
        return closed_upwards(guess.by_size, exact)[-1]

    @property
    def _seed(self) -> int | None:
        seed: int | None = resolved("random_state", self.random_state)
        return seed

    def _check_parameters(self) -> None:
        check_confidence(confidence_of(self))
        check_count(self.rounds, "rounds", least=0)
        check_count(self._seed, "random_state", least=0, none=True)


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


class RecordedCompleter(BaseCompleter):
    """The exact scores of a table whose subgroups recorded every feature: nothing to predict."""

    def guess(self, known: Known, size: int) -> Guess:
        """The exact scores of all sizes up to one."""
        return Guess.of(recorded_sets_filled(known.exact, size))
