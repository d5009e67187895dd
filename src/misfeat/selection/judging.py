"""How answers compare with the truth, as far as it is known.

On the scale of the sample the truth is the score of the rows. On the scale of the population nobody
knows it, and a score of rows left out, of a few hundred at most, is mostly noise: the best of such
scores are not the best sets. So the truth of a set is a distribution: what all rows and all
recorded features of the table lead one to expect, with the deviation that this has. Rows left out
say two things about it:

- how much sampling costs. Sets that half of the rows make look best hold less than those that all
  rows make look best. What doubling the rows brings is about what is left to be gained beyond them:
  losses fall with the number of rows, between one over it and one over its root.
- whether deviations are right. Of the squared distance between the score above chance of one half
  and the estimate from the other, a part is noise of the former; the squared distance between both
  halves' scores is twice that. The rest over the squared deviation is 1 where deviations are right.
  It was below 1 for half of the rows where it was nearer 1 for all of them, so that its root is
  what squared deviations are multiplied by.

Tried on draws from six tables, and worse: scores of rows left out as the truth itself (a fifth of
the rows or half of them: shares from .4 to above 1); noise from the formula of its variance (up to
eight times too large where most cells are empty); predictions held against the cohort's own score
of the same rows, whose noise they share; five best sets out of the few that a cohort recorded,
where they are most of them; deviations as they are (intervals seem to hold by up to .07 less than
they do) or fully corrected (.04 more). Shrinking differences between sets by what halves say of
them gained nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from misfeat.metrics.rankings import captured_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.completion.model import ExactScores

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

LEAST_RATIO, MOST_RATIO = 0.1, 3.0
"""Squared errors over squared deviations are believed to lie between these."""
ROUNDING = 1e-9
"""Bounds hold what is outside by no more, in the unit of scores."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of the true scores of all sets of one size.

    Attributes
    ----------
    score, deviation : ndarray of shape (n_cohorts, n_sets)
        The expected score, and the standard deviation of the truth around it.
    tested : ndarray of bool of shape (n_cohorts, n_sets)
        The sets that a cohort's own rows say something about.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    kept : ndarray of shape (n_cohorts,)
        The share of the best sets' score that is left to sets chosen from so few rows.
    """

    score: Floats
    deviation: Floats
    tested: Flags
    ceiling: Floats
    kept: Floats


@dataclass(frozen=True)
class Figures:
    """How the answers for one cohort compare with the truth.

    What they are is said at `Selection.validate`. Where every score is exact, coverage is 1 and the
    error 0.
    """

    captured: float
    coverage: float
    error: float


def truth_of_sample(exact: ExactScores, size: int) -> Truth:
    """The scores of the rows as they are."""
    scores = exact.by_size[size]
    return Truth(
        score=scores,
        deviation=np.zeros_like(scores),
        tested=~np.isnan(scores),
        ceiling=exact.ceiling,
        kept=np.ones(len(scores)),
    )


def truth_of_population(
    exact: ExactScores,
    judged: CompletedScores,
    confidence: float,
    k: int,
    left_out: Sequence[tuple[ExactScores, CompletedScores]] = (),
) -> Truth:
    """What all rows lead one to expect.

    `exact` and `judged` are scores above chance and the estimates from them, `left_out` the same of
    either half of the rows, if there are halves.
    """
    tested = ~np.isnan(exact.by_size[judged.subsets.shape[1]])
    deviation = deviation_of(judged, confidence)
    kept = np.ones(len(tested))
    if left_out:
        deviation = deviation * ratio_of_errors(left_out, confidence) ** 0.25
        kept = np.array(
            [
                np.mean([captured_at(k, best, half.score[i]) for _, half in left_out])
                for i, best in enumerate(judged.score)
            ]
        )
    return Truth(judged.score, deviation, tested, exact.ceiling, kept)


def deviation_of(completed: CompletedScores, confidence: float) -> Floats:
    """The standard deviations that intervals were made from.

    One side may have been cut at what is possible.
    """
    reach = np.maximum(completed.high - completed.score, completed.score - completed.low)
    deviation: Floats = reach / ndtri((1.0 + confidence) / 2.0)
    return deviation


def ratio_of_errors(
    halves: Sequence[tuple[ExactScores, CompletedScores]], confidence: float
) -> float:
    """The squared errors of estimates over their squared deviations, by two halves of the rows.

    `halves` has scores above chance and estimates of each.
    """
    (first, of_first), (second, of_second) = halves
    size = of_first.subsets.shape[1]
    x, y = first.by_size[size], second.by_size[size]
    squares = (y - of_first.score) ** 2 + (x - of_second.score) ** 2 - (x - y) ** 2
    scale = deviation_of(of_first, confidence) ** 2 + deviation_of(of_second, confidence) ** 2
    both = ~np.isnan(x) & ~np.isnan(y)
    ratio = squares[both].sum() / max(scale[both].sum(), np.finfo(float).tiny)
    return float(np.clip(ratio, LEAST_RATIO, MOST_RATIO))


def figures_of(truth: Truth, completed: CompletedScores, cohort: int, k: int) -> Figures | None:
    """Compare what was answered for a cohort, with features hidden from it or not.

    Only sets that the cohort's own rows tell about are compared. They are fewer than all sets, so
    that fewer of them count as best, too: the same share. None where there is nothing to compare.
    """
    tested = truth.tested[cohort]
    if not tested.any():
        return None
    score, low, high, predicted = (
        getattr(completed, name)[cohort, tested] for name in ("score", "low", "high", "predicted")
    )
    true, deviation = truth.score[cohort, tested], truth.deviation[cohort, tested]
    k = max(1, round(k * tested.mean()))
    uncertain = predicted | (high > low)
    inside = chance_inside(low, high, true, deviation, truth.ceiling[cohort])[uncertain]
    squares = ((score - true) ** 2 + deviation**2)[uncertain]
    return Figures(
        captured=captured_at(k, true, score) * float(truth.kept[cohort]),
        coverage=float(inside.mean()) if uncertain.any() else 1.0,
        error=float(np.sqrt(squares.mean())) if uncertain.any() else 0.0,
    )


def chance_inside(
    low: Floats, high: Floats, mean: Floats, deviation: Floats, ceiling: float
) -> Floats:
    """How likely a score lies between two bounds; none is below 0 or above the ceiling.

    Examples
    --------
    >>> bounds = np.array([0.0, 0.1, 0.1]), np.array([0.3, 0.3, 0.3])
    >>> chance_inside(*bounds, np.full(3, 0.2), np.array([0.1, 0.1, 0.0]), 1.0).round(2)
    array([0.84, 0.68, 1.  ])
    """
    spread = np.maximum(deviation, np.finfo(float).tiny)
    below = np.where(low <= 0, 0.0, ndtr((low - ROUNDING - mean) / spread))
    above = np.where(high >= ceiling, 0.0, ndtr((mean - high - ROUNDING) / spread))
    inside: Floats = 1.0 - below - above
    return inside
