"""Unrecorded features dropped: a set is worth what its recorded part is.

What an analyst gets who leaves out every feature that a subgroup never recorded: for a set
S = O + Q, of which cohort i recorded O, the prediction is I_i(O).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.model import Guess
from misfeat.completion.parts import recorded_part_scores, recorded_sets_filled
from misfeat.lattice import level

if TYPE_CHECKING:
    from misfeat.completion.model import Known


class DropCompleter(BaseCompleter):
    """Predict a score as that of the recorded part; unrecorded features count for nothing.

    Needs scores only. It is here for comparison: it cannot tell unrecorded features apart.

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
    >>> DropCompleter().complete(Known(exact), 2).score
    array([[0.25],
           [0.3 ]])
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        filled = recorded_sets_filled(exact, size)
        by_size = [
            np.array(
                [
                    recorded_part_scores(filled, cohort, level(exact.missing.shape[1], m), missing)
                    for cohort, missing in enumerate(exact.missing)
                ]
            )
            for m in range(size + 1)
        ]
        return Guess.of(by_size)
