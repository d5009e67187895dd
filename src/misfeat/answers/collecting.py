"""What an unrecorded feature would be worth: from completed scores to expected gains.

A cohort's best recorded set of size m scores b. Were feature q recorded too, its best set might
hold q. The best such set S is predicted to score s, and the rise over b is expected to be
E[max(0, D)] with D normal around s - b. Its deviation comes from the intervals of both. They err
together, since they are of one cohort and mostly share features. `Unsettled` knows the pairs of
features that nobody recorded together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.answers.contrasts import SHARED_ERROR
from misfeat.answers.options import (
    check_costs,
    explainable_subgroups,
    feature_index,
    shown_scores,
)
from misfeat.completion.model import SINGLES, SUPPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Worth:
    """What recording one feature would be worth to one subgroup.

    Its attributes are the columns that `Selection.worth_collecting` explains. Probabilities are NaN
    where intervals are certain bounds. `joined` is the least that the feature adds to all but one
    of the features of the best recorded set, NaN where there is no such set.
    """

    subgroup: str
    feature: str
    gain: float
    low: float
    high: float
    probability: float
    probability_of_a_tenth: float
    clear: bool
    rank: int
    before: float
    best_set: tuple[str, ...]
    joined: float
    support: str
    unsettled: tuple[str, ...] = ()
    settled_by: str = ""
    cost: float = 1.0

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "subgroup", "feature", "gain", "low", "high", "probability", "probability_of_a_tenth",
        "clear", "rank", "before", "best_set", "joined", "support", "unsettled", "settled_by",
        "cost", "gain_per_cost",
    )  # fmt: skip

    @property
    def gain_per_cost(self) -> float:
        """The gain for every unit of cost."""
        return self.gain / self.cost


def feature_worths(
    selection: Selection,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, float] | None = None,
) -> list[Worth]:
    """What unrecorded features would be worth, best first (`Selection.worth_collecting`)."""
    scores = shown_scores(selection, size)
    for name in costs if isinstance(costs, Mapping) else ():
        feature_index(selection, name, "a feature with a cost")
    worths = Worths(
        scores,
        selection.set_scores.scored,
        selection.missing,
        selection.feature_names,
        selection.confidence,
        check_costs(costs),
        unsettled_pairs(selection),
    )
    return [
        worth
        for name in explainable_subgroups(selection, subgroup)
        for worth in worths.of(selection.cohorts.position(name), name)
    ]


def unsettled_pairs(selection: Selection) -> Unsettled:
    """The pairs of features that no subgroup recorded together."""
    rows = [cohort.size for cohort in selection.cohorts]
    return Unsettled(selection.missing, rows, selection.cohorts.names, selection.feature_names)


WORTH_SAYING = 0.01
"""A rise by less than this share of the best recorded score is not worth a sentence."""


SMALLEST_SCALE = 0.001
"""Of the highest possible score: gains are drawn on no finer scale than this."""


A_TENTH = 0.1


class Worths:
    """Finds what unrecorded features would be worth.

    `scored` gives the scores of sets of one size. Where
    `confidence` is None, intervals are certain bounds, which tell nothing about deviations. Costs
    are 1 where they do not say.
    """

    def __init__(
        self,
        scores: CompletedScores,
        scored: Callable[[NDArray[np.integer]], CompletedScores],
        missing: NDArray[np.bool_],
        features: Sequence[str],
        confidence: float | None,
        costs: Mapping[str, float],
        unsettled: Unsettled,
    ) -> None:
        self._scores, self._scored = scores, scored
        self._missing, self._features = missing, features
        self._confidence, self._costs = confidence, costs
        self._unsettled = unsettled

    def of(self, cohort: int, name: str) -> list[Worth]:
        """The unrecorded features of a cohort, most worth collecting first."""
        ordered = sorted(self._found(cohort, name), key=lambda worth: -worth.gain_per_cost)
        return [replace(worth, rank=place) for place, worth in enumerate(ordered, start=1)]

    def _found(self, cohort: int, name: str) -> Iterator[Worth]:
        scores = self._scores
        n_lacking = self._missing[cohort][scores.subsets].sum(axis=1)
        recorded = np.flatnonzero(n_lacking == 0)
        own = int(recorded[np.argmax(scores.score[cohort, recorded])]) if len(recorded) else None
        for feature in np.flatnonzero(self._missing[cohort]).tolist():
            with_it = np.flatnonzero((n_lacking == 1) & (scores.subsets == feature).any(axis=1))
            if len(with_it):  # else the cohort has too few other features
                place = int(with_it[np.argmax(scores.score[cohort, with_it])])
                rise = self._rise(cohort, own, with_it)
                yield self._worth(cohort, name, feature, own, place, rise)

    def _worth(
        self, cohort: int, name: str, feature: int, own: int | None, place: int, rise: _Rise
    ) -> Worth:
        scores, support = self._scores, int(self._scores.support[cohort, place])
        members = scores.subsets[place]
        pair, where = self._unsettled.in_set(members) if support == SINGLES else ((), "")
        return Worth(
            subgroup=name,
            feature=self._features[feature],
            gain=rise.expected,
            low=rise.low,
            high=rise.high,
            probability=rise.probability,
            probability_of_a_tenth=rise.probability_of_a_tenth,
            clear=rise.clear,
            rank=0,
            before=0.0 if own is None else float(scores.score[cohort, own]),
            best_set=tuple(self._features[f] for f in members),
            joined=float("nan") if own is None else self._joined(cohort, own, feature),
            support=SUPPORT[support],
            unsettled=pair,
            settled_by=where,
            cost=float(self._costs.get(self._features[feature], 1.0)),
        )

    def _rise(self, cohort: int, own: int | None, with_it: NDArray[np.integer]) -> _Rise:
        """The rise of the best score, were the sets with a feature recorded, too."""
        scores, confidence = self._scores, self._confidence
        before = 0.0 if own is None else float(scores.score[cohort, own])
        ahead = scores.score[cohort, with_it] - before
        if confidence is None:
            return _certain_rise(
                float(ahead.max()),
                float(scores.low[cohort, with_it].max()) - before,
                float(scores.high[cohort, with_it].max()) - before,
            )
        sure = _NORMAL.inv_cdf((1 + confidence) / 2)
        of_sets = self._half_width(cohort, with_it) / sure
        of_own = 0.0 if own is None else float(self._half_width(cohort, own)) / sure
        deviation = np.sqrt(of_sets**2 + of_own**2 - 2 * SHARED_ERROR * of_sets * of_own)
        rise = _likely_rise(ahead, deviation, int(np.argmax(ahead)), before, confidence)
        least = 0.0 if own is None else float(scores.low[cohort, own])
        most = max(rise.expected, float(scores.high[cohort, with_it].max()) - least)
        return replace(rise, high=min(rise.high, most))

    def _half_width(self, cohort: int, places: NDArray[np.integer] | int) -> Floats:
        """Half of an interval, by the side that bounds did not cut."""
        scores = self._scores
        score = scores.score[cohort, places]
        below, above = score - scores.low[cohort, places], scores.high[cohort, places] - score
        half: Floats = np.maximum(below, above)
        return half

    def _joined(self, cohort: int, own: int, feature: int) -> float:
        members = self._scores.subsets[own]
        parts = [np.delete(members, one) for one in range(len(members))]
        larger = np.array([np.sort(np.append(part, feature)) for part in parts])
        added = self._scored(larger).score[cohort]
        if len(members) > 1:
            added = added - self._scored(np.array(parts)).score[cohort]
        return max(0.0, float(added.min()))


@dataclass(frozen=True)
class _Rise:
    expected: float
    low: float
    high: float
    probability: float
    probability_of_a_tenth: float
    clear: bool


def _certain_rise(ahead: float, low: float, high: float) -> _Rise:
    """What bounds that are certain say: nothing of how likely a rise is."""
    gain, unknown = max(0.0, ahead), float("nan")
    return _Rise(gain, min(gain, max(0.0, low)), max(gain, high), unknown, unknown, low > 0)


def _likely_rise(
    ahead: Floats, deviation: Floats, best: int, before: float, confidence: float
) -> _Rise:
    sure = _NORMAL.inv_cdf((1 + confidence) / 2)
    gain = expected_rise(float(ahead[best]), float(deviation[best]))
    probability = _exceeds(float(ahead[best]), float(deviation[best]))
    return _Rise(
        expected=gain,
        low=min(gain, max(0.0, float((ahead - sure * deviation).max()))),
        high=max(gain, float((ahead + sure * deviation).max())),
        probability=probability,
        probability_of_a_tenth=_exceeds(
            float(ahead[best]) - A_TENTH * before, float(deviation[best])
        ),
        clear=probability >= confidence,
    )


def _exceeds(ahead: float, deviation: float) -> float:
    """How likely a normal number is above 0."""
    if deviation <= 0:
        return float(ahead > 0)
    return _NORMAL.cdf(ahead / deviation)


def expected_rise(ahead: float, deviation: float) -> float:
    """E[max(0, X)] of a normal X, from its mean and standard deviation."""
    if deviation <= 0:
        return max(0.0, ahead)
    z = ahead / deviation
    return deviation * (_NORMAL.pdf(z) + z * _NORMAL.cdf(z))


class Unsettled:
    """Knows which pairs of features nobody recorded together.

    How two such features interact is not in the table, whatever is done with it. Where one subgroup
    records both, it is known for all; a subgroup that recorded one of them already needs to record
    the other only, and many rows settle more than few.
    """

    def __init__(
        self,
        missing: NDArray[np.bool_],
        rows: ArrayLike,
        names: Sequence[str],
        features: Sequence[str],
    ) -> None:
        self._recorded = ~missing
        self._rows = np.asarray(rows)
        self._names, self._features = names, features

    def in_set(self, members: Sequence[int] | NDArray[np.integer]) -> tuple[tuple[str, ...], str]:
        """The first such pair of a set, and the subgroup that could settle most; else nothing."""
        for a, b in combinations(members, 2):
            one, other = self._recorded[:, a], self._recorded[:, b]
            if not (one & other).any():
                nearest = np.lexsort((self._rows, one.astype(int) + other.astype(int)))[-1]
                return (self._features[a], self._features[b]), self._names[nearest]
        return (), ""
