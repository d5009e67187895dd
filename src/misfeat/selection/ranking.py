"""From completed scores to the rows that users see: ranked, named, in plain columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.completion.model import SUPPORT
from misfeat.information.grids import target_entropies
from misfeat.lattice import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts
    from misfeat.completion import CompletedScores
    from misfeat.information.measures import Measure
    from misfeat.selection.chance_tests import ChanceTests
    from misfeat.selection.scorebook import ScoreBook


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
        What the set tells about the target, in nats, or R².
    low, high : float
        Its interval.
    share : float
        The score over what there is to tell: the entropy of the target in the subgroup, or 1.
    observed : float or None
        The score of the subgroup's own rows as they are; None where it did not record the set.
    p_value : float or None
        How likely chance alone gives a set that tells as much; None where it was not asked, or the
        subgroup did not record the set.
    source : {"recorded", "predicted"}
        Whether the subgroup's own rows took part in the score.
    missing : tuple of str
        The features of the set that the subgroup never recorded.
    support : {"own rows", "joint", "pairs", "singles", "none"}
        What the score rests on.
    spread : float or None
        Of a numeric target, how far the score differs between grids of its values (the standard
        deviation); None for classes.
    """

    subgroup: str
    rank: int | None
    features: tuple[str, ...]
    score: float
    low: float
    high: float
    share: float
    observed: float | None
    p_value: float | None
    source: str
    missing: tuple[str, ...]
    support: str
    spread: float | None = None


def scored_sets(
    cohorts: Cohorts,
    book: ScoreBook,
    scores: CompletedScores,
    names: Sequence[str],
    k: int | None = None,
    tests: ChanceTests | None = None,
    chosen: Callable[[NDArray[np.integer], int], Iterable[int]] | None = None,
) -> list[ScoredSet]:
    """The k best sets of each named subgroup, ranked; every set, unranked, where k is None.

    `chosen` picks sets from all of them, best first, for a subgroup; None takes all. Ranks are
    those among all sets.
    """
    found = []
    for cohort in map(cohorts.position, names):
        ordered = order_of_sets(scores, cohort, ranked=k is not None)
        order = list(islice(ordered[:k] if chosen is None else chosen(ordered, cohort), k))
        ranks = np.empty(len(ordered), dtype=np.int64)
        ranks[ordered] = np.arange(1, len(ordered) + 1)
        observed = book.observed(cohort, scores.subsets[order])
        for subset, seen in zip(order, observed, strict=True):
            facts = _facts(book.measure, scores, cohort, subset)
            facts["observed"] = None if np.isnan(seen) else float(seen)
            facts["p_value"] = _p_value(tests, cohort, scores.subsets[subset])
            place = int(ranks[subset]) if k else None
            found.append(ScoredSet(cohorts.names[cohort], place, **facts))
    return found


def subgroup_rows(cohorts: Cohorts) -> list[dict[str, Any]]:
    """The subgroups: their rows, their target's entropy in nats, and what they never recorded."""
    return [
        {
            "subgroup": cohort.name,
            "rows": cohort.size,
            "target_entropy": entropy,
            "missing": cohorts.missing_features(cohort.name),
            **({} if cohort.effective is None else {"effective_rows": cohort.effective}),
        }
        for cohort, entropy in zip(cohorts, target_entropies(cohorts), strict=True)
    ]


def order_of_sets(scores: CompletedScores, cohort: int, *, ranked: bool = True) -> NDArray[np.intp]:
    """Numbers of subsets: best first, ties in the order of columns; or in that order alone."""
    by_columns = tuple(scores.subsets.T[::-1])
    best_first = -np.round(scores.score[cohort], TIED_DECIMALS)
    return np.lexsort((*by_columns, best_first) if ranked else by_columns)


def _facts(measure: Measure, scores: CompletedScores, cohort: int, subset: int) -> dict[str, Any]:
    """What is known of a set in a cohort."""
    members = scores.subsets[subset]
    score = float(scores.score[cohort, subset])
    whole = float(measure.whole[cohort])
    return {
        "features": tuple(measure.features[f] for f in members),
        "score": score,
        "low": float(scores.low[cohort, subset]),
        "high": float(scores.high[cohort, subset]),
        "share": score / whole if whole > 0 else 0.0,
        "source": "predicted" if scores.predicted[cohort, subset] else "recorded",
        "missing": tuple(measure.features[f] for f in members if measure.missing[cohort, f]),
        "support": SUPPORT[scores.support[cohort, subset]],
        "spread": None if scores.spread is None else float(scores.spread[cohort, subset]),
    }


def _p_value(tests: ChanceTests | None, cohort: int, members: NDArray[np.integer]) -> float | None:
    """The p-value of a set, where it was asked for and there is one."""
    if tests is None or len(members) not in tests.p_values:
        return None
    found = float(tests.p_values[len(members)][cohort, rank(members[None])[0]])
    return None if np.isnan(found) else found


def as_columns(sets: Sequence[ScoredSet]) -> dict[str, list[Any]]:
    """Lay scored sets out as columns for a dataframe; only those of a number have a spread."""
    absent = {"spread"} if all(row.spread is None for row in sets) else set()
    names = [field.name for field in fields(ScoredSet) if field.name not in absent]
    columns = {name: [getattr(row, name) for row in sets] for name in names}
    for name in ("observed", "p_value"):
        columns[name] = [np.nan if value is None else value for value in columns[name]]
    return columns
