"""The simplest use of other cohorts: what each unrecorded feature tells alone elsewhere is added.

For a set S = O + Q, of which cohort i recorded O, the prediction is I_i(O) plus, for every q of Q,
the mean over the cohorts that recorded q of I_j(q). It knows nothing of overlap or interaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.calibrated import GuessingCompleter
from misfeat.completion.gain import mean_over_cohorts, recorded_sets_filled
from misfeat.completion.guess import Guess
from misfeat.lattice import level, rank

if TYPE_CHECKING:
    from misfeat.completion.model import Known


class AddCompleter(GuessingCompleter):
    """Predict a score as that of the recorded part plus single features' scores elsewhere.

    Parameters
    ----------
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=8
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, default=None
        Seed of which features are hidden; None hides the same ones every time.

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
    >>> AddCompleter().complete(Known(exact), 2).score
    array([[0.25],
           [0.5 ]])
    """

    def _guesser(self, known: Known) -> AddGuesser:  # noqa: ARG002
        return AddGuesser()


class AddGuesser:
    """Guesses by adding single scores."""

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        n_features = exact.missing.shape[1]
        alone = np.nan_to_num(mean_over_cohorts(exact.by_size[1]))
        filled = recorded_sets_filled(exact, size)
        by_size = [exact.by_size[0]]
        for m in range(1, size + 1):
            subsets = level(n_features, m)
            scores = filled[m].copy()
            for cohort, missing in enumerate(exact.missing):
                absent = missing[subsets]
                added = np.where(absent, alone[subsets], 0.0).sum(axis=1)
                for recorded in range(m):
                    chosen = np.flatnonzero((~absent).sum(axis=1) == recorded)
                    parts = subsets[chosen][~absent[chosen]].reshape(len(chosen), recorded)
                    scores[cohort, chosen] = filled[recorded][cohort, rank(parts)] + added[chosen]
            by_size.append(scores)
        return Guess(by_size, np.zeros_like(by_size[size]))
