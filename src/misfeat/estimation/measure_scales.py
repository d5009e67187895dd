"""From additive scores to the scale of a measure, information or R².

Step 5 of docs/explanation/population.md, with its names: I(ρ) and V.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from misfeat.runtime.array_types import Floats

TINY = 1e-300
WEAK = 1e-4  # below this explained share the limits for weak features hold
GRID = 1000  # scores at which the variance of single rows is worked out
STRONGEST = 20.0  # additive scores (nats) above this one are not distinguished


@dataclass(frozen=True, eq=False)
class InformationScale:
    """Information about classes with given shares (step 5)."""

    shares: Floats  # (..., n_classes): the share of every class, 0 of those without rows
    unit = 1.0

    @cached_property
    def _n_classes(self) -> Floats:
        """How many classes have rows, against scores of sets."""
        return np.asarray((self.shares > 0).sum(axis=-1, keepdims=True), dtype=np.float64)

    def _precision(self, additive: Floats) -> tuple[Floats, Floats]:
        """The share of the variance that is explained, and the Dirichlet precision with it."""
        n_dimensions = np.maximum(self._n_classes - 1.0, 1.0)
        explained = -np.expm1(-2.0 * np.clip(additive, 0.0, STRONGEST) / n_dimensions)
        return explained, (1.0 - explained) / np.maximum(explained, WEAK)

    def score(self, additive: Floats) -> Floats:
        """Information in nats; additive scores below 0 stay as they are."""
        from scipy.special import digamma

        additive = np.asarray(additive, dtype=np.float64)
        explained, precision = self._precision(additive)
        gained = -digamma(precision + 1.0)
        for share in np.moveaxis(self.shares, -1, 0)[..., None]:
            gained += share * (digamma(share * precision + 1.0) - np.log(np.maximum(share, TINY)))
        found = np.where(explained > WEAK, gained, additive)
        return np.where(self._n_classes > 1, found, 0.0)

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Scores from 0 to the entropy, and what single rows vary by at each."""
        from scipy.special import digamma

        additive = np.concatenate([[0.0], np.geomspace(WEAK, STRONGEST, GRID)])
        explained, precision = self._precision(additive)
        whole = precision + 1.0
        mean, square = np.zeros_like(whole), np.zeros_like(whole)
        for share in np.moveaxis(self.shares, -1, 0)[..., None]:
            own = share * precision + 1.0
            gain = digamma(own) - digamma(whole) - np.log(np.maximum(share, TINY))
            mean += share * gain
            square += share * (gain**2 + trigamma(own) - trigamma(whole))
        score = np.maximum.accumulate(self.score(additive), axis=-1)
        variance = np.where(explained > WEAK, np.maximum(square - mean**2, 0.0), 2.0 * score)
        return score, np.where(self._n_classes > 1, variance, 0.0)

    def row_variance(self, score: Floats) -> Floats:
        """The variance of log p(y | x) / p(y) over rows; by interpolation."""
        score = np.maximum(np.asarray(score, dtype=np.float64), 0.0)
        found, (scores, variances) = np.empty_like(score), self._grid
        for one in np.ndindex(self.shares.shape[:-1]):
            found[one] = np.interp(score[one], scores[one], variances[one])
        return found


def trigamma(x: Floats) -> Floats:
    """The derivative of digamma for x of at least 1, by its asymptotic series at x + 8."""
    found = sum(1.0 / (x + k) ** 2 for k in range(8))
    z = 1.0 / (x + 8.0)
    square, series = z * z, np.zeros_like(z)
    for bernoulli in (7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        series = (series + bernoulli) * square
    return np.asarray(found + z * (1.0 + z * 0.5 + series))


@dataclass(frozen=True)
class CorrelationScale:
    """The squared multiple correlation with a numeric target: R² = 1 - exp(-2 A)."""

    unit = 2.0

    def score(self, additive: Floats) -> Floats:
        """R², or a little below 0 where less is explained than by chance."""
        return -np.expm1(-2.0 * np.asarray(additive, dtype=np.float64))

    def row_variance(self, score: Floats) -> Floats:
        """4 R² (1 - R²)²."""
        within = np.clip(score, 0.0, 1.0)
        return 4.0 * within * (1.0 - within) ** 2


Scale = InformationScale | CorrelationScale  # how additive scores become scores of a measure
