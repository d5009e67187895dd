"""What features are worth to a subgroup: alone, joined to others, their share, and in pairs.

The share, or Shapley value, of a feature in a set is what it adds to a part of the rest of the set,
averaged over the sizes of parts and over all parts of a size, exact from the lattice. Those of all
features of a set add up to its score.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.answers.options import (
    explainable_subgroups,
    level_size,
    of_each_subgroup,
    set_members,
    shown_scores,
)
from misfeat.answers.set_contrasts import SHARED_ERROR, Estimated, contrasts_of
from misfeat.answers.top import best_sets
from misfeat.lattice import rank, ranks_below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.answers.set_contrasts import Contrasts
    from misfeat.completion import CompletedScores
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]
    Bounds = tuple[Floats, Floats, Floats]

VALUING, COMPARING = "Valuing features", "Comparing pairs"
SYNERGY, REDUNDANCY, UNCLEAR = "synergy", "redundancy", "unclear"
NOT_KNOWN = Estimated(float("nan"), float("nan"), float("nan"))
NOTHING = Estimated(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class FeatureValue:
    """What one feature is worth; `adds` is NaN where no set of others holds all to include."""

    subgroup: str
    feature: str
    alone: float
    alone_low: float
    alone_high: float
    adds: float
    adds_low: float
    adds_high: float
    adds_to: tuple[str, ...]
    share_of_best: float
    share_of_best_low: float
    share_of_best_high: float
    mean_share: float
    mean_share_low: float
    mean_share_high: float
    in_best: float
    source: str


def feature_values(
    selection: Selection, subgroup: str | None = None, size: int | None = None
) -> list[FeatureValue]:
    """What every feature is worth, subgroup by subgroup, the largest mean share first."""
    names, features = explainable_subgroups(selection, subgroup), selection.feature_names
    size = level_size(selection, size)
    n_included = len(selection.options.include)
    shown = shown_scores(selection, size) if n_included <= size else selection.completed(size)
    levels = [selection.completed(m) for m in range(1, shown.subsets.shape[1] + 1)]
    contrasts, least = contrasts_of(selection), _least_added(selection)

    def of_subgroup(name: str) -> list[FeatureValue]:
        cohort = selection.cohorts.position(name)
        best = [one.features for one in best_sets(selection, max(size, n_included), subgroup=name)]
        members = sorted(map(features.index, best[0]))
        parts = contrasts.of(cohort, parts_of(members), shapley_weights(members), least)
        of_best = dict(zip(members, parts, strict=True))
        means = _mean_shares(levels, cohort, contrasts.confidence, least)
        values = []
        for feature in np.argsort([-mean.value for mean in means], kind="stable").tolist():
            (alone,) = contrasts.of(cohort, [(feature,)], [[1.0]])
            to, adds = _added(shown, levels, cohort, feature, contrasts, least)
            values.append(
                FeatureValue(
                    subgroup=name,
                    feature=features[feature],
                    adds_to=tuple(features[member] for member in to),
                    in_best=sum(features[feature] in one for one in best) / len(best),
                    source="predicted" if levels[0].predicted[cohort, feature] else "recorded",
                    **alone.named("alone"),
                    **adds.named("adds"),
                    **of_best.get(feature, NOTHING).named("share_of_best"),
                    **means[feature].named("mean_share"),
                )
            )
        return values

    return of_each_subgroup(selection, names, VALUING, of_subgroup)


def shapley_values(
    selection: Selection, subgroup: str, features: Sequence[str]
) -> dict[str, Estimated]:
    """The Shapley values of the features of a set, by name; they add up to its score."""
    members, cohort = set_members(selection, features), selection.cohorts.position(subgroup)
    contrasts, least = contrasts_of(selection), _least_added(selection)
    shares = contrasts.of(cohort, parts_of(members), shapley_weights(members), least)
    return dict(zip((selection.feature_names[m] for m in members), shares, strict=True))


def _least_added(selection: Selection) -> float:
    """What a feature adds at least: nothing, unless sets are scored on different rows."""
    scores = selection.set_scores
    return 0.0 if scores.estimate.above_chance or scores.measure.closed else float("-inf")


def _added(
    shown: CompletedScores,
    levels: Sequence[CompletedScores],
    cohort: int,
    feature: int,
    contrasts: Contrasts,
    least: float,
) -> tuple[tuple[int, ...], Estimated]:
    """The best set of others, and what a feature adds to it."""
    sets = shown.subsets
    with_it = sets[(sets == feature).any(axis=1)]
    if not len(with_it):
        return (), NOT_KNOWN
    size = sets.shape[1]
    others = with_it[with_it != feature].reshape(len(with_it), size - 1)
    index = 0
    if size > 1:
        index = int(np.argmax(levels[size - 2].score[cohort, rank(others)]))
    joined, part = (tuple(one[index].tolist()) for one in (with_it, others))
    (adds,) = contrasts.of(cohort, [joined, part], [[1.0, -1.0]], least)
    return part, adds


def _mean_shares(
    levels: Sequence[CompletedScores], cohort: int, confidence: float | None, least: float
) -> list[Estimated]:
    def reach(own: Floats, part: Floats) -> Floats:
        """How far the interval of what a feature adds reaches to one side."""
        together: Floats = np.sqrt(own**2 + part**2 - 2 * SHARED_ERROR * own * part)
        return together

    value = mean_shares(
        [scores.score[cohort] for scores in levels], [scores.subsets for scores in levels]
    )
    if confidence is None:
        low = mean_of_additions(levels, cohort, lambda own, part: own[1] - part[2])
        high = mean_of_additions(levels, cohort, lambda own, part: own[2] - part[1])
    else:
        low = value - mean_of_additions(
            levels, cohort, lambda own, part: reach(own[0] - own[1], part[2] - part[0])
        )
        high = value + mean_of_additions(
            levels, cohort, lambda own, part: reach(own[2] - own[0], part[0] - part[1])
        )
    low = np.minimum(np.maximum(low, least), value)
    high = np.maximum(high, value)
    return [Estimated(*map(float, one)) for one in zip(value, low, high, strict=True)]


def parts_of(members: Sequence[int]) -> list[tuple[int, ...]]:
    """All parts of a set but the empty one, and the set itself."""
    sizes = range(1, len(members) + 1)
    return [part for size in sizes for part in combinations(members, size)]


def shapley_weights(members: Sequence[int]) -> Floats:
    """What the score of every part counts in each Shapley value: (n_members, n_parts)."""
    size = len(members)
    parts = parts_of(members)
    joins = np.array([1.0 / (size * comb(size - 1, len(part) - 1)) for part in parts])
    lacks = np.array(
        [-1.0 / (size * comb(size - 1, len(part))) if len(part) < size else 0.0 for part in parts]
    )
    held = np.array([[member in part for part in parts] for member in members])
    return np.where(held, joins, lacks)


def mean_shares(levels: Sequence[Floats], subsets: Sequence[NDArray[np.integer]]) -> Floats:
    """The mean Shapley value of every feature over all sets of a size that hold it.

    Every part of a size that lacks the feature is a part of equally many of these sets. So the mean
    is that of what the feature adds to all of them, averaged over sizes.

    `levels` are the scores of all sets of size 1, 2 and so on, `subsets` these sets.
    """
    n_features = len(levels[0])
    shares = np.zeros(n_features)
    without = np.zeros(n_features)  # the mean of sets of the size before that lack each feature
    for size, (scores, sets) in enumerate(zip(levels, subsets, strict=True), start=1):
        held = _by_member(sets, np.broadcast_to(scores[:, None], sets.shape), n_features)
        shares += held / comb(n_features - 1, size - 1) - without
        if size < n_features:
            without = (scores.sum() - held) / comb(n_features - 1, size)
    shares /= len(levels)
    return shares


def mean_of_additions(
    levels: Sequence[CompletedScores],
    cohort: int,
    number: Callable[[Bounds, Bounds], Floats],
) -> Floats:
    """The mean of a number of every set and the same without a feature, as in `mean_shares`."""
    n_features = len(levels[0].subsets)
    mean = np.zeros(n_features)
    below = np.zeros(1), np.zeros(1), np.zeros(1)
    for size, scores in enumerate(levels, start=1):
        sets = scores.subsets
        own = scores.score[cohort], scores.low[cohort], scores.high[cohort]
        numbers = np.empty(sets.shape)
        for index, ranks in enumerate(ranks_below(sets).T):
            numbers[:, index] = number(own, (below[0][ranks], below[1][ranks], below[2][ranks]))
        mean += _by_member(sets, numbers, n_features) / comb(n_features - 1, size - 1)
        below = own
    mean /= len(levels)
    return mean


def _by_member(sets: NDArray[np.integer], numbers: Floats, n_features: int) -> Floats:
    """The sum of numbers of sets and members, by member."""
    sums = np.zeros(n_features)
    for members, each in zip(sets.T, numbers.T, strict=True):
        sums += np.bincount(members, weights=each, minlength=n_features)
    return sums


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

    return of_each_subgroup(selection, names, COMPARING, of_subgroup)
