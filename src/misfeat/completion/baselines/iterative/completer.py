"""Multiple imputation by chained equations as a completer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.baselines.imputed import all_recorded, guess_of, imputed_scores
from misfeat.completion.baselines.iterative.chained import ChainSettings, chained_codes, cut_rows
from misfeat.completion.settings import INHERIT
from misfeat.exceptions import check_count
from misfeat.machine.threads import Work

if TYPE_CHECKING:
    from misfeat.cohorts import Cohorts
    from misfeat.completion.model import Guess, Known
    from misfeat.completion.settings import Confidence, Seed


class IterativeCompleter(BaseCompleter):
    """Predict a score from rows in which unrecorded features are imputed several times.

    As an analyst would impute today: each feature is learned from all others by a classification
    tree over the rows of all subgroups, unrecorded values are drawn from its leaves, features take
    turns in sweeps, and the whole is done several times; scores of the imputed rows are averaged.
    Needs the rows of all subgroups.

    Parameters
    ----------
    imputations : int, default=5
        How often rows are imputed.
    sweeps : int, default=5
        How often every feature has its turn in an imputation.
    max_rows : int, default=5000
        A tree learns from so many rows at most, drawn anew by weight. Rows that stand for several
        are cut, so that each may get a value of its own, until a subgroup has about so many.
    rows_per_leaf : int, default=5
        Distinct rows that a leaf of a tree holds at least.
    with_target : bool, default=True
        Whether the target is among what a feature is learned from.
    confidence : float, None or "inherit", default="inherit"
        Target coverage of the intervals; None gives certain bounds. ``"inherit"`` is the
        selector's, or 0.9 without one.
    rounds : int, default=3
        How often recorded features are hidden to learn how far predictions are off.
    random_state : int, None or "inherit", default="inherit"
        Seed of drawn values and of which features are hidden; None is the same every time.
        ``"inherit"`` is the selector's, or None without one.

    Examples
    --------
    >>> from misfeat import SubgroupSelector
    >>> from misfeat.datasets import make_cohorts
    >>> data = make_cohorts(n_rows=300, n_features=5, hide=0.2, random_state=0)
    >>> completer = IterativeCompleter(imputations=2, sweeps=2)
    >>> selector = SubgroupSelector(data.groups, size=2, completer=completer)
    >>> scores = selector.fit(data.columns, data.target).scores()
    >>> bool((scores["low"] <= scores["score"]).all())
    True
    """

    def __init__(
        self,
        *,
        imputations: int = 5,
        sweeps: int = 5,
        max_rows: int = 5000,
        rows_per_leaf: int = 5,
        with_target: bool = True,
        confidence: Confidence = INHERIT,
        rounds: int = 3,
        random_state: Seed = INHERIT,
    ) -> None:
        super().__init__(confidence=confidence, rounds=rounds, random_state=random_state)
        self.imputations = imputations
        self.sweeps = sweeps
        self.max_rows = max_rows
        self.rows_per_leaf = rows_per_leaf
        self.with_target = with_target

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        by_imputation = [
            imputed_scores(imputed, known.exact, size, known.n_jobs)
            for imputed in self._imputed(known)
        ]
        mean = [np.mean(scores, axis=0) for scores in zip(*by_imputation, strict=True)]
        return guess_of(known.exact, mean)

    def _imputed(self, known: Known) -> list[Cohorts]:
        """Cohorts with all values, an entry an imputation; imputations are side by side."""
        missing = known.exact.missing
        rows = cut_rows(known.rows_for("iterative"), missing, self.max_rows)
        settings = ChainSettings(self.sweeps, self.max_rows, self.rows_per_leaf, self.with_target)
        imputed: dict[int, Cohorts] = {}

        def impute(place: int, seed: np.random.SeedSequence) -> None:
            codes = chained_codes(rows, missing, settings, np.random.default_rng(seed))
            imputed[place] = all_recorded(rows, codes)

        seeds = np.random.SeedSequence(self._seed or 0).spawn(self.imputations)
        Work(known.n_jobs).run([partial(impute, place, seed) for place, seed in enumerate(seeds)])
        return [imputed[place] for place in range(self.imputations)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("imputations", "sweeps", "max_rows", "rows_per_leaf"):
            check_count(getattr(self, name), name)
