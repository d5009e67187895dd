"""How pairs of features go together: synergy and redundancy."""

from dataclasses import dataclass

from misfeat.answers.fit_result import FitResult
from misfeat.answers.question_arguments import explainable_subgroups, of_each_subgroup
from misfeat.answers.set_contrasts import contrasts_of

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


def pair_interactions(selection: FitResult, subgroup: str | None = None) -> list[Interaction]:
    """All pairs of features, subgroup by subgroup, the strongest first."""
    names, features = explainable_subgroups(selection, subgroup), selection.feature_names
    if len(features) < 2:
        return []
    singles, pairs = selection.completed(1), selection.completed(2)
    contrasts = contrasts_of(selection)

    def of_subgroup(name: str) -> list[Interaction]:
        cohort, interactions = selection.cohorts.position(name), []
        for index, (one, other) in enumerate(pairs.subsets.tolist()):
            sets = [(one, other), (one,), (other,)]
            ((value, low, high),) = contrasts.of(cohort, sets, [[1.0, -1.0, -1.0]])
            interactions.append(
                Interaction(
                    subgroup=name,
                    feature=features[one],
                    other=features[other],
                    together=float(pairs.score[cohort, index]),
                    alone=float(singles.score[cohort, [one, other]].sum()),
                    interaction=value,
                    low=low,
                    high=high,
                    kind=SYNERGY if low > 0 else REDUNDANCY if high < 0 else UNCLEAR,
                    source="predicted" if pairs.predicted[cohort, index] else "recorded",
                )
            )
        return sorted(interactions, key=lambda pair: -abs(pair.interaction))

    return of_each_subgroup(selection, names, "Comparing pairs", of_subgroup)
