"""Scores of populations: every cohort's own score, pulled towards what the pool says.

Random effects, as in a meta-analysis. The score above chance of set s in cohort j is

    x[j,s] = a[j] m[s] (1 + e[j,s]) + noise,

m[s] the information of the pool, a[j] the strength of the cohort (its entropy, and how telling
features are in it), e of variance `spread` between cohorts, and noise of the sampling variance
v[j,s]. Strengths and spread come from all sets of one size by weighted least squares. The posterior
mean is x - B (x - a m) with B = v / (v + spread (a m)²).

That is for information, whose differences between cohorts grow with it. Another measure may say
otherwise (`variance.Variation`): what it gives stands for (a m)² then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from misfeat.population.variance import OF_INFORMATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.population.variance import Variation

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

ROUNDS = 8
"""Rounds of weighted least squares for strengths and spread."""
LEAST_STRENGTH = 0.02
LEAST_POOLED = 1e-9
"""The pool tells at least so much, in nats, about any set."""
TINY = 1e-14
"""Keeps divisions by variances defined."""
NOTHING = 1e-300
"""Keeps divisions by sums of squares defined."""
FEW_COHORTS = 3
"""Up to so many cohorts tell little about how much cohorts differ."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores of all sets of one size in all cohorts, and how much they may be trusted.

    Attributes
    ----------
    scores : ndarray of shape (n_cohorts, n_sets)
        Scores above chance: of a cohort's own rows, or predicted; NaN where there is none.
    null : ndarray of shape (n_cohorts, n_sets)
        The sampling variance that a score of 0 has (`variance.null_variance`).
    n_rows : ndarray of shape (n_cohorts,)
        Rows of each cohort.
    predicted : ndarray of bool of shape (n_cohorts, n_sets)
        Which scores are not of the cohort's own rows.
    pooled : ndarray of shape (n_sets,) or (n_cohorts, n_sets)
        The score of the pool (`pool.PooledSets.information`), or of what each cohort is to be
        compared with; NaN where no cohort has a row.
    whole : ndarray of shape (n_cohorts,), default=None
        What there is to tell about the target in each cohort: its entropy, or for R² 1, 0 where it
        never varies. None: the same in all.
    variation : Variation, default=OF_INFORMATION
        How scores of the measure vary between samples and between cohorts.
    least_spread : float, default=0.0
        Cohorts differ at least so much, as something else than their scores says.
    lacking : ndarray of shape (n_cohorts, n_sets), default=None
        The share of each set's features that the cohort did not record. None: it does not matter.
    carried : ndarray of shape (n_cohorts, n_sets), default=None
        How far a predicted score hangs on what other cohorts recorded, between 0 and 1: the rest is
        as sure as a recorded one. None: altogether.
    pooled_variance : ndarray of shape (n_cohorts, n_sets), default=None
        How sure it is what each cohort is compared with. None: as sure as the pool.
    elsewhere : float, default=0.0
        The spread that predictions have because they are carried over from other regions, for sets
        of which a cohort recorded nothing.
    mixed : ndarray of shape (n_cohorts,), default=None
        The spread that scores have because cohorts are themselves made of parts that differ. None:
        none.
    regions : InRegions, default=None
        What is known of the regions that cohorts lie in. None: they lie in none.
    most_spread : float, default=inf
        Cohorts differ at most so much, as something else than their scores says.
    noisy : ndarray of bool of shape (n_cohorts,), default=None
        Which cohorts' counts were given noise: what is wrong with their scores is much the same for
        all sets, and in part at all cohorts, where it does not cancel out. None: no cohort's.
    coarser : ndarray of shape (n_cohorts, 1) or float, default=1.0
        How many times as large `null` is because counts were rounded. The pool's tables are drawn
        towards those of smaller sets all the more, so that its root is left in the pool.
    """

    scores: Floats
    null: Floats
    n_rows: Floats
    predicted: Flags
    pooled: Floats
    whole: Floats | None = None
    variation: Variation = OF_INFORMATION
    least_spread: float = 0.0
    lacking: Floats | None = None
    carried: Floats | None = None
    pooled_variance: Floats | None = None
    elsewhere: float = 0.0
    mixed: Floats | None = None
    regions: InRegions | None = None
    most_spread: float = np.inf
    noisy: Flags | None = None
    coarser: Floats | float = 1.0

    @property
    def n_cohorts(self) -> int:
        """How many cohorts there are."""
        return len(self.scores)

    @property
    def usable(self) -> Flags:
        """Where there is a score to compare with the pool."""
        usable: Flags = np.isfinite(self.scores) & np.isfinite(self.pooled)
        return usable

    @property
    def is_noisy(self) -> Floats:
        """1 for `noisy` cohorts, 0 for others; of shape (n_cohorts, 1)."""
        noisy = np.zeros(self.n_cohorts) if self.noisy is None else self.noisy.astype(np.float64)
        return noisy[:, None]

    @property
    def unseen(self) -> Floats:
        """How far each score hangs on other cohorts: 0 for one of the cohort's own rows."""
        carried = 1.0 if self.carried is None else self.carried
        unseen: Floats = np.where(self.usable & ~self.predicted, 0.0, carried)
        return unseen

    @property
    def from_elsewhere(self) -> Floats | float:
        """The spread of every score that comes from what other regions recorded."""
        return 0.0 if self.lacking is None else self.elsewhere * self.lacking**2

    def variance_at(self, scores: Floats) -> Floats:
        """The variance of scores about those of the population, were these the population's."""
        variance = self.variation.sampling(scores, self.null, self.n_rows)
        if self.mixed is not None:
            variance = variance + self.mixed[:, None] * self.between(scores)
        return variance

    def left_in_pool(self, variance: Floats) -> Floats:
        """What of the sampling variance of a score its pool has, times the cohorts of the pool."""
        chance = self.variation.chance_in_pool / np.sqrt(self.coarser)
        return variance - (1.0 - chance) * self.null

    def between(self, expected: Floats) -> Floats:
        """The variance between cohorts about what is expected, for a spread of 1."""
        return self.variation.between(expected)


class InRegions(NamedTuple):
    """What is known of regions, and which of them each cohort lies in.

    Attributes
    ----------
    evidence : Evidence
        Of all sets of one size, with regions in place of cohorts.
    parents : ndarray of int of shape (n_cohorts,)
        The region of each cohort; -1 for those of none.
    """

    evidence: Evidence
    parents: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known of the populations' scores of the sets of one size.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_cohorts, n_sets)
        Posterior means, and the variances that intervals are made from; NaN where nothing is known.
    expected : ndarray of shape (n_cohorts, n_sets)
        What the pool leads one to expect in each cohort.
    shrinkage : ndarray of shape (n_cohorts, n_sets)
        How far scores were pulled towards that: 0 leaves them alone, 1 replaces them.
    strength : ndarray of shape (n_cohorts,)
        How the scores of each cohort compare with the pool's.
    spread : float
        The variance between cohorts over that of a spread of 1: for information, the square of
        what is expected.
    offset : float
        What cohorts tell on top of the pool because they differ, in nats.
    largest_spread : float
        What the spread may be at most, by what is seen of it.
    """

    mean: Floats
    variance: Floats
    expected: Floats
    shrinkage: Floats
    strength: Floats
    spread: float
    offset: float = 0.0
    largest_spread: float = np.inf


def known_pool(evidence: Evidence) -> Floats:
    """The information of the pool, above 0; unknown sets count as least telling."""
    pooled: Floats = np.fmax(evidence.pooled, LEAST_POOLED)
    return pooled


def strength_of(weight: Floats, m: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Strengths by weighted least squares through the origin, and the sums of their weights.

    Cohorts without any weight have strength 1.
    """
    weights = (weight * m**2).sum(axis=1)
    slope = (weight * m * x).sum(axis=1) / np.where(weights > 0, weights, 1.0)
    return np.where(weights > 0, np.maximum(slope, LEAST_STRENGTH), 1.0), weights


def alone(evidence: Evidence) -> Posterior:
    """One cohort: the information of its own shrunken tables, and the variance of its scores."""
    mean = evidence.pooled[None, :]
    return Posterior(
        mean=mean,
        variance=evidence.variance_at(mean),
        expected=mean,
        shrinkage=np.ones_like(mean),
        strength=np.ones(1),
        spread=0.0,
    )
