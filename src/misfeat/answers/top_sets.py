"""The best sets of every subgroup, and sets that cannot be told apart from another by score."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations, islice
from typing import Any

import numpy as np

from misfeat.answers.selection_base import (
    FitResult,
    checked_k,
    explainable_subgroups,
    level_size,
    set_members,
    shown_scores,
    target_varies,
)
from misfeat.answers.set_contrasts import contrasts_of
from misfeat.completion.completer_data import SUPPORT, CompletedScores
from misfeat.lattice.levels import rank
from misfeat.runtime.array_types import Floats, Indices, Integers

TIED_DECIMALS = 12  # scores that agree to so many (nats) are tied; rounding must not rank them
AS_MUCH = 0.99  # a set that scores this share of the best larger one explains as much
MOST_EXPLAINED = 0.8  # and it must explain this share of the target
SOURCES = np.array(["recorded", "predicted"], dtype=object)
MOST_COMPARED = 2000  # sets that are compared with a given one, those with the fewest swaps first


@dataclass(frozen=True)
class ScoredSet:
    """One feature set of one subgroup.

    Its attributes are the columns that `Selection.top_k` explains, and None where there is no such
    number: what was not observed or tested, the spread of classes.
    """

    subgroup: str
    rank: int  # among all sets, those left out included
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


def best_sets(
    selection: FitResult,
    size: int | None = None,
    k: int | None = None,
    subgroup: str | None = None,
    *,
    distinct: bool = False,
) -> list[ScoredSet]:
    """The k best sets of every subgroup, best first (`Selection.top_k`)."""
    k = checked_k(selection, k)
    names, records = explainable_subgroups(selection, subgroup), list[ScoredSet]()
    scores = shown_scores(selection, size)
    contrasts = contrasts_of(selection)

    def chosen(order: Indices, cohort: int) -> Iterator[int]:
        kept: list[tuple[int, ...]] = []
        for number in _without_padding(selection, order, scores, cohort):
            one = tuple(scores.subsets[number].tolist())
            # Better sets that are one swap away, and those of them that it may equal.
            near = (other for other in kept if len(set(one) & set(other)) == len(one) - 1)
            alike = (contrasts.difference(cohort, other, one).may_be_nothing for other in near)
            if not (distinct and any(alike)):
                kept.append(one)
                yield number

    for name in names:
        cohort = selection.cohorts.position(name)
        ordered = order_of_sets(scores, cohort, selection.completed(1).score)
        order = list(islice(chosen(ordered, cohort), min(k, len(ordered))))
        ranks = np.empty(len(ordered), dtype=np.int64)
        ranks[ordered] = np.arange(1, len(ordered) + 1)
        subsets = scores.subsets[order]
        columns: dict[str, list[Any]] = {
            "rank": ranks[order].tolist(),
            "features": _named(subsets, selection.feature_names),
            **_of_cohort(selection, cohort, scores, order, subsets, rank(subsets)),
        }
        for column in ("observed", "p_value"):
            columns[column] = [None if np.isnan(value) else value for value in columns[column]]
        records += [
            ScoredSet(selection.cohorts.names[cohort], **dict(zip(columns, line, strict=True)))
            for line in zip(*columns.values(), strict=True)
        ]
    return records


def features_for_all(selection: FitResult) -> tuple[str, ...]:
    """The features of the set that explains most on the mean over subgroups, by their rows."""
    scores = shown_scores(selection, None)
    best = int(np.argmax(selection.cohorts.effective_sizes() @ scores.score))
    return tuple(selection.feature_names[f] for f in scores.subsets[best])


def order_of_sets(scores: CompletedScores, cohort: int, alone: Floats) -> Indices:
    """Numbers of subsets: best first, ties by what features explain alone, then by columns."""
    # Where a target is determined many sets are tied: all of it is explained.
    keys = alone[cohort][scores.subsets].sum(axis=1), scores.score[cohort]
    best_first = (-np.round(key, TIED_DECIMALS) for key in keys)
    return np.lexsort((*scores.subsets.T[::-1], *best_first))


def as_columns(sets: Sequence[ScoredSet]) -> dict[str, list[Any]]:
    """Lay scored sets out as columns for a dataframe; only those of a number have a spread."""
    absent = {"spread"} if all(row.spread is None for row in sets) else set()
    names = [field.name for field in fields(ScoredSet) if field.name not in absent]
    columns = {name: [getattr(row, name) for row in sets] for name in names}
    for name in ("observed", "p_value"):
        columns[name] = [np.nan if value is None else value for value in columns[name]]
    return columns


def _without_padding(
    selection: FitResult, order: Indices, scores: CompletedScores, cohort: int
) -> Iterator[int]:
    """Sets in an order; of those that contain one sufficient smaller set only the first."""
    # A list of the best would hold little else. A set is sufficient if it explains nearly as much
    # as the best of the larger sets, and most of the entropy. Not all of it: a copy of the target
    # explains less once chance is taken off and few rows are shrunk towards other subgroups.
    best, size = float(scores.score[cohort].max(initial=0.0)), scores.subsets.shape[1]
    whole = float(selection.set_scores.measure.whole[cohort])
    enough = max(AS_MUCH * best, MOST_EXPLAINED * whole)
    if not best >= enough > 0:
        yield from map(int, order)
        return
    smaller = range(1, min(size, level_size(selection, size) + 1))
    suffices = {n: selection.completed(n).score[cohort] >= enough for n in smaller}
    left = order
    while len(left):
        first, left = int(left[0]), left[1:]
        yield first
        parts: list[tuple[int, ...]] = []  # that are sufficient, and contain no other that is
        for n, sufficient in suffices.items():
            within = np.array(list(combinations(scores.subsets[first].tolist(), n)))
            for part in within[sufficient[rank(within)]].tolist():
                if not any(set(one) <= set(part) for one in parts):
                    parts.append(tuple(part))
        for part in parts:
            left = left[~np.all([(scores.subsets[left] == f).any(axis=1) for f in part], axis=0)]


def all_scores(
    selection: FitResult, size: int | None = None, subgroup: str | None = None
) -> dict[str, list[Any]]:
    """The columns of `Selection.scores`: there may be half a million sets, so no records."""
    names, scores = selection.subgroup_names(subgroup), shown_scores(selection, size)
    order = np.lexsort(scores.subsets.T[::-1])  # that of the columns
    subsets = scores.subsets[order]
    ranks, features = rank(subsets), _named(subsets, selection.feature_names)
    columns: dict[str, list[Any]] = {
        "subgroup": [name for name in names for _ in features],
        "features": features * len(names),
    }
    for cohort in map(selection.cohorts.position, names):
        own = _of_cohort(selection, cohort, scores, order, subsets, ranks)
        for column, values in own.items():
            columns.setdefault(column, []).extend(values)
    return columns


def _of_cohort(
    selection: FitResult,
    cohort: int,
    scores: CompletedScores,
    order: Sequence[int] | Indices,
    subsets: Indices,
    ranks: Integers,
) -> dict[str, list[Any]]:
    """What is known of some sets in one cohort, by name."""
    set_scores, tests = selection.set_scores, selection.known_tests
    lacks, whole = selection.missing[cohort], float(set_scores.measure.whole[cohort])
    score = scores.score[cohort, order]
    tested = None if tests is None else tests.p_values.get(subsets.shape[1])
    p_values = np.full(len(order), np.nan) if tested is None else tested[cohort, ranks]
    missing: list[tuple[str, ...]] = [()] * len(subsets)
    for index in np.flatnonzero(lacks[subsets].any(axis=1)):
        missing[index] = tuple(selection.feature_names[f] for f in subsets[index] if lacks[f])
    columns = {
        "score": score.tolist(),
        "low": scores.low[cohort, order].tolist(),
        "high": scores.high[cohort, order].tolist(),
        "share": (score / whole if whole > 0 else np.zeros_like(score)).tolist(),
        "observed": set_scores.observed(cohort, subsets).tolist(),
        "p_value": p_values.tolist(),
        "source": SOURCES[scores.predicted[cohort, order].astype(np.int8)].tolist(),
        "missing": missing,
        "support": np.array(SUPPORT, dtype=object)[scores.support[cohort, order]].tolist(),
    }
    if scores.spread is not None:
        columns["spread"] = scores.spread[cohort, order].tolist()
    return columns


def _named(subsets: Indices, features: Sequence[str]) -> list[tuple[str, ...]]:
    names = np.empty(len(features), dtype=object)
    names[:] = features
    return list(zip(*(names[members].tolist() for members in subsets.T), strict=True))


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
