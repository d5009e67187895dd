"""What all completers share: from guesses to completed scores between bounds."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from misfeat.completion import completer_data
from misfeat.completion.completer_data import CompletedScores, ExactScores, Guess, Known
from misfeat.completion.conformal_intervals import error_causes, half_widths, hidden_errors
from misfeat.completion.registry import INHERIT, Confidence, Seed, confidence_of, inherited
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice.levels import best_below, level, rank, ranks_below
from misfeat.messages import Setting
from misfeat.parameters.declaration import Parameters, a_level
from misfeat.runtime.array_types import Flags, Floats, Indices


@dataclass(kw_only=True, eq=False, repr=False)
class BaseCompleter(Parameters, ABC):
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

    confidence: Confidence = INHERIT
    rounds: int = 12
    random_state: Seed = INHERIT

    @abstractmethod
    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one, before bounds, closure and intervals.

        Rows may hold features that ``known.exact.missing`` marks; of these nothing may be read.
        """

    def reach(self, size: int, n_features: int) -> int:  # noqa: ARG002
        """The largest size whose exact scores are read to predict those of `size`."""
        self._check_parameters()
        return size

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:  # noqa: ARG002
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return 0

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score for every subset of one size in every cohort."""
        self._check_parameters()
        check_count(size, "size")
        exact = known.exact
        if size >= len(exact.by_size):
            raise MisfeatError(
                f"{Setting('size', size)}, but by_size ends at size {len(exact.by_size) - 1}; "
                "give larger sets."
            )
        if not np.isnan(exact.by_size[size]).any():
            return with_certain_bounds(exact, size, exact.by_size[size])
        guess = completer_data.guess_of(self, known, size)
        completed = with_certain_bounds(exact, size, self.combined(guess, exact))
        confidence = confidence_of(self)
        if confidence is None:
            return completed
        # On a copy: what a completer keeps of a guess stays that of the table itself.
        from sklearn.base import clone

        errors = hidden_errors(clone(self), known, size, self.rounds, self._seed)
        causes = error_causes(guess, completed.score, exact)
        return with_intervals(completed, half_widths(errors, causes, confidence))

    def combined(self, guess: Guess, exact: ExactScores) -> Floats:
        """Scores of the asked size: exact where they are known, else guesses, closed upwards."""
        return closed_upwards(guess.by_size, exact)[-1]

    @property
    def _seed(self) -> int | None:
        return inherited("random_state", self.random_state)  # type: ignore[no-any-return]

    def _check_parameters(self) -> None:
        a_level().check(confidence_of(self), "confidence")
        check_count(self.rounds, "rounds", least=0)
        check_count(self._seed, "random_state", least=0, none=True)


def with_certain_bounds(exact: ExactScores, size: int, score: Floats) -> CompletedScores:
    """Scores of one size, exact and guessed ones together, between what is certain."""
    subsets, predicted = level(exact.missing.shape[1], size), np.isnan(exact.by_size[size])
    support = completer_data.support_of(exact.missing, subsets)
    return CompletedScores(subsets, score, *exact.bounds(size), predicted, support)


def with_intervals(
    completed: CompletedScores,
    half: Floats | None,
    but: Sequence[int] = (completer_data.NONE, completer_data.OWN_ROWS),
) -> CompletedScores:
    """Narrow the certain bounds to intervals that hold the truth as often as asked for."""
    if half is None:
        return completed
    # Nothing is learned of features recorded nowhere, and of own sets that were not scored.
    narrowed = completed.predicted & ~np.isin(completed.support, but)
    score, low, high = completed.score, completed.low, completed.high
    return replace(
        completed,
        low=np.where(narrowed, np.maximum(low, score - half), low),
        high=np.where(narrowed, np.minimum(high, score + half), high),
    )


def recorded_part_scores(by_size: Sequence[Floats], subsets: Indices, missing: Flags) -> Floats:
    """The score, given scores from size 0 on, of each subset's recorded part in every cohort."""
    scores = np.empty((len(missing), len(subsets)))
    for cohort, present in enumerate(~missing[:, subsets]):
        for size in range(subsets.shape[1] + 1):
            chosen = np.flatnonzero(present.sum(axis=1) == size)
            parts = subsets[chosen][present[chosen]].reshape(len(chosen), size)
            scores[cohort, chosen] = by_size[size][cohort, rank(parts)]
    return scores


def recorded_sets_filled(exact: ExactScores, size: int) -> list[Floats]:
    """Scores by size, recorded sets that were not scored filled in: best part plus mean gain."""
    filled = [exact.by_size[0]]
    for m in range(1, size + 1):
        scores = exact.by_size[m].copy()
        subsets = level(exact.missing.shape[1], m)
        unknown = np.isnan(scores) & ~exact.missing[:, subsets].any(axis=2)
        if unknown.any():
            best_part = filled[m - 1][:, ranks_below(subsets)].max(axis=2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # the mean of nothing is NaN
                gain = np.nanmean(exact.by_size[m] - best_part, axis=0)
            usual = 0.0 if np.isnan(gain).all() else np.nanmean(gain)
            guess = best_part + np.where(np.isnan(gain), usual, gain)
            scores[unknown] = np.clip(guess, best_part, exact.ceiling[:, None])[unknown]
        filled.append(scores)
    return filled


def ceilings(exact: ExactScores, size: int) -> Floats:
    """What each subset of a size cannot exceed: known scores of larger sets, and the ceiling."""
    limits = np.repeat(exact.ceiling[:, None], exact.by_size[-1].shape[1], axis=1)
    for larger in range(len(exact.by_size) - 1, size, -1):
        known = exact.by_size[larger]
        limits = np.where(np.isnan(known), limits, known)
        below = np.repeat(exact.ceiling[:, None], exact.by_size[larger - 1].shape[1], axis=1)
        for part in ranks_below(level(exact.missing.shape[1], larger)).T:
            np.minimum.at(below.T, part, limits.T)
        limits = below
    return limits


def closed_upwards(guesses: list[Floats], exact: ExactScores) -> list[Floats]:
    """Exact scores, else guesses, by size from 0, changed as little as upward closure asks."""
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


NOT_NEGATIVE = "be a number that is not negative"


def check_number(
    value: Any, name: str, below: float = np.inf, words: str = NOT_NEGATIVE, *, zero: bool = True
) -> None:
    """Raise unless a number of at least 0 (above, without `zero`) and below a limit."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0 <= value < below or not (zero or value > 0):
        raise MisfeatError(f"{Setting(name, value)}; it must {words}.")
