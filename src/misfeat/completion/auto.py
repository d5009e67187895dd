"""The default: the way of predicting that what is known allows for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.completion.base import BaseCompleter
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.transfer.completer import TransferCompleter, memory_of_tables

if TYPE_CHECKING:
    from misfeat.completion.model import CompletedScores, Guess, Known


class AutoCompleter(BaseCompleter):
    """Predict by the transfer between subgroups, which needs rows.

    Without rows, scores alone have to do. (R² of a selector is predicted from sums of products,
    `misfeat.estimation.estimates`.)

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

    Attributes
    ----------
    chosen_ : {"transfer", "interactions"}
        What predicts.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, estimate="sample").fit(data.columns, data.target)
    >>> selector.completer_.chosen_
    'transfer'
    """

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return memory_of_tables(size, n_features, n_cohorts)

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        return self._way(known).guess(known, size)

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score for every subset of one size in every cohort."""
        self._check_parameters()
        return self._way(known).complete(known, size)

    def _way(self, known: Known) -> BaseCompleter:
        scores_alone = known.cohorts is None and known.tables is None
        self.chosen_ = "interactions" if scores_alone else "transfer"
        kind = InteractionsCompleter if scores_alone else TransferCompleter
        return kind(confidence=self.confidence, rounds=self.rounds, random_state=self.random_state)
