"""Sets that tell the same as another, and the swap of features that leads from one to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores
    from misfeat.selection.contrasts import Contrasts, Estimated

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

    @property
    def words(self) -> str:
        """The swap, such as ``"waist for bmi"``."""
        return f"{' and '.join(self.taken)} for {' and '.join(self.given_up)}"


ALTERNATIVE_COLUMNS = (*Alternative.__dataclass_fields__, "words")


def alternatives_to(
    members: Sequence[int],
    scores: CompletedScores,
    cohort: int,
    names: tuple[str, Sequence[str]],
    contrasts: Contrasts,
    k: int,
) -> list[Alternative]:
    """Sets that cannot be told from one, fewest swaps first, grouped by what is given up.

    `names` are those of the subgroup and of all features.
    """
    own = tuple(members)
    found = []
    for place in _candidates(own, scores, cohort, contrasts).tolist():
        other = tuple(scores.subsets[place].tolist())
        difference = contrasts.difference(cohort, other, own)
        if difference.may_be_nothing:
            found.append(_alternative(own, place, scores, cohort, names, difference))
        if len(found) == k:
            break
    return _grouped(found)


def distinct_sets(
    order: Iterable[int], subsets: NDArray[np.integer], cohort: int, contrasts: Contrasts
) -> Iterator[int]:
    """Sets in an order, without those that tell the same as a better one.

    A set is left out where it differs in a single feature from one that was kept, and their scores
    cannot be told apart.
    """
    kept: list[tuple[int, ...]] = []
    for number in order:
        one = tuple(subsets[number].tolist())
        near = (other for other in kept if len(set(one) & set(other)) == len(one) - 1)
        if not any(contrasts.difference(cohort, other, one).may_be_nothing for other in near):
            kept.append(one)
            yield number


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


def _alternative(
    own: tuple[int, ...],
    place: int,
    scores: CompletedScores,
    cohort: int,
    names: tuple[str, Sequence[str]],
    difference: Estimated,
) -> Alternative:
    subgroup, features = names
    members = scores.subsets[place].tolist()
    given_up = tuple(features[member] for member in own if member not in members)
    return Alternative(
        subgroup=subgroup,
        features=tuple(features[member] for member in members),
        score=float(scores.score[cohort, place]),
        low=float(scores.low[cohort, place]),
        high=float(scores.high[cohort, place]),
        given_up=given_up,
        taken=tuple(features[member] for member in members if member not in own),
        swaps=len(given_up),
        source="predicted" if scores.predicted[cohort, place] else "recorded",
        **difference.named("difference"),
    )


def _grouped(found: Sequence[Alternative]) -> list[Alternative]:
    """Alternatives with one swap before those with two, together where they give up the same."""
    best: dict[tuple[str, ...], float] = {}
    for one in found:
        best[one.given_up] = max(one.score, best.get(one.given_up, -np.inf))
    return sorted(found, key=lambda one: (one.swaps, -best[one.given_up], one.given_up, -one.score))
