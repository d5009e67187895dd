"""The completer by closed-form transfer between cohorts, and the default, which may choose it."""

from dataclasses import dataclass
from math import comb

import numpy as np

from misfeat.completion.base import BaseCompleter, recorded_sets_filled
from misfeat.completion.completer_data import CompletedScores, Guess, Known
from misfeat.completion.interactions_completer import InteractionsCompleter
from misfeat.lattice.levels import level
from misfeat.runtime.threads import Work

USUAL_CATEGORIES, USUAL_CLASSES = 5, 3  # when memory is estimated before rows are seen


@dataclass(kw_only=True, eq=False, repr=False)
class TransferCompleter(BaseCompleter):
    """Predict a score from tables that other subgroups recorded, carried over to this one.

    For a set of features that a subgroup recorded in part, the table of the set with the target is
    predicted: its recorded part as the subgroup's own rows have it, the rest as other subgroups'
    tables say, shrunk where they hold little, raked to the subgroup's own margins. The score is
    what so many rows of that table would give on average. Needs the rows of all subgroups.

    Parameters
    ----------
    confidence, rounds, random_state : see `BaseCompleter`
        Of the intervals.
    proxies : bool, default=True
        Whether an unrecorded feature's distribution is taken through recorded features that stand
        in for it.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> selector = SubgroupSelector(data.groups, completer=TransferCompleter(random_state=0))
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    proxies: bool = True

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        from misfeat.completion.transfer.transfer_model import TransferModel, rows_or_tables

        exact, rows = known.exact, known.prepared(rows_or_tables)
        work, above = Work(known.n_jobs), exact.above_chance
        model = TransferModel(rows, exact.missing, work, proxies=self.proxies, above_chance=above)
        by_size = recorded_sets_filled(exact, size)
        for m in range(1, size + 1):
            prediction = model.predict(m)
            predicted = prediction.above if above else prediction.score
            if not rows.as_scored:
                predicted = predicted + rows.lost_by_merging(exact, m)
            by_size[m] = np.where(np.isnan(predicted), by_size[m], predicted)
        merged = exact.missing & rows.merged
        if merged.any():
            # Scores alone have to do where categories of an unrecorded feature had to be merged.
            from_scores = InteractionsCompleter().guess(known, size).by_size
            for m in range(1, size + 1):
                coarse = merged[:, level(merged.shape[1], m)].any(axis=2)
                by_size[m] = np.where(coarse, from_scores[m], by_size[m])
        return Guess(by_size, np.sqrt(model.predict(size).variance))

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        cells = 4 * comb(n_features, 2) * USUAL_CATEGORIES**2
        if size > 3:
            cells += comb(n_features, 3) * USUAL_CATEGORIES**3
        return 8 * USUAL_CLASSES * cells * n_cohorts


@dataclass(kw_only=True, eq=False, repr=False)
class AutoCompleter(BaseCompleter):
    """Predict by the transfer between subgroups where there are rows, else from scores alone.

    (R² of a selector is predicted from sums of products, `misfeat.estimation.score_estimate`.)

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
