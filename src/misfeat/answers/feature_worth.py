"""What each unrecorded feature would be worth to a subgroup, alone (`recording_gains`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from misfeat.answers.options import check_costs, explainable_subgroups, feature_index
from misfeat.answers.recording_gains import NOTHING, RecordingGains
from misfeat.completion.completed_scores import SUPPORT

if TYPE_CHECKING:
    from misfeat.selection import Selection

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
    for name in costs if isinstance(costs, Mapping) else ():
        feature_index(selection, name, "a feature with a cost")
    costs, confidence = check_costs(costs), selection.confidence
    names = selection.feature_names
    records: list[Worth] = []
    for name in explainable_subgroups(selection, subgroup):
        gains = RecordingGains(selection, name, size)
        own = gains.best_set(NOTHING)
        before = gains.score(own)
        worths: list[Worth] = []
        offers = gains.gains(NOTHING, [frozenset([feature]) for feature in gains.considered])
        for (feature,), (gain, index) in offers.items():
            pair, where = gains.unsettled(index)
            low, high = gains.bounds(gain, own, index)
            rises, cost = gain.exceeds(0.0), float(costs.get(names[feature], 1.0))
            worths.append(
                Worth(
                    subgroup=name,
                    feature=names[feature],
                    gain=gain.expected,
                    low=min(low, gain.expected),
                    high=max(high, gain.expected),
                    probability=rises,
                    probability_of_a_tenth=gain.exceeds(A_TENTH * before),
                    clear=bool(low > 0 if confidence is None else rises >= confidence),
                    rank=0,
                    before=before,
                    best_set=tuple(names[f] for f in gains.features(index)),
                    joined=gains.joined(own, feature),
                    support=SUPPORT[gains.support(index)],
                    unsettled=pair,
                    settled_by=where,
                    cost=cost,
                    gain_per_cost=gain.expected / cost,
                )
            )
        worths.sort(key=lambda worth: -worth.gain_per_cost)
        records += [replace(worth, rank=rank) for rank, worth in enumerate(worths, start=1)]
    return records
