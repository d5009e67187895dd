"""Sets whose scores cannot be distinguished from that of another, by what is swapped."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from misfeat.answers.fit_result import FitResult, checked_k, set_members
from misfeat.answers.question_arguments import shown_scores, target_varies
from misfeat.answers.set_contrasts import contrasts_of

MOST_COMPARED = 2000  # sets that are compared with a given one, those with the fewest swaps first


@dataclass(frozen=True)
class Alternative:
    """A set whose score cannot be distinguished from that of another (`Selection.alternatives`)."""

    subgroup: str
    features: tuple[str, ...]
    score: float
    low: float
    high: float
    difference: float
    difference_low: float
    difference_high: float
    given_up: tuple[str, ...]
    taken: tuple[str, ...]
    swaps: int
    source: str
    words: str  # the swap, such as "waist for bmi"


def alternative_sets(
    selection: FitResult, subgroup: str, features: Sequence[str], k: int | None = None
) -> list[Alternative]:
    """Sets that explain as much as one, fewest swaps first, grouped by what is given up."""
    k, names = checked_k(selection, k), selection.feature_names
    own = tuple(set_members(selection, features))
    subgroup = selection.cohorts.full_name(subgroup)
    cohort = selection.cohorts.position(subgroup)
    scores, contrasts = shown_scores(selection, len(own)), contrasts_of(selection)
    if not target_varies(selection, subgroup):
        return []
    # Sets that may score the same, by how far intervals reach: fewest swaps first, then the best.
    kept = np.isin(scores.subsets, own).sum(axis=1)
    score, low, high = (x[cohort] for x in (scores.score, scores.low, scores.high))
    (given,) = contrasts.of(cohort, [own], [[1.0]])
    furthest = np.maximum(score - low, high - score)
    furthest += max(given.value - given.low, given.high - given.value)
    near = np.flatnonzero((np.abs(score - given.value) <= furthest) & (kept < len(own)))
    order = np.lexsort((-score[near], -kept[near]))
    alternatives: list[Alternative] = []
    best: dict[tuple[str, ...], float] = {}
    for index in near[order[:MOST_COMPARED]].tolist():
        if len(alternatives) == k:
            break
        members = scores.subsets[index].tolist()
        difference = contrasts.difference(cohort, members, own)
        if not difference.may_be_nothing:
            continue
        given_up = tuple(names[m] for m in own if m not in members)
        taken = tuple(names[m] for m in members if m not in own)
        best[given_up] = max(float(score[index]), best.get(given_up, -np.inf))
        alternatives.append(
            Alternative(
                subgroup=subgroup,
                features=tuple(names[m] for m in members),
                score=float(score[index]),
                low=float(low[index]),
                high=float(high[index]),
                given_up=given_up,
                taken=taken,
                swaps=len(given_up),
                source="predicted" if scores.predicted[cohort, index] else "recorded",
                words=f"{' and '.join(taken)} for {' and '.join(given_up)}",
                **difference.named("difference"),
            )
        )
    return sorted(
        alternatives, key=lambda one: (one.swaps, -best[one.given_up], one.given_up, -one.score)
    )
