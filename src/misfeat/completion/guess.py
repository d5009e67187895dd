"""Guesses, before bounds and intervals: what a way to predict has to provide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from misfeat.completion.model import Known

    Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Guess:
    """Guessed scores of all sizes up to the asked one.

    Attributes
    ----------
    by_size : list of ndarray of shape (n_cohorts, n_subsets)
        From size 0 on; read only where no exact score is.
    deviation : ndarray of shape (n_cohorts, n_subsets)
        How far chance alone would spread the score of the asked size, where that is known; else 0.
    """

    by_size: list[Scores]
    deviation: Scores


class Guesser(Protocol):
    """A way to guess scores from what is known."""

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one; `known.exact.missing` says what is missing."""
        ...
