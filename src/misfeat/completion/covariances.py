"""R² of sets with unrecorded features, from covariances that other cohorts recorded.

`misfeat.completion.correlations` completes the correlations of every cohort, which keeps its own.
From these follows R² of every set in the population. In n rows, k features of which p others do not
tell explain k / (n - 1 - p) of what is left by chance, on the mean; predictions hold that, so that
they compare with scores of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.base import BaseCompleter
from misfeat.completion.correlations import (
    SeenCorrelations,
    completed_correlations,
    pooled_correlations,
)
from misfeat.completion.model import Guess
from misfeat.information.correlation import adjusted_correlation, squared_correlation
from misfeat.lattice import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import Known

    Floats = NDArray[np.float64]


class CovarianceCompleter(BaseCompleter):
    """Predict R² from covariances carried over and fitted to those of the subgroup.

    For ``measure="r2"``. Correlations that a subgroup did not record are taken from the subgroups
    that did, through the features that both recorded. A feature that adds nothing to a set
    elsewhere is predicted to add nothing to it here.

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

    Examples
    --------
    Site q did not record b, a noisy copy of a that tells next to nothing beside it.

    >>> from misfeat import SubgroupSelector
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=1000)
    >>> b, y = a + 0.3 * rng.normal(size=1000), a + rng.normal(size=1000)
    >>> site = np.repeat(["p", "q"], 500)
    >>> table = {"a": a, "b": np.where(site == "q", np.nan, b), "y": y, "site": site}
    >>> selector = SubgroupSelector("site", size=2, measure="r2", completer="covariances")
    >>> selector = selector.fit(table, "y")
    >>> [round(selector.score_of("site=q", features), 2) for features in (["a"], ["a", "b"])]
    [0.42, 0.42]
    """

    def guess(self, known: Known, size: int) -> Guess:
        """Guess the scores of all sizes up to one."""
        exact = known.exact
        model = CarriedCorrelations.of(known)
        by_size, deviation = [exact.by_size[0]], np.zeros(0)
        for m in range(1, size + 1):
            subsets = level(exact.missing.shape[1], m)
            guessed = np.where(np.isnan(exact.by_size[m]), 0.0, exact.by_size[m])
            deviation = np.zeros_like(guessed)
            for cohort, wanted in enumerate(np.isnan(exact.by_size[m])):
                told = model.predicted(cohort, subsets[wanted])
                guessed[cohort, wanted] = told.above_chance if exact.above_chance else told.in_rows
                deviation[cohort, wanted] = told.deviation
            by_size.append(guessed)
        return Guess(by_size, deviation)


class CarriedCorrelations:
    """Correlations of every cohort, completed by those of others, and R² of sets in them."""

    def __init__(self, own: SeenCorrelations) -> None:
        self.own = own

    @classmethod
    def of(cls, known: Known) -> CarriedCorrelations:
        """Of the sums that are known; of hidden features nothing is read."""
        return cls(SeenCorrelations.of(known.sums_for("covariances"), known.exact.missing))

    @cached_property
    def pooled(self) -> Floats:
        """Correlations that all cohorts share, the target last."""
        return pooled_correlations(self.own)

    @cached_property
    def completed(self) -> Floats:
        """Covariances of every cohort, the target last, up to the scale of unrecorded features."""
        n_cohorts = len(self.own.n_rows)
        return np.array(
            [completed_correlations(self.own, self.pooled, cohort) for cohort in range(n_cohorts)]
        )

    def predicted(self, cohort: int, subsets: NDArray[np.integer]) -> PredictedScores:
        """R² of sets in one cohort."""
        products, n_rows = self.completed[cohort], int(self.own.n_rows[cohort])
        missing, varies = self.own.missing[cohort], self.own.seen[cohort, -1]
        has = np.append(~missing, True)
        own_products = np.where(has[:, None] & has[None, :], products, 0.0)
        return PredictedScores(
            whole=squared_correlation(products, subsets),
            part=squared_correlation(own_products, subsets),
            part_above_chance=adjusted_correlation(own_products, subsets, n_rows),
            n_lacking=missing[subsets].sum(axis=1) * varies,
            n_rows=n_rows,
        )


@dataclass(frozen=True, eq=False)
class PredictedScores:
    """R² of sets of one cohort, of which it recorded a part.

    Attributes
    ----------
    whole, part : ndarray of shape (n_subsets,)
        R² of sets and of their recorded parts by the completed correlations: a score of rows as far
        as features were recorded, of a population as to the others.
    part_above_chance : ndarray of shape (n_subsets,)
        Adjusted R² of the recorded parts.
    n_lacking : ndarray of int of shape (n_subsets,)
        Unrecorded members that may explain something; none where the target never varies.
    n_rows : int
        Rows of the cohort.
    """

    whole: Floats
    part: Floats
    part_above_chance: Floats
    n_lacking: NDArray[np.integer]
    n_rows: int

    @property
    def in_rows(self) -> Floats:
        """What to expect of the rows, had the cohort recorded the sets."""
        by_chance = self.n_lacking * self._adjustment / max(self.n_rows - 1, 1)
        return 1.0 - (1.0 - self.whole) * np.maximum(1.0 - by_chance, 0.0)

    @property
    def above_chance(self) -> Floats:
        """What to expect of the population."""
        return 1.0 - (1.0 - self.whole) * self._adjustment

    @property
    def deviation(self) -> Floats:
        """How far sampling alone takes scores of rows from what is expected; 0 where recorded."""
        left, gain, n_rows = 1.0 - self.part, self._gain, max(self.n_rows, 1)
        variance = 4.0 * gain * (1.0 - gain) ** 2 / n_rows + 2.0 * self.n_lacking / n_rows**2
        return left * np.sqrt(np.where(self.n_lacking > 0, np.maximum(variance, 0.0), 0.0))

    @property
    def carried(self) -> Floats:
        """How far R² hangs on unrecorded features: their share of its variance between cohorts.

        Where correlations differ, R² of x varies as 4 x (1 - x)², and what unrecorded features make
        of the 1 - x₀ that the recorded part leaves as 4 g (1 - g)² (1 - x₀)²; the share is g / x.
        """
        whole = self.whole
        share = np.divide(self._gain, whole, out=np.ones_like(whole), where=whole > 0)
        return np.clip(share, 0.0, 1.0)

    @property
    def _gain(self) -> Floats:
        """The share of what the recorded part leaves that unrecorded features explain."""
        left = 1.0 - self.part
        gain = np.divide(self.whole - self.part, left, out=np.zeros_like(left), where=left > 0)
        return np.clip(gain, 0.0, 1.0)

    @property
    def _adjustment(self) -> Floats:
        """By what adjusted R² multiplies what the recorded part leaves unexplained."""
        left = 1.0 - self.part
        adjusted = 1.0 - self.part_above_chance
        return np.divide(adjusted, left, out=np.ones_like(left), where=left > 0)
