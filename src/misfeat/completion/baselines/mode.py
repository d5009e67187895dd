"""Unrecorded features imputed by their most frequent value, as many tools do by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.baselines.imputed import (
    all_recorded,
    guess_of,
    imputed_scores,
    most_frequent,
    recorded_codes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import Guess, Known


class ModeCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features have their most frequent value.

    The value is the most frequent one in the rows of the subgroups that recorded the feature. Needs
    the rows of all subgroups. It is here for comparison: one value for all rows tells nothing, so
    that scores are those of the recorded features. (The published code of the MISFEAT paper does
    this under the name of nearest neighbours.)

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
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, completer=ModeCompleter())
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        cohorts, missing = known.rows_for("mode"), known.exact.missing
        imputed = all_recorded(cohorts, modes_filled_in(cohorts, missing))
        return guess_of(known.exact, imputed_scores(imputed, known.exact, size, known.n_jobs))


def modes_filled_in(cohorts: Cohorts, missing: NDArray[np.bool_]) -> NDArray[np.integer]:
    """The codes of all cohorts with the most frequent value of every feature one never recorded.

    `missing` marks what counts as never recorded, whatever the cohorts hold of it.
    """
    codes, cohort_of = recorded_codes(cohorts, missing)
    counted = cohorts.counts
    for feature in np.flatnonzero(missing.any(axis=0)):
        there = codes[feature] >= 0
        mode = most_frequent(codes[feature, there], counted[there])
        codes[feature, missing[cohort_of, feature]] = mode
    return codes
