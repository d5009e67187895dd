"""The default: the transfer, unless this very table says that another way is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.calibrated import GuessingCompleter, check_known, with_intervals
from misfeat.completion.calibration import try_out
from misfeat.completion.closure import completed_scores
from misfeat.completion.interactions import InteractionsGuesser
from misfeat.completion.transfer.completer import TransferGuesser, memory_of_tables

if TYPE_CHECKING:
    from misfeat.completion.calibration import Trial
    from misfeat.completion.guess import Guesser
    from misfeat.completion.model import CompletedScores, Known

STANDARD_ERRORS = 3.0
"""Another way must find the best sets better by more than so many standard errors."""
ENOUGH_CLUSTERS = 12
"""Hidden features, each in its cohort, that it takes to prefer another way."""


class AutoCompleter(GuessingCompleter):
    """Predict by the transfer between subgroups, unless hidden features say that another is better.

    Features that the table does have are hidden in rounds. Where the transfer of scores alone
    (`InteractionsCompleter`) then finds the best sets better than that of rows by more than chance,
    it is used; also where there are no rows to transfer, as for ``measure="r2"``.

    Parameters
    ----------
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=12
        How often recorded features are hidden.
    random_state : int, default=None
        Seed of which ones; None hides the same ones every time.

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

    def _guesser(self, known: Known) -> Guesser:
        return next(iter(self._guessers(known).values()))

    def _guessers(self, known: Known) -> dict[str, Guesser]:
        """Ways to guess, the usual one first."""
        if known.cohorts is None:
            return {"interactions": InteractionsGuesser()}
        transfer = TransferGuesser(known.cohorts, proxies=True, table_size=3)
        return {"transfer": transfer, "interactions": InteractionsGuesser()}

    def complete(self, known: Known, size: int) -> CompletedScores:
        """A score for every subset of one size in every cohort."""
        self._check_parameters()
        check_known(known, size)
        guessers = self._guessers(known)
        if hasattr(self, "chosen_"):
            guessers = {self.chosen_: guessers[self.chosen_]}
        trials = {
            name: try_out(
                guesser, known, size, self.rounds, self.random_state, f"Trying {name!r} predictions"
            )
            for name, guesser in guessers.items()
        }
        self.chosen_: str = _better(trials)
        guess = guessers[self.chosen_].guess(known, size)
        completed = completed_scores(known.exact, guess.by_size)
        if self.confidence is None:
            return completed
        trial = trials[self.chosen_]
        return with_intervals(completed, guess, known, size, trial, self.confidence)


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
