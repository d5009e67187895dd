"""The path: features in the order in which they add, and where to stop.

A path grows by the feature (or the interaction) that adds most to what is chosen already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from misfeat.answers.options import checked_size, explainable_subgroups, included_features
from misfeat.estimation.search import forward_path
from misfeat.runtime.progress import long_work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.estimation.estimands import ListedScores
    from misfeat.selection import Selection

    Floats = NDArray[np.float64]

LONGEST = 20
"""Features of a path, unless told otherwise."""
LEAST_ADDED = 0.01
"""A step that adds a smaller share of the target's entropy is not worth taking."""


@dataclass(frozen=True)
class PathStep:
    """One step of a path; its attributes are the columns that `Selection.path` explains."""

    subgroup: str
    step: int
    feature: str
    score: float
    low: float
    high: float
    share: float
    adds: float
    adds_low: float
    adds_high: float
    source: str
    enough: bool


def path_steps(
    selection: Selection, subgroup: str | None = None, size: int | None = None
) -> list[PathStep]:
    """Features in the order in which they add, subgroup by subgroup (`Selection.path`)."""
    names = selection.feature_names
    most = min(LONGEST, len(names)) if size is None else checked_size(selection, size)
    found: list[PathStep] = []
    for subgroup_name in explainable_subgroups(selection, subgroup):
        cohort = selection.cohorts.position(subgroup_name)
        with long_work(selection.verbose > 0) as progress:
            listed = selection.set_scores.listed(progress)
        only = np.eye(len(selection.cohorts))[cohort]
        path = best_path(listed, len(names), most, only, included_features(selection, most))
        steps = steps_of(listed, path, cohort, selection.confidence)
        entropy = float(selection.set_scores.measure.whole[cohort])
        # Worth taking are steps up to the last that adds a share worth having, for sure.
        sure = (steps.adds_low > 0) | (selection.confidence is None)
        worth = np.flatnonzero(sure & (steps.adds >= LEAST_ADDED * entropy))
        enough = int(worth[-1]) + 1 if len(worth) else 1
        lacking = np.logical_or.accumulate(selection.missing[cohort, path])
        for index, feature in enumerate(path):
            numbers = {name: float(values[index]) for name, values in steps._asdict().items()}
            found.append(
                PathStep(
                    subgroup=subgroup_name,
                    step=index + 1,
                    feature=names[feature],
                    share=numbers["score"] / entropy,
                    source="predicted" if lacking[index] else "recorded",
                    enough=index < enough,
                    **numbers,
                )
            )
    return found


class Steps(NamedTuple):
    """The scores along a path, a number a step, from the first feature on."""

    score: Floats
    low: Floats
    high: Floats
    adds: Floats
    adds_low: Floats
    adds_high: Floats


def best_path(
    listed: ListedScores,
    n_features: int,
    most: int,
    cohorts: NDArray[np.floating],
    start: Sequence[int] = (),
) -> list[int]:
    """Features in the order in which they add most to the mean score, those of `start` first."""
    weights = cohorts / cohorts.sum()
    return forward_path(
        lambda sets: weights @ listed.of(sets)[0], range(n_features), most, listed.together, start
    )


def steps_of(
    listed: ListedScores, path: Sequence[int], cohort: int, confidence: float | None
) -> Steps:
    """What the features of a path explain and add in a subgroup; no step lowers a score."""
    found = [listed.of(np.sort(np.array([path[:size]]))) for size in range(1, len(path) + 1)]
    score = np.maximum.accumulate([mean[cohort, 0] for mean, _ in found])
    deviation = np.array([error[cohort, 0] for _, error in found])
    most = float(listed.ceiling[cohort])
    reach = np.full(len(path), np.inf)
    added_reach = reach.copy()
    if confidence is not None:
        width = float(ndtri((1.0 + confidence) / 2.0))
        reach = width * deviation
        sets = [np.sort(np.array([path[:size]])) for size in range(1, len(path) + 1)]
        added = [listed.deviation_of_gain(part, whole)[cohort, 0] for part, whole in pairwise(sets)]
        added_reach = width * np.array([deviation[0], *added])
    adds = np.diff(score, prepend=0.0)
    return Steps(
        score,
        np.clip(score - reach, 0.0, most),
        np.clip(score + reach, 0.0, most),
        adds,
        np.clip(adds - added_reach, 0.0, most),
        np.clip(adds + added_reach, 0.0, most),
    )
