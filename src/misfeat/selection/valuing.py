"""What every single feature is worth to a subgroup: alone, joined to others, and its share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import rank
from misfeat.selection.collecting import SHARED_ERROR
from misfeat.selection.contrasts import Estimated
from misfeat.selection.shapley import mean_of_additions, mean_shares, parts_of, shapley_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection.contrasts import Contrasts

    Floats = NDArray[np.float64]
    Bounds = tuple[Floats, Floats, Floats]

NOT_KNOWN = Estimated(float("nan"), float("nan"), float("nan"))
NOTHING = Estimated(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class FeatureValue:
    """What one feature tells in one subgroup.

    Attributes
    ----------
    subgroup, feature : str
        Which feature, and where.
    alone, alone_low, alone_high : float
        Its score by itself, with its interval.
    adds, adds_low, adds_high : float
        What it adds to the best set of the other features, one feature smaller than the sets that
        were asked for; NaN where no such set holds all features to include.
    adds_to : tuple of str
        That set.
    share_of_best, share_of_best_low, share_of_best_high : float
        Its Shapley value in the best set of the subgroup; 0 where that set does not hold it.
    mean_share, mean_share_low, mean_share_high : float
        The mean of its Shapley value over all sets that hold it.
    in_best : float
        The share of the k best sets that hold it.
    source : {"recorded", "predicted"}
        Whether the subgroup's own rows took part in its score.
    """

    subgroup: str
    feature: str
    alone: float
    alone_low: float
    alone_high: float
    adds: float
    adds_low: float
    adds_high: float
    adds_to: tuple[str, ...]
    share_of_best: float
    share_of_best_low: float
    share_of_best_high: float
    mean_share: float
    mean_share_low: float
    mean_share_high: float
    in_best: float
    source: str


class FeatureValues:
    """Finds what single features are worth.

    `levels` are the scores of all sets of size 1, 2 and so on, `shown` those of the largest size
    that hold every feature to include. No feature adds less than `least`: 0, or minus infinity
    where larger sets may score lower.
    """

    def __init__(
        self,
        levels: Sequence[CompletedScores],
        shown: CompletedScores,
        features: Sequence[str],
        contrasts: Contrasts,
        least: float,
    ) -> None:
        self._levels, self._shown = levels, shown
        self._features, self._contrasts, self._least = features, contrasts, least

    def of(self, cohort: int, name: str, best: Sequence[tuple[str, ...]]) -> list[FeatureValue]:
        """The features of a cohort, those with the largest mean share first; `best` are its k best
        sets.
        """
        shares = self._shares_of_best(cohort, best[0])
        means = self._mean_shares(cohort)
        order = np.argsort([-mean.value for mean in means], kind="stable").tolist()
        found, single = [], self._levels[0]
        for feature in order:
            label, (to, adds) = self._features[feature], self._adds(cohort, feature)
            found.append(
                FeatureValue(
                    subgroup=name,
                    feature=label,
                    adds_to=to,
                    in_best=sum(label in one for one in best) / len(best),
                    source="predicted" if single.predicted[cohort, feature] else "recorded",
                    **self._alone(cohort, feature).named("alone"),
                    **adds.named("adds"),
                    **shares.get(label, NOTHING).named("share_of_best"),
                    **means[feature].named("mean_share"),
                )
            )
        return found

    def _alone(self, cohort: int, feature: int) -> Estimated:
        (alone,) = self._contrasts.of(cohort, [(feature,)], [[1.0]])
        return alone

    def _shares_of_best(self, cohort: int, best: tuple[str, ...]) -> dict[str, Estimated]:
        members = sorted(map(self._features.index, best))
        return dict(
            zip(
                (self._features[member] for member in members),
                shapley_values(self._contrasts, cohort, members, self._least),
                strict=True,
            )
        )

    def _adds(self, cohort: int, feature: int) -> tuple[tuple[str, ...], Estimated]:
        """The best set of others, and what a feature adds to it."""
        sets = self._shown.subsets
        with_it = sets[(sets == feature).any(axis=1)]
        if not len(with_it):
            return (), NOT_KNOWN
        size = sets.shape[1]
        others = with_it[with_it != feature].reshape(len(with_it), size - 1)
        place = 0
        if size > 1:
            place = int(np.argmax(self._levels[size - 2].score[cohort, rank(others)]))
        joined, part = (tuple(one[place].tolist()) for one in (with_it, others))
        found = self._contrasts.of(cohort, [joined, part], [[1.0, -1.0]], self._least)
        return tuple(self._features[member] for member in part), found[0]

    def _mean_shares(self, cohort: int) -> list[Estimated]:
        levels = self._levels
        subsets = [scores.subsets for scores in levels]
        value = mean_shares([scores.score[cohort] for scores in levels], subsets)
        if self._contrasts.confidence is None:
            low = mean_of_additions(levels, cohort, lambda own, part: own[1] - part[2])
            high = mean_of_additions(levels, cohort, lambda own, part: own[2] - part[1])
        else:
            low = value - mean_of_additions(levels, cohort, _reach_below)
            high = value + mean_of_additions(levels, cohort, _reach_above)
        low = np.minimum(np.maximum(low, self._least), value)
        high = np.maximum(high, value)
        return [Estimated(*map(float, one)) for one in zip(value, low, high, strict=True)]


def shapley_values(
    contrasts: Contrasts, cohort: int, members: Sequence[int], least: float
) -> list[Estimated]:
    """The Shapley values of the features of a set; they add up to its score."""
    return contrasts.of(cohort, parts_of(members), shapley_weights(members), least)


def _reach_below(own: Bounds, part: Bounds) -> Floats:
    """How far the interval of what a feature adds reaches down."""
    return _reach(own[0] - own[1], part[2] - part[0])


def _reach_above(own: Bounds, part: Bounds) -> Floats:
    """How far the interval of what a feature adds reaches up."""
    return _reach(own[2] - own[0], part[0] - part[1])


def _reach(own: Floats, part: Floats) -> Floats:
    reach: Floats = np.sqrt(own**2 + part**2 - 2 * SHARED_ERROR * own * part)
    return reach
