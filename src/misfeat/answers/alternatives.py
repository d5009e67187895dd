"""Sets that tell the same as another, and the swap of features that leads from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.answers.options import checked_k, set_members, shown_scores, target_varies
from misfeat.answers.set_contrasts import contrasts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.selection import Selection

MOST_COMPARED = 2000
"""So many sets are held against the given one, those with the fewest swaps first."""


@dataclass(frozen=True)
class Alternative:
    """A set whose score cannot be told from that of another (`Selection.alternatives`)."""

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

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "subgroup", "features", "score", "low", "high", "difference", "difference_low",
        "difference_high", "given_up", "taken", "swaps", "source", "words",
    )  # fmt: skip

    @property
    def words(self) -> str:
        """The swap, such as ``"waist for bmi"``."""
        return f"{' and '.join(self.taken)} for {' and '.join(self.given_up)}"


def alternative_sets(
    selection: Selection, subgroup: str, features: Sequence[str], k: int | None = None
) -> list[Alternative]:
    """Sets that cannot be told from one, fewest swaps first, grouped by what is given up."""
    k = checked_k(selection, k)
    own = tuple(set_members(selection, features))
    subgroup = selection.cohorts.full_name(subgroup)
    cohort = selection.cohorts.position(subgroup)
    scores, contrasts = shown_scores(selection, len(own)), contrasts_of(selection)
    found: list[Alternative] = []
    if not target_varies(selection, subgroup):
        return found
    # Sets that may score the same, by how far intervals reach: fewest swaps first, then the best.
    kept = np.isin(scores.subsets, own).sum(axis=1)
    score, low, high = (x[cohort] for x in (scores.score, scores.low, scores.high))
    (given,) = contrasts.of(cohort, [own], [[1.0]])
    furthest = np.maximum(score - low, high - score)
    furthest += max(given.value - given.low, given.high - given.value)
    near = np.flatnonzero((np.abs(score - given.value) <= furthest) & (kept < len(own)))
    order = np.lexsort((-score[near], -kept[near]))
    for index in near[order[:MOST_COMPARED]].tolist():
        members = scores.subsets[index].tolist()
        difference = contrasts.difference(cohort, members, own)
        if difference.may_be_nothing:
            given_up = tuple(selection.feature_names[m] for m in own if m not in members)
            found.append(
                Alternative(
                    subgroup=subgroup,
                    features=tuple(selection.feature_names[m] for m in members),
                    score=float(score[index]),
                    low=float(low[index]),
                    high=float(high[index]),
                    given_up=given_up,
                    taken=tuple(selection.feature_names[m] for m in members if m not in own),
                    swaps=len(given_up),
                    source="predicted" if scores.predicted[cohort, index] else "recorded",
                    **difference.named("difference"),
                )
            )
        if len(found) == k:
            break
    best: dict[tuple[str, ...], float] = {}
    for one in found:
        best[one.given_up] = max(one.score, best.get(one.given_up, -np.inf))
    return sorted(found, key=lambda one: (one.swaps, -best[one.given_up], one.given_up, -one.score))
