"""The default completer, which takes another by what it is given."""

from dataclasses import dataclass

from misfeat.completion.base import BaseCompleter
from misfeat.completion.completer_data import CompletedScores, Guess, Known
from misfeat.completion.interactions_completer import InteractionsCompleter
from misfeat.completion.transfer_completer import TransferCompleter


@dataclass(kw_only=True, eq=False, repr=False)
class AutoCompleter(BaseCompleter):
    """Predict by the transfer between subgroups where there are rows, else from scores alone.

    (R² of a selector is predicted from sums of products, `misfeat.estimation.score_estimator`.)

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals.

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
        return TransferCompleter().memory_needed(size, n_features, n_cohorts)

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
