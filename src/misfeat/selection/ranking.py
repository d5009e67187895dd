"""From completed scores to the rows that users see: ranked, named, in plain columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.model import SUPPORT
from misfeat.information import target_entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.information.measures import Measure


TIED_DECIMALS = 12
"""Scores that agree to so many decimals (nats) are tied; rounding must not rank them."""


@dataclass(frozen=True)
class ScoredSet:
    """One feature set of one subgroup.

    Attributes
    ----------
    subgroup : str
        The subgroup's name.
    rank : int or None
        1 is the best set of its size in the subgroup; None where sets are not ranked.
    features : tuple of str
        In the table's column order.
    score : float
        Joint mutual information with the target, in nats.
    low, high : float
        The interval of a predicted score; equal to it where it is exact.
    source : {"exact", "predicted"}
        Whether the subgroup's own rows gave the score.
    missing : tuple of str
        The features of the set that the subgroup never recorded.
    support : {"own rows", "joint", "pairs", "singles", "none"}
        What the score rests on.
    """

    subgroup: str
    rank: int | None
    features: tuple[str, ...]
    score: float
    low: float
    high: float
    source: str
    missing: tuple[str, ...]
    support: str


def scored_sets(
    cohorts: Cohorts,
    measure: Measure,
    scores: CompletedScores,
    names: Sequence[str],
    k: int | None = None,
) -> list[ScoredSet]:
    """The k best sets of each named subgroup, ranked; every set, unranked, where k is None."""
    return [
        _scored_set(cohorts.names[cohort], measure, scores, cohort, subset, place if k else None)
        for cohort in map(cohorts.position, names)
        for place, subset in enumerate(_order(scores, cohort, k), start=1)
    ]


def subgroup_rows(cohorts: Cohorts) -> list[dict[str, Any]]:
    """The subgroups: their rows, their target's entropy in nats, and what they never recorded."""
    return [
        {
            "subgroup": cohort.name,
            "rows": cohort.size,
            "target_entropy": target_entropy(cohort),
            "missing": cohorts.missing_features(cohort.name),
        }
        for cohort in cohorts
    ]


def _order(scores: CompletedScores, cohort: int, k: int | None) -> list[int]:
    """Numbers of subsets: the k best, best first, ties in the order of columns; or all."""
    by_columns = tuple(scores.subsets.T[::-1])
    best_first = -np.round(scores.score[cohort], TIED_DECIMALS)
    order = np.lexsort(by_columns if k is None else (*by_columns, best_first))
    best: list[int] = order[:k].tolist()
    return best


def _scored_set(
    name: str,
    measure: Measure,
    scores: CompletedScores,
    cohort: int,
    subset: int,
    place: int | None,
) -> ScoredSet:
    members = scores.subsets[subset]
    return ScoredSet(
        subgroup=name,
        rank=place,
        features=tuple(measure.features[f] for f in members),
        score=float(scores.score[cohort, subset]),
        low=float(scores.low[cohort, subset]),
        high=float(scores.high[cohort, subset]),
        source="predicted" if scores.predicted[cohort, subset] else "exact",
        missing=tuple(measure.features[f] for f in members if measure.missing[cohort, f]),
        support=SUPPORT[scores.support[cohort, subset]],
    )


def as_columns(sets: Sequence[ScoredSet], ranked: bool) -> dict[str, list[Any]]:
    """Lay scored sets out as columns for a dataframe."""
    names = ["subgroup", "rank", "features", "score", "low", "high", "source", "missing", "support"]
    if not ranked:
        names.remove("rank")
    return {name: [getattr(row, name) for row in sets] for name in names}
