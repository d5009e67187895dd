"""What an unrecorded feature would be worth: from completed scores to expected gains.

A cohort's best recorded set of size m scores b, for certain. Were feature q recorded too, its best
set might hold q. The best such set S is predicted to score s, give or take, and the rise over b is
expected to be E[max(0, X - b)] with X normal around s, its deviation taken from the interval of S.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.model import SUPPORT
from misfeat.lattice import rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Worth:
    """What recording one feature would be worth to one subgroup.

    Attributes
    ----------
    subgroup, feature : str
        Who would record what.
    rank : int
        1 is the feature most worth collecting in the subgroup, per cost where there are costs.
    gain : float
        By how much the best score of the size is expected to rise.
    low, high : float
        The interval of the rise.
    best_set : tuple of str
        The set with the feature that is predicted to be best.
    joined : float
        By how much the best set that the subgroup has is predicted to rise if the feature joined it
        as one more; NaN where there is no such set, or there are too many (see `joins`).
    support : str
        What the prediction rests on.
    cost : float
        What recording the feature costs.
    before : float
        The score of the best set that the subgroup recorded, which the gain is counted from.
    """

    subgroup: str
    feature: str
    rank: int
    gain: float
    low: float
    high: float
    best_set: tuple[str, ...]
    joined: float
    support: str
    cost: float = 1.0
    before: float = 0.0

    @property
    def gain_per_cost(self) -> float:
        """The gain for every unit of cost."""
        return self.gain / self.cost


WORTH_COLUMNS = (
    "subgroup",
    "feature",
    "gain",
    "low",
    "high",
    "rank",
    "before",
    "best_set",
    "joined",
    "support",
    "cost",
    "gain_per_cost",
)


WORTH_SAYING = 0.01
"""A rise by less than this share of the best recorded score is not worth a sentence."""

SMALLEST_SCALE = 0.001
"""Of the highest possible score: gains are drawn on no finer scale than this."""

MOST_JOINED = 30_000
"""Scores of sets with one feature more that are predicted only to tell what joining would bring."""


def joins(missing: NDArray[np.bool_], size: int) -> bool:
    """Whether sets with one feature more than `size` are scored, too.

    Parameters
    ----------
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What each cohort never recorded.
    size : int
        Features in a set.

    Examples
    --------
    >>> joins(np.ones((4, 12), dtype=bool), 3), joins(np.ones((20, 30), dtype=bool), 3)
    (True, False)
    """
    n_cohorts, n_features = missing.shape
    return bool(size < n_features and comb(n_features, size + 1) * n_cohorts <= MOST_JOINED)


class Worths:
    """Finds what unrecorded features would be worth.

    Parameters
    ----------
    scores : CompletedScores
        Scores of all sets of one size.
    larger : CompletedScores or None
        Scores of all sets with one feature more, where there are such sets.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        What each cohort never recorded.
    features : sequence of str
        Names.
    confidence : float or None
        How often intervals hold the truth; None where they are certain bounds, which tell nothing
        about deviations.
    costs : mapping of str to float
        What recording a feature costs; 1 where it does not say.
    """

    def __init__(
        self,
        scores: CompletedScores,
        larger: CompletedScores | None,
        missing: NDArray[np.bool_],
        features: Sequence[str],
        confidence: float | None,
        costs: Mapping[str, float],
    ) -> None:
        self._scores, self._larger = scores, larger
        self._missing, self._features = missing, features
        self._confidence, self._costs = confidence, costs

    def of(self, cohort: int, name: str) -> list[Worth]:
        """The unrecorded features of a cohort, most worth collecting first."""
        ordered = sorted(self._found(cohort, name), key=lambda worth: -worth.gain_per_cost)
        return [replace(worth, rank=place) for place, worth in enumerate(ordered, start=1)]

    def _found(self, cohort: int, name: str) -> Iterator[Worth]:
        scores = self._scores
        n_lacking = self._missing[cohort][scores.subsets].sum(axis=1)
        recorded = np.flatnonzero(n_lacking == 0)
        best = float(scores.score[cohort, recorded].max(initial=0.0))
        own = int(recorded[np.argmax(scores.score[cohort, recorded])]) if len(recorded) else None
        for feature in np.flatnonzero(self._missing[cohort]).tolist():
            with_it = np.flatnonzero((n_lacking == 1) & (scores.subsets == feature).any(axis=1))
            if len(with_it) == 0:
                continue  # the cohort has too few other features
            place = int(with_it[np.argmax(scores.score[cohort, with_it])])
            ahead = float(scores.score[cohort, place]) - best
            gain = expected_rise(ahead, self._deviation(cohort, place))
            low, high = (float(bound[cohort, with_it].max()) for bound in (scores.low, scores.high))
            yield Worth(
                subgroup=name,
                feature=self._features[feature],
                rank=0,
                gain=gain,
                low=min(gain, max(0.0, low - best)),
                high=max(gain, high - best),
                best_set=tuple(self._features[f] for f in scores.subsets[place]),
                joined=self._joined(cohort, own, feature),
                support=SUPPORT[scores.support[cohort, place]],
                cost=float(self._costs.get(self._features[feature], 1.0)),
                before=best,
            )

    def _deviation(self, cohort: int, place: int) -> float:
        """The deviation that an interval stands for, by the side that bounds did not cut."""
        if self._confidence is None:
            return 0.0
        scores = self._scores
        score = scores.score[cohort, place]
        half = max(score - scores.low[cohort, place], scores.high[cohort, place] - score)
        return float(half / _NORMAL.inv_cdf((1 + self._confidence) / 2))

    def _joined(self, cohort: int, own: int | None, feature: int) -> float:
        if own is None or self._larger is None:
            return float("nan")
        joined = np.sort(np.append(self._scores.subsets[own], feature))
        larger = self._larger.score[cohort, int(rank(joined[None, :])[0])]
        return float(larger - self._scores.score[cohort, own])


def expected_rise(ahead: float, deviation: float) -> float:
    """E[max(0, X)] of a normal X.

    Parameters
    ----------
    ahead, deviation : float
        Its mean and standard deviation.

    Examples
    --------
    >>> expected_rise(0.2, 0.0), expected_rise(-0.2, 0.0)
    (0.2, 0.0)
    >>> round(expected_rise(0.0, 1.0), 4)
    0.3989
    """
    if deviation <= 0:
        return max(0.0, ahead)
    z = ahead / deviation
    return deviation * (_NORMAL.pdf(z) + z * _NORMAL.cdf(z))
