"""Sets that tell the same as another, and the swap of features that leads from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from misfeat.answers.contrasts import contrasts_of
from misfeat.answers.options import checked_k, set_members, shown_scores, target_varies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.answers.contrasts import Contrasts
    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

MOST_COMPARED = 2000
"""So many sets are held against the given one, those with the fewest swaps first."""


@dataclass(frozen=True)
class Alternative:
    """A set whose score cannot be told from that of another one of its size.

    Its attributes are the columns that `Selection.alternatives` explains.
    """

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
    for index in _candidates(own, scores, cohort, contrasts).tolist():
        members = scores.subsets[index].tolist()
        difference = contrasts.difference(cohort, members, own)
        if difference.may_be_nothing:
            given_up = tuple(selection.feature_names[m] for m in own if m not in members)
            found.append(
                Alternative(
                    subgroup=subgroup,
                    features=tuple(selection.feature_names[m] for m in members),
                    score=float(scores.score[cohort, index]),
                    low=float(scores.low[cohort, index]),
                    high=float(scores.high[cohort, index]),
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


def _candidates(
    own: tuple[int, ...], scores: CompletedScores, cohort: int, contrasts: Contrasts
) -> NDArray[np.int64]:
    """The numbers of the sets that may tell the same, fewest swaps first, then the best."""
    kept = np.isin(scores.subsets, own).sum(axis=1)
    score, low, high = (x[cohort] for x in (scores.score, scores.low, scores.high))
    (mine,) = contrasts.of(cohort, [own], [[1.0]])
    furthest = np.maximum(score - low, high - score)
    furthest += max(mine.value - mine.low, mine.high - mine.value)
    near = np.abs(score - mine.value) <= furthest
    places = np.flatnonzero(near & (kept < len(own)))
    order = np.lexsort((-score[places], -kept[places]))
    return places[order[:MOST_COMPARED]]
