"""The closed-form transfer as a completer."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.baselines.gain import recorded_sets_filled
from misfeat.completion.calibrated import GuessingCompleter
from misfeat.completion.guess import Guess
from misfeat.completion.interactions import InteractionsGuesser
from misfeat.completion.parts import recorded_part_scores
from misfeat.exceptions import MisfeatError
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import ExactScores, Known

    Scores = NDArray[np.float64]

USUAL_CATEGORIES, USUAL_CLASSES = 5, 3
"""What features and targets are taken to have when memory is estimated before rows are seen."""


class TransferCompleter(GuessingCompleter):
    """Predict a score from tables that other subgroups recorded, carried over to this one.

    For a set of features that a subgroup recorded in part, the table of the set with the target is
    predicted: its recorded part as the subgroup's own rows have it, the rest as other subgroups'
    tables say, shrunk where they hold little, raked to the subgroup's own margins. The score is
    what so many rows of that table would give on average. Needs the rows of all subgroups.

    Parameters
    ----------
    proxies : bool, default=True
        Whether an unrecorded feature's distribution is taken through recorded features that stand
        in for it.
    table_size : {2, 3}, default=3
        Tables of up to so many features are carried over; larger sets are fitted to these.
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=12
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, default=None
        Seed of which features are hidden; None hides the same ones every time.

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

    def __init__(
        self,
        *,
        proxies: bool = True,
        table_size: int = 3,
        confidence: float | None = 0.9,
        rounds: int = 12,
        random_state: int | None = None,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.proxies = proxies
        self.table_size = table_size

    def _guesser(self, known: Known) -> TransferGuesser:
        return TransferGuesser(known.cohorts, proxies=self.proxies, table_size=self.table_size)

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return memory_of_tables(size, n_features, n_cohorts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.table_size not in (2, 3):
            raise MisfeatError(f"table_size={self.table_size!r}; it must be 2 or 3.")


def memory_of_tables(size: int, n_features: int, n_cohorts: int) -> int:
    """Bytes of the tables that are kept, counted, smoothed and completed, for usual features."""
    cells = 4 * comb(n_features, 2) * USUAL_CATEGORIES * USUAL_CATEGORIES
    if size > 3:
        cells += comb(n_features, 3) * USUAL_CATEGORIES * USUAL_CATEGORIES * USUAL_CATEGORIES
    return 8 * USUAL_CLASSES * cells * n_cohorts


class TransferGuesser:
    """Guesses by the transfer; the rows are prepared once for any number of guesses."""

    def __init__(self, cohorts: Cohorts | None, *, proxies: bool, table_size: int) -> None:
        from misfeat.completion.transfer.records import Records

        if cohorts is None:
            raise MisfeatError(
                "The completer 'transfer' needs the rows of all subgroups and scores of "
                "measure='mutual_info'; use completer='interactions'."
            )
        self._cohorts = cohorts
        self._records = Records.of(cohorts)
        self._proxies, self._table_size = proxies, table_size
        self._coarse: list[Scores] = []

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        from misfeat.completion.transfer.model import TransferModel

        exact = known.exact
        model = TransferModel(
            self._records,
            exact.missing,
            Work(known.n_jobs),
            proxies=self._proxies,
            table_size=self._table_size,
        )
        by_size = recorded_sets_filled(exact, size)
        for m in range(1, size + 1):
            predicted = model.predict(m).score
            if not self._records.as_scored:
                predicted = predicted + self._lost_by_merging(exact, m)
            by_size[m] = np.where(np.isnan(predicted), by_size[m], predicted)
        self._take_merged_from_scores(by_size, known, size)
        return Guess(by_size, np.sqrt(model.predict(size).variance))

    def _take_merged_from_scores(self, by_size: list[Scores], known: Known, size: int) -> None:
        """Guess by scores alone where categories of an unrecorded feature had to be merged."""
        merged = known.exact.missing & self._records.merged
        if merged.any():
            from_scores = InteractionsGuesser().guess(known, size).by_size
            for m in range(1, size + 1):
                coarse = merged[:, level(merged.shape[1], m)].any(axis=2)
                by_size[m] = np.where(coarse, from_scores[m], by_size[m])

    def _coarse_up_to(self, size: int) -> list[Scores]:
        """Scores of the rows as the transfer sees them: categories merged, gaps a category."""
        if len(self._coarse) <= size:
            records = self._records
            categories = tuple(tuple(map(str, range(card))) for card in records.cards)
            rows = replace(
                self._cohorts, codes=records.codes.astype(np.int32), categories=categories
            )
            measure = MutualInformation(rows)
            found = [measure.of_levels(i, 0, size, None) for i in range(len(rows))]
            self._coarse = [np.array(scores) for scores in zip(*found, strict=True)]
        return self._coarse

    def _lost_by_merging(self, exact: ExactScores, size: int) -> Scores:
        """By how much the score of each recorded part is larger with the categories as they are."""
        coarse = self._coarse_up_to(size)
        subsets = level(exact.missing.shape[1], size)
        lost = [
            recorded_part_scores(exact.by_size, cohort, subsets, missing)
            - recorded_part_scores(coarse, cohort, subsets, missing)
            for cohort, missing in enumerate(exact.missing)
        ]
        return np.nan_to_num(lost)
