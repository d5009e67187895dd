"""How every two features go together: both explain more than one by one, or the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from misfeat.answers.options import explainable_subgroups, of_each_subgroup
from misfeat.answers.set_contrasts import contrasts_of

if TYPE_CHECKING:
    from misfeat.selection import Selection

COMPARING = "Comparing pairs"
SYNERGY, REDUNDANCY, UNCLEAR = "synergy", "redundancy", "unclear"


@dataclass(frozen=True)
class Interaction:
    """How two features go together in one subgroup, as `Selection.interactions` explains it."""

    subgroup: str
    feature: str
    other: str
    together: float
    alone: float
    interaction: float
    low: float
    high: float
    kind: str
    source: str


def pair_interactions(selection: Selection, subgroup: str | None = None) -> list[Interaction]:
    """All pairs of features, subgroup by subgroup, the strongest first."""
    names = explainable_subgroups(selection, subgroup)
    if len(selection.feature_names) < 2:
        return []
    singles, pairs = selection.completed(1), selection.completed(2)
    contrasts, features = contrasts_of(selection), selection.feature_names

    def of_subgroup(name: str) -> list[Interaction]:
        cohort, found = selection.cohorts.position(name), []
        for index, (one, other) in enumerate(pairs.subsets.tolist()):
            sets = [(one, other), (one,), (other,)]
            (interaction,) = contrasts.of(cohort, sets, [[1.0, -1.0, -1.0]])
            kind = REDUNDANCY if interaction.high < 0 else UNCLEAR
            found.append(
                Interaction(
                    subgroup=name,
                    feature=features[one],
                    other=features[other],
                    together=float(pairs.score[cohort, index]),
                    alone=float(singles.score[cohort, [one, other]].sum()),
                    interaction=interaction.value,
                    low=interaction.low,
                    high=interaction.high,
                    kind=SYNERGY if interaction.low > 0 else kind,
                    source="predicted" if pairs.predicted[cohort, index] else "recorded",
                )
            )
        return sorted(found, key=lambda pair: -abs(pair.interaction))

    return of_each_subgroup(selection, names, COMPARING, of_subgroup)
