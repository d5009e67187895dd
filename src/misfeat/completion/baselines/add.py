"""The simplest use of other cohorts: what each unrecorded feature tells alone elsewhere is added.

For a set S = O + Q, of which cohort i recorded O, the prediction is I_i(O) plus, for every q of Q,
the mean over the cohorts that recorded q of I_j(q). It knows nothing of overlap or interaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.completion.calibrated import GuessingCompleter
from misfeat.completion.interactions import InteractionsGuesser

if TYPE_CHECKING:
    from misfeat.completion.model import Known


class AddCompleter(GuessingCompleter):
    """Predict a score as that of the recorded part plus single features' scores elsewhere.

    Parameters
    ----------
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, default=None
        Seed of which features are hidden; None hides the same ones every time.

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

    def _guesser(self, known: Known) -> InteractionsGuesser:  # noqa: ARG002
        return InteractionsGuesser(largest=1)
