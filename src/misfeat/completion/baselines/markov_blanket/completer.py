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

from misfeat.completion.base import BaseCompleter, check_not_negative, check_probability
from misfeat.completion.baselines.imputed import all_recorded, guess_of, imputed_scores
from misfeat.completion.baselines.knn.imputation import imputed_codes
from misfeat.completion.baselines.markov_blanket.iamb import markov_blanket
from misfeat.completion.named import INHERIT
from misfeat.completion.parts import recorded_part_scores
from misfeat.exceptions import check_count
from misfeat.lattice import level
from misfeat.runtime.threads import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import Guess, Known
    from misfeat.completion.named import Confidence, Seed

    Mask = NDArray[np.bool_]


class MarkovBlanketCompleter(BaseCompleter):
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
        confidence: Confidence = INHERIT,
        rounds: int = 5,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.n_neighbors = n_neighbors
        self.with_target = with_target
        self.alpha = alpha
        self.rows_per_cell = rows_per_cell
        self.repeats = repeats

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        missing = known.exact.missing
        imputed, members = self.imputed_with_blankets(known)
        scores = imputed_scores(imputed, known.exact, size, known.n_jobs)
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

    def imputed_with_blankets(self, known: Known) -> tuple[Cohorts, Mask]:
        """Imputed rows, and which features are in each cohort's blanket.

        A cohort that recorded all features is not looked at; its line says nothing.

        Parameters
        ----------
        known : Known
            What is known, the rows included.
        """
        imputed = self._imputed(known)
        members = self._blankets(imputed, known.exact.missing)
        for _ in range(self.repeats - 1):
            imputed = self._imputed(known, members)
            before, members = members, self._blankets(imputed, known.exact.missing)
            if np.array_equal(members, before):
                break
        return imputed, members

    def _imputed(self, known: Known, compared: Mask | None = None) -> Cohorts:
        cohorts, work = known.rows_for("markov_blanket"), Work(known.n_jobs)
        codes = imputed_codes(
            cohorts, known.exact.missing, self.n_neighbors, self.with_target, work, compared
        )
        return all_recorded(cohorts, codes)

    def _blankets(self, imputed: Cohorts, missing: Mask) -> Mask:
        members = np.zeros_like(missing)
        for i, cohort in enumerate(imputed):
            if missing[i].any():
                blanket = markov_blanket(
                    cohort.codes,
                    cohort.target,
                    cohort.weights,
                    alpha=float(self.alpha),
                    rows_per_cell=float(self.rows_per_cell),
                )
                members[i, list(blanket)] = True
        return members

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count(self.n_neighbors, "n_neighbors")
        check_count(self.repeats, "repeats")
        check_probability(self.alpha, "alpha")
        check_not_negative(self.rows_per_cell, "rows_per_cell")
