"""What an unrecorded feature would be worth: from completed scores to expected gains.

A cohort's best recorded set of size m scores b. Were feature q recorded too, its best set might
hold q. The best such set S is predicted to score s, and the rise over b is expected to be
E[max(0, D)] with D normal around s - b. Its deviation comes from the intervals of both. They err
together, since they are of one cohort and mostly share features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.answers.options import check_costs, explainable_subgroups, feature_index, shown_scores
from misfeat.answers.set_contrasts import SHARED_ERROR
from misfeat.completion.completed_scores import SINGLES, SUPPORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]

_NORMAL = NormalDist()
WORTH_SAYING = 0.01  # a rise by a smaller share of the best recorded score needs no sentence
SMALLEST_SCALE = 0.001  # of the highest possible score: gains are drawn on no finer scale
A_TENTH = 0.1


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
    gain_per_cost: float = float("nan")


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
    costs = check_costs(costs)
    features, scored = selection.feature_names, selection.set_scores.scored
    records: list[Worth] = []
    for name in explainable_subgroups(selection, subgroup):
        cohort = selection.cohorts.position(name)
        missing = selection.missing[cohort]
        n_lacking = missing[scores.subsets].sum(axis=1)
        recorded = np.flatnonzero(n_lacking == 0)
        own = int(recorded[np.argmax(scores.score[cohort, recorded])]) if len(recorded) else None
        worths: list[dict[str, Any]] = []
        for feature in np.flatnonzero(missing).tolist():
            with_it = np.flatnonzero((n_lacking == 1) & (scores.subsets == feature).any(axis=1))
            if not len(with_it):  # the cohort has too few other features
                continue
            best = int(with_it[np.argmax(scores.score[cohort, with_it])])
            support, members = int(scores.support[cohort, best]), scores.subsets[best]
            pair, where = unsettled_pair(selection, members) if support == SINGLES else ((), "")
            joined = float("nan")
            if own is not None:
                recorded_set = scores.subsets[own]
                parts = [np.delete(recorded_set, index) for index in range(len(recorded_set))]
                larger = np.array([np.sort(np.append(part, feature)) for part in parts])
                added = scored(larger).score[cohort]
                if len(recorded_set) > 1:
                    added = added - scored(np.array(parts)).score[cohort]
                joined = max(0.0, float(added.min()))
            rise = _rise(scores, cohort, own, with_it, selection.confidence)
            cost = float(costs.get(features[feature], 1.0))
            worths.append(
                {
                    "feature": features[feature],
                    "before": 0.0 if own is None else float(scores.score[cohort, own]),
                    "best_set": tuple(features[f] for f in members),
                    "joined": joined,
                    "support": SUPPORT[support],
                    "unsettled": pair,
                    "settled_by": where,
                    "cost": cost,
                    "gain_per_cost": rise["gain"] / cost,
                    **rise,
                }
            )
        worths.sort(key=lambda worth: -worth["gain_per_cost"])
        records += [Worth(name, rank=rank, **worth) for rank, worth in enumerate(worths, start=1)]
    return records


def unsettled_pair(
    selection: Selection, members: Sequence[int] | NDArray[np.integer]
) -> tuple[tuple[str, ...], str]:
    """The first pair of a set that no subgroup recorded together; else nothing.

    And the subgroup that could settle most: one that records both settles it for all.
    """
    names, cohorts = selection.feature_names, selection.cohorts
    for a, b in combinations(members, 2):
        one, other = ~selection.missing[:, a], ~selection.missing[:, b]
        if not (one & other).any():
            rows = [cohort.size for cohort in cohorts]
            nearest = np.lexsort((rows, one.astype(int) + other.astype(int)))[-1]
            return (names[a], names[b]), cohorts.names[nearest]
    return (), ""


def _rise(
    scores: CompletedScores,
    cohort: int,
    own: int | None,
    with_it: NDArray[np.integer],
    confidence: float | None,
) -> dict[str, Any]:
    """The rise of the best score over that of `own`, were the sets with a feature recorded, too.

    Bounds that are certain (confidence is None) say nothing of how likely a rise is. Names are
    those that `Worth` has for the parts.
    """
    before = 0.0 if own is None else float(scores.score[cohort, own])
    ahead = scores.score[cohort, with_it] - before
    highest = float(scores.high[cohort, with_it].max())
    if confidence is None:
        low, gain = float(scores.low[cohort, with_it].max()) - before, max(0.0, float(ahead.max()))
        unknown = dict.fromkeys(("probability", "probability_of_a_tenth"), float("nan"))
        bounds = {"low": min(gain, max(0.0, low)), "high": max(gain, highest - before)}
        return {"gain": gain, "clear": low > 0, **bounds, **unknown}
    sure = _NORMAL.inv_cdf((1 + confidence) / 2)

    def deviations(indices: NDArray[np.integer] | int) -> Floats:
        """Of scores, by the side of their intervals that bounds did not cut."""
        score = scores.score[cohort, indices]
        below, above = score - scores.low[cohort, indices], scores.high[cohort, indices] - score
        half: Floats = np.maximum(below, above)
        return half / sure

    def exceeds(ahead: float) -> float:
        """How likely a normal number is above 0."""
        return _NORMAL.cdf(ahead / error) if error > 0 else float(ahead > 0)

    of_sets, of_own = deviations(with_it), 0.0 if own is None else float(deviations(own))
    deviation = np.sqrt(of_sets**2 + of_own**2 - 2 * SHARED_ERROR * of_sets * of_own)
    best = int(np.argmax(ahead))
    mean, error = float(ahead[best]), float(deviation[best])
    probability = exceeds(mean)
    gain = max(0.0, mean)
    if error > 0:  # E[max(0, X)] of a normal X
        gain = error * (_NORMAL.pdf(mean / error) + mean / error * probability)
    high = max(gain, float((ahead + sure * deviation).max()))
    least = 0.0 if own is None else float(scores.low[cohort, own])
    return {
        "gain": gain,
        "low": min(gain, max(0.0, float((ahead - sure * deviation).max()))),
        "high": min(high, max(gain, highest - least)),
        "probability": probability,
        "probability_of_a_tenth": exceeds(mean - A_TENTH * before),
        "clear": probability >= confidence,
    }
