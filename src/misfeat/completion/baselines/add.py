"""The simplest use of other cohorts: what each unrecorded feature tells alone elsewhere is added.

For a set S = O + Q, of which cohort i recorded O, the prediction is I_i(O) plus, for every q of Q,
the mean over the cohorts that recorded q of I_j(q). It knows nothing of overlap or interaction: it
is `InteractionsCompleter` with contributions of single features alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.named import INHERIT

if TYPE_CHECKING:
    from misfeat.completion.named import Confidence, Seed


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
