"""The default: the transfer, unless this very table says that another way is better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.calibration import try_out
from misfeat.completion.checks import check_known
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.transfer.completer import TransferCompleter, memory_of_tables

if TYPE_CHECKING:
    from misfeat.completion.calibration import Trial
    from misfeat.completion.model import CompletedScores, Guess, Known

STANDARD_ERRORS = 3.0
"""Another way must find the best sets better by more than so many standard errors."""
ENOUGH_CLUSTERS = 12
"""Hidden features, each in its cohort, that it takes to prefer another way."""


class AutoCompleter(BaseCompleter):
    """Predict by the transfer between subgroups, unless hidden features say that another is better.

    Features that the table does have are hidden in rounds. Where the transfer of scores alone
    (`InteractionsCompleter`) then finds the best sets better than that of rows by more than chance,
    it is used; also where there are no rows to transfer, as for ``measure="r2"``.

    Parameters
    ----------
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=12
        How often recorded features are hidden to choose, and to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of which features are hidden; None hides the same ones every time. ``"inherit"`` is
        the selector's, or None without one.

    Attributes
    ----------
    chosen_ : {"transfer", "interactions"}
        What predicts; decided by the first size that is asked for, so that the scores of different
        sizes go together.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, random_state=0).fit(data.columns, data.target)
    >>> selector.completer_.chosen_
    'transfer'
    """

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return memory_of_tables(size, n_features, n_cohorts)

    def guess(self, known: Known, size: int) -> Guess:
        """Guess by what was chosen, or by the usual way before anything was."""
        ways = self._ways(known)
        return ways[getattr(self, "chosen_", next(iter(ways)))].guess(known, size)

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
        ways = self._ways(known)
        if hasattr(self, "chosen_"):
            return ways[self.chosen_].complete(known, size)
        trials = {
            name: try_out(way, known, size, self.rounds, self._seed, f"Trying {name!r} predictions")
            for name, way in ways.items()
        }
        self.chosen_: str = _better(trials)
        return ways[self.chosen_]._completed(known, size, trials[self.chosen_])

    def _ways(self, known: Known) -> dict[str, BaseCompleter]:
        """The completers to choose from, the usual one first."""
        settings: dict[str, Any] = {
            "confidence": self.confidence,
            "rounds": self.rounds,
            "random_state": self.random_state,
        }
        ways: dict[str, BaseCompleter] = {"interactions": InteractionsCompleter(**settings)}
        if known.cohorts is None:
            return ways
        return {"transfer": TransferCompleter(**settings), **ways}


def _better(trials: dict[str, Trial]) -> str:
    """The first way, or one that finds the best sets better by more than chance, and errs less.

    Rounds that hide the same few features again and again agree by themselves, so that with few of
    them there is no telling.
    """
    usual, *others = trials
    if trials[usual].n_clusters < ENOUGH_CLUSTERS:
        return usual
    for other in others:
        ahead = trials[other].ndcg - trials[usual].ndcg
        error = ahead.std(ddof=1) / np.sqrt(len(ahead))
        errs_less = np.mean(trials[other].errors ** 2) < np.mean(trials[usual].errors ** 2)
        if ahead.mean() > STANDARD_ERRORS * error and errs_less:
            return other
    return usual
