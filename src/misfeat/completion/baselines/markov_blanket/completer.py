"""Markov blankets as a completer: a baseline of the MISFEAT paper.

Unrecorded features are imputed by nearest neighbours, the target's Markov blanket is learned from
the imputed rows of each cohort, and both repeat until no blanket changes: from the second time on
rows are compared in the recorded members of their cohort's blanket alone.

The score of a set S in a cohort with blanket B is that of S ∩ B in the imputed rows: members score
what they tell together, everything else adds nothing. So sets within the blanket come before those
that share the same members with it, and among these none is preferred. What is certain still holds:
no set scores lower than the part of it that the cohort recorded, in the blanket or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.baselines.knn.imputation import imputed_codes
from misfeat.completion.baselines.markov_blanket.iamb import markov_blanket
from misfeat.completion.calibrated import GuessingCompleter
from misfeat.completion.imputed import all_recorded, guess_of, imputed_scores, rows_for
from misfeat.completion.parts import recorded_part_scores
from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice import level
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.guess import Guess
    from misfeat.completion.model import Known

    Mask = NDArray[np.bool_]


class MarkovBlanketCompleter(GuessingCompleter):
    """Predict a score from imputed rows, by the features in the target's Markov blanket alone.

    Unrecorded features are imputed by nearest neighbours and the Markov blanket of the target is
    learned in every subgroup, in turns, until it no longer changes; neighbours are then those in
    the blanket's features. A set scores what its features within the blanket tell together in the
    imputed rows. Needs the rows of all subgroups.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote on a value, as in `KNNCompleter`.
    with_target : bool, default=False
        Whether rows are compared in the target as in a feature. Then imputed values follow the
        target, and blankets of them alone.
    alpha : float, default=0.01
        The level of the tests for the blanket, as in `markov_blanket`.
    rows_per_cell : float, default=5
        Rows a cell that a test needs, as in `markov_blanket`.
    repeats : int, default=10
        How often to impute and learn at most; where blankets still change, the last ones are taken.
    confidence : float or None, default=0.9
        How often the truth is to lie between ``low`` and ``high``; None gives certain bounds.
    rounds : int, default=5
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, default=None
        Seed of which features are hidden; None hides the same ones every time.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=500, hide=0.2, random_state=0)
    >>> completer = MarkovBlanketCompleter(confidence=None)
    >>> selector = SubgroupSelector(data.groups, completer=completer, confidence=None)
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        with_target: bool = False,
        alpha: float = 0.01,
        rows_per_cell: float = 5.0,
        repeats: int = 10,
        confidence: float | None = 0.9,
        rounds: int = 5,
        random_state: int | None = None,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.n_neighbors = n_neighbors
        self.with_target = with_target
        self.alpha = alpha
        self.rows_per_cell = rows_per_cell
        self.repeats = repeats

    def _guesser(self, known: Known) -> MarkovBlanketGuesser:
        return MarkovBlanketGuesser(rows_for("markov_blanket", known.cohorts), self)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_neighbors, "n_neighbors")
        check_count(self.repeats, "repeats")
        if not isinstance(self.alpha, int | float | np.number) or not 0 < self.alpha < 1:
            raise MisfeatError(f"alpha={self.alpha!r}; it must lie between 0 and 1.")
        least = self.rows_per_cell
        if not isinstance(least, int | float | np.number) or not 0 <= least < np.inf:
            raise MisfeatError(
                f"rows_per_cell={least!r}; it must be a number that is not negative."
            )


class MarkovBlanketGuesser:
    """Guesses by what members of the blanket tell in imputed rows."""

    def __init__(self, cohorts: Cohorts, settings: MarkovBlanketCompleter) -> None:
        self._cohorts, self._settings = cohorts, settings

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        missing = known.exact.missing
        imputed, members = self.imputed_with_blankets(missing, Work(known.n_jobs))
        scores = imputed_scores(imputed, missing, size, known.n_jobs)
        within = [
            np.array(
                [
                    recorded_part_scores(scores, cohort, level(missing.shape[1], m), ~own)
                    for cohort, own in enumerate(members)
                ]
            )
            for m in range(size + 1)
        ]
        return guess_of(known.exact, within)

    def imputed_with_blankets(self, missing: Mask, work: Work) -> tuple[Cohorts, Mask]:
        """Imputed rows, and which features are in each cohort's blanket.

        A cohort that recorded all features is not looked at; its line says nothing.
        """
        imputed = self._imputed(missing, None, work)
        members = self._blankets(imputed, missing)
        for _ in range(self._settings.repeats - 1):
            imputed = self._imputed(missing, members, work)
            before, members = members, self._blankets(imputed, missing)
            if np.array_equal(members, before):
                break
        return imputed, members

    def _imputed(self, missing: Mask, compared: Mask | None, work: Work) -> Cohorts:
        chosen = self._settings
        codes = imputed_codes(
            self._cohorts, missing, chosen.n_neighbors, chosen.with_target, work, compared
        )
        return all_recorded(self._cohorts, codes)

    def _blankets(self, imputed: Cohorts, missing: Mask) -> Mask:
        members = np.zeros_like(missing)
        for i, cohort in enumerate(imputed):
            if missing[i].any():
                blanket = markov_blanket(
                    cohort.codes,
                    cohort.target,
                    cohort.weights,
                    alpha=float(self._settings.alpha),
                    rows_per_cell=float(self._settings.rows_per_cell),
                )
                members[i, list(blanket)] = True
        return members
