"""The closed-form transfer as a completer, and the rows or tables that it prepares once."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.interactions import InteractionsCompleter
from misfeat.completion.model import Guess
from misfeat.completion.named import INHERIT
from misfeat.completion.parts import recorded_part_scores, recorded_sets_filled
from misfeat.completion.transfer.rows import CodedRows, CountedTables
from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import ExactScores, Known
    from misfeat.completion.named import Confidence, Seed
    from misfeat.information.count_tables import CountTables

    Scores = NDArray[np.float64]

USUAL_CATEGORIES, USUAL_CLASSES = 5, 3
"""What features and targets are taken to have when memory is estimated before rows are seen."""


class TransferCompleter(BaseCompleter):
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
        confidence: Confidence = INHERIT,
        rounds: int = 12,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.proxies = proxies
        self.table_size = table_size

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        from misfeat.completion.transfer.model import TransferModel

        exact, rows = known.exact, known.prepared(TransferRows.of)
        model = TransferModel(
            rows.coded,
            exact.missing,
            Work(known.n_jobs),
            proxies=self.proxies,
            table_size=self.table_size,
            above_chance=exact.above_chance,
        )
        by_size = recorded_sets_filled(exact, size)
        for m in range(1, size + 1):
            found = model.predict(m)
            predicted = found.score if found.above_chance is None else found.above_chance
            if not rows.coded.as_scored:
                predicted = predicted + rows.lost_by_merging(exact, m)
            by_size[m] = np.where(np.isnan(predicted), by_size[m], predicted)
        merged = exact.missing & rows.coded.merged
        if merged.any():
            by_size = _taken_from_scores(by_size, merged, known)
        return Guess(by_size, np.sqrt(model.predict(size).variance))

    def memory_needed(self, size: int, n_features: int, n_cohorts: int) -> int:
        """Bytes that a prediction takes beyond the scores themselves, about."""
        return memory_of_tables(size, n_features, n_cohorts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.table_size not in (2, 3):
            raise MisfeatError(
                "{setting}; it must be 2 or 3.", setting=Setting("table_size", self.table_size)
            )


def memory_of_tables(size: int, n_features: int, n_cohorts: int) -> int:
    """Bytes of the tables that are kept, counted, smoothed and completed, for usual features."""
    cells = 4 * comb(n_features, 2) * USUAL_CATEGORIES * USUAL_CATEGORIES
    if size > 3:
        cells += comb(n_features, 3) * USUAL_CATEGORIES * USUAL_CATEGORIES * USUAL_CATEGORIES
    return 8 * USUAL_CLASSES * cells * n_cohorts


def _taken_from_scores(
    by_size: list[Scores], merged: NDArray[np.bool_], known: Known
) -> list[Scores]:
    """Guesses by scores alone where categories of an unrecorded feature had to be merged."""
    from_scores = InteractionsCompleter().guess(known, len(by_size) - 1).by_size
    taken = [by_size[0]]
    for m in range(1, len(by_size)):
        coarse = merged[:, level(merged.shape[1], m)].any(axis=2)
        taken.append(np.where(coarse, from_scores[m], by_size[m]))
    return taken


class TransferRows:
    """The rows of a table prepared for any number of guesses."""

    def __init__(self, cohorts: Cohorts) -> None:
        self.coded = CodedRows.of(cohorts)
        self._cohorts = cohorts
        self._coarse: dict[bool, list[Scores]] = {}

    @classmethod
    def of(cls, known: Known) -> TransferRows | CountedRows:
        """The rows of what is known, or what was counted of them where there are none."""
        if known.tables is not None:
            return CountedRows(known.tables)
        return cls(known.rows_for("transfer"))

    def lost_by_merging(self, exact: ExactScores, size: int) -> Scores:
        """By how much the score of each recorded part is larger with the categories as they are."""
        coarse = self._coarse_up_to(size, exact.above_chance)
        subsets = level(exact.missing.shape[1], size)
        lost = [
            recorded_part_scores(exact.by_size, cohort, subsets, missing)
            - recorded_part_scores(coarse, cohort, subsets, missing)
            for cohort, missing in enumerate(exact.missing)
        ]
        return np.nan_to_num(lost)

    def _coarse_up_to(self, size: int, above_chance: bool) -> list[Scores]:
        """Scores of the rows as the transfer sees them: categories merged, gaps a category."""
        if len(self._coarse.get(above_chance, ())) <= size:
            codes = self.coded.codes.astype(np.int32)
            categories = tuple(tuple(map(str, range(card))) for card in self.coded.cards)
            rows = replace(self._cohorts, codes=codes, categories=categories)
            measure = MutualInformation(rows, above_chance=above_chance)
            found = [measure.of_levels(i, 0, size, None) for i in range(len(rows))]
            self._coarse[above_chance] = [np.array(scores) for scores in zip(*found, strict=True)]
        return self._coarse[above_chance]


class CountedRows:
    """What was counted of rows that are not there; in place of `TransferRows`."""

    def __init__(self, tables: CountTables) -> None:
        self.coded = CountedTables(tables)

    def lost_by_merging(self, exact: ExactScores, size: int) -> Scores:
        """Nothing: tables are of the categories that scores are of."""
        return np.zeros_like(exact.by_size[size])
