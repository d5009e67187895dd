"""From explained variance to the scale of a score, and how much one row says about it.

Second moments give the share of the target's variance that features explain. How much information
that is depends on how class probabilities vary over rows. Let them follow a Dirichlet distribution
with mean π, the class shares, and precision s: then a share ρ = 1 / (s + 1) of the variance is
explained, and with ψ the digamma function the information is, in nats,

    I(ρ) = H(π) - [ψ(s + 1) - Σ_i π_i ψ(s π_i + 1)].

For weak features this is the familiar (C - 1) ρ / 2 of C classes; for strong ones it ends at the
entropy H(π) where the Gaussian formula -½ log(1 - ρ) has no end. The same model says how much the
information of single rows varies, which is the sampling variance of a score times the rows. See
docs/explanation/population.md, step 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import digamma, polygamma

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WEAK = 1e-4
"""Below this explained share the limits for weak features hold to all digits that matter."""
GRID = 1000
"""Scores at which the variance of single rows is worked out."""
STRONGEST = 20.0
"""Additive scores (nats) above this one are not told apart."""


class Scale(Protocol):
    """How additive scores -½ log det(I - R) become scores of a measure."""

    unit: float

    def score(self, additive: Floats) -> Floats:
        """The scores of sets with these additive scores."""
        ...

    def row_variance(self, score: Floats) -> Floats:
        """The variance of what one row says about a score: n times its sampling variance."""
        ...


@dataclass(frozen=True, eq=False)
class InformationScale:
    """Information about classes with given shares.

    Examples
    --------
    >>> scale = InformationScale(np.array([0.5, 0.5]))
    >>> scale.score(np.array([-0.01, 0.01, 0.5, 9.0])).round(3)
    array([-0.01 ,  0.01 ,  0.403,  0.693])
    >>> scale.row_variance(np.array([0.01])).round(3)
    array([0.02])
    """

    shares: Floats  # (n_classes,): the share of every class; classes without rows are left out
    unit = 1.0

    @cached_property
    def _present(self) -> Floats:
        present: Floats = self.shares[self.shares > 0]
        return present

    def _precision(self, additive: Floats) -> tuple[Floats, Floats]:
        """The share of the variance that is explained, and the Dirichlet precision with it."""
        n_dimensions = max(len(self._present) - 1, 1)
        explained = -np.expm1(-2.0 * np.clip(additive, 0.0, STRONGEST) / n_dimensions)
        return explained, (1.0 - explained) / np.maximum(explained, WEAK)

    def score(self, additive: Floats) -> Floats:
        """Information in nats; additive scores below 0 stay as they are."""
        additive = np.asarray(additive, dtype=np.float64)
        if len(self._present) < 2:
            return np.zeros_like(additive)
        explained, precision = self._precision(additive)
        left = digamma(precision + 1.0)
        for share in self._present:
            left = left - share * digamma(precision * share + 1.0)
        entropy = -(self._present * np.log(self._present)).sum()
        found: Floats = np.where(explained > WEAK, entropy - left, additive)
        return found

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Scores from 0 to the entropy, and what single rows vary by at each."""
        additive = np.concatenate([[0.0], np.geomspace(WEAK, STRONGEST, GRID)])
        explained, precision = self._precision(additive)
        mean, square = np.zeros_like(additive), np.zeros_like(additive)
        for share in self._present:
            alpha = precision * share + 1.0
            gain = digamma(alpha) - digamma(precision + 1.0) - np.log(share)
            mean += share * gain
            square += share * (gain**2 + polygamma(1, alpha) - polygamma(1, precision + 1.0))
        score = np.maximum.accumulate(self.score(additive))
        variance = np.where(explained > WEAK, np.maximum(square - mean**2, 0.0), 2.0 * score)
        return score, variance

    def row_variance(self, score: Floats) -> Floats:
        """The variance of log p(y | x) / p(y) over rows; by interpolation."""
        score = np.maximum(np.asarray(score, dtype=np.float64), 0.0)
        if len(self._present) < 2:
            return np.zeros_like(score)
        found: Floats = np.interp(score, *self._grid)
        return found


@dataclass(frozen=True)
class CorrelationScale:
    """The squared multiple correlation with a numeric target: R² = 1 - exp(-2 A)."""

    unit = 2.0

    def score(self, additive: Floats) -> Floats:
        """R², or a little below 0 where less is explained than by chance."""
        found: Floats = -np.expm1(-2.0 * np.asarray(additive, dtype=np.float64))
        return found

    def row_variance(self, score: Floats) -> Floats:
        """4 R² (1 - R²)²."""
        within = np.clip(score, 0.0, 1.0)
        found: Floats = 4.0 * within * (1.0 - within) ** 2
        return found
