"""What features are worth to a subgroup: alone, and joined to others.

The share, or Shapley value, of a feature in a set is what it adds to a part of the rest of the set,
averaged over the sizes of parts and over all parts of a size, exact from the lattice. Those of all
features of a set add up to its score. Of pairs of features, what they explain together beyond what
each explains alone: synergy, or redundancy below 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from misfeat.answers.selection_base import (
    FitResult,
    explainable_subgroups,
    level_size,
    of_each_subgroup,
    set_members,
    shown_scores,
)
from misfeat.answers.set_contrasts import SHARED_ERROR, Estimated, contrasts_of
from misfeat.answers.top_sets import best_sets
from misfeat.completion import CompletedScores
from misfeat.lattice.levels import rank, ranks_below
from misfeat.runtime.array_types import Floats

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
    selection: FitResult, subgroup: str | None = None, size: int | None = None
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
        means = mean_shares(levels, cohort, contrasts.confidence, least)
        values = []
        for feature in np.argsort([-mean.value for mean in means], kind="stable").tolist():
            (alone,) = contrasts.of(cohort, [(feature,)], [[1.0]])
            with_it = shown.subsets[(shown.subsets == feature).any(axis=1)]
            to: tuple[int, ...] = ()
            adds = Estimated(*[float("nan")] * 3)
            if len(with_it):  # joined to the best set of others
                others = with_it[with_it != feature].reshape(len(with_it), size - 1)
                below = levels[size - 2].score[cohort, rank(others)] if size > 1 else np.zeros(1)
                index = int(np.argmax(below))
                joined, to = (tuple(one[index].tolist()) for one in (with_it, others))
                (adds,) = contrasts.of(cohort, [joined, to], [[1.0, -1.0]], least)
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

    return of_each_subgroup(selection, names, "Valuing features", of_subgroup)


def shapley_values(
    selection: FitResult, subgroup: str, features: Sequence[str]
) -> dict[str, Estimated]:
    """The Shapley values of the features of a set, by name; they add up to its score."""
    members, cohort = set_members(selection, features), selection.cohorts.position(subgroup)
    contrasts, least = contrasts_of(selection), _least_added(selection)
    shares = contrasts.of(cohort, parts_of(members), shapley_weights(members), least)
    return dict(zip((selection.feature_names[m] for m in members), shares, strict=True))


def _least_added(selection: FitResult) -> float:
    """What a feature adds at least: nothing, unless sets are scored on different rows."""
    scores = selection.set_scores
    return 0.0 if scores.estimate.above_chance or scores.measure.closed else float("-inf")


def mean_shares(
    levels: Sequence[CompletedScores], cohort: int, confidence: float | None, least: float
) -> list[Estimated]:
    """The mean Shapley value of every feature over all sets of a size that hold it."""
    # Every part of a size that lacks the feature is a part of equally many of these sets. So the
    # mean is that of what the feature adds to all of them, averaged over sizes; so are its bounds.
    # `levels` are all sets of size 1, 2 and so on.

    def bounds(own: Floats, part: Floats) -> tuple[Floats, Floats]:
        """Of what is added, or how far they reach to either side."""
        if confidence is None:
            return own[1] - part[2], own[2] - part[1]
        reaches = (own[0] - own[1], part[2] - part[0]), (own[2] - own[0], part[0] - part[1])
        low, high = (np.sqrt(a**2 + b**2 - 2 * SHARED_ERROR * a * b) for a, b in reaches)
        return low, high

    n_features = len(levels[0].subsets)
    means, below = np.zeros((3, n_features)), np.zeros((3, 1))
    without = np.zeros(n_features)  # the mean of sets of the size before that lack each feature
    for size, scores in enumerate(levels, start=1):
        own = np.array([part[cohort] for part in (scores.score, scores.low, scores.high)])
        sums = np.zeros_like(means)
        for members, ranks in zip(scores.subsets.T, ranks_below(scores.subsets).T, strict=True):
            numbers = own[0], *bounds(own, below[:, ranks])
            for line, each in zip(sums, numbers, strict=True):
                line += np.bincount(members, weights=each, minlength=n_features)
        added = sums / comb(n_features - 1, size - 1)
        added[0] -= without
        means += added
        if size < n_features:
            without = (own[0].sum() - sums[0]) / comb(n_features - 1, size)
        below = own
    value, low, high = means / len(levels)
    if confidence is not None:
        low, high = value - low, value + high
    low = np.minimum(np.maximum(low, least), value)
    high = np.maximum(high, value)
    return [Estimated(*map(float, one)) for one in zip(value, low, high, strict=True)]


def parts_of(members: Sequence[int]) -> list[tuple[int, ...]]:
    """All parts of a set but the empty one, and the set itself."""
    return [part for size in range(1, len(members) + 1) for part in combinations(members, size)]


def shapley_weights(members: Sequence[int]) -> Floats:
    """What the score of every part counts in each Shapley value: (n_members, n_parts)."""
    size = len(members)
    parts = parts_of(members)
    joins = np.array([1.0 / (size * comb(size - 1, len(part) - 1)) for part in parts])
    lacks = np.array([-1.0 / (size * max(comb(size - 1, len(part)), 1)) for part in parts])
    held = np.array([[member in part for part in parts] for member in members])
    return np.where(held, joins, lacks)


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
