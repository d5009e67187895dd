"""Imputation by nearest neighbours as a completer: a baseline of the MISFEAT paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.completion.base import BaseCompleter
from misfeat.completion.baselines.imputed import all_recorded, guess_of, imputed_scores
from misfeat.completion.baselines.knn.imputation import imputed_codes
from misfeat.completion.named import INHERIT
from misfeat.exceptions import check_count
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from misfeat.completion.model import Guess, Known
    from misfeat.completion.named import Confidence, Seed


class KNNCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features are imputed.

    Every row gets the value that most of its nearest rows in other subgroups have, the distance
    being the share of commonly recorded features in which two rows differ. The score is that of the
    imputed rows. Needs the rows of all subgroups.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote on a value. Further rows that are as near as the last of them vote too.
    with_target : bool, default=True
        Whether rows are compared in the target as in a feature.
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=5
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, completer=KNNCompleter(random_state=0))
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        with_target: bool = True,
        confidence: Confidence = INHERIT,
        rounds: int = 5,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.n_neighbors = n_neighbors
        self.with_target = with_target

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        cohorts, missing = known.rows_for("knn"), known.exact.missing
        codes = imputed_codes(
            cohorts, missing, self.n_neighbors, self.with_target, Work(known.n_jobs)
        )
        imputed = all_recorded(cohorts, codes)
        return guess_of(known.exact, imputed_scores(imputed, known.exact, size, known.n_jobs))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_neighbors, "n_neighbors")
