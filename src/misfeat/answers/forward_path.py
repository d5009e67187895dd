"""The path: features in the order in which they add, and where to stop.

A path grows by the feature (or the interaction) that adds most to what is chosen already.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.answers.options import checked_size, explainable_subgroups, included_features
from misfeat.estimation.search import forward_path
from misfeat.runtime.progress import long_work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.estimation.listed_scores import ListedScores
    from misfeat.selection import Selection

LONGEST = 20  # features of a path, unless asked for otherwise
LEAST_ADDED = 0.01  # a step that adds a smaller share of the target's entropy is not worth taking


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
    names, confidence = selection.feature_names, selection.confidence
    most = min(LONGEST, len(names)) if size is None else checked_size(selection, size)
    steps: list[PathStep] = []
    for subgroup_name in explainable_subgroups(selection, subgroup):
        cohort = selection.cohorts.position(subgroup_name)
        with long_work(selection.verbose > 0) as progress:
            listed = selection.set_scores.listed(progress)
        only = np.eye(len(selection.cohorts))[cohort]
        path = best_path(listed, len(names), most, only, included_features(selection, most))
        sets = [np.sort(np.array([path[:n]])) for n in range(1, len(path) + 1)]
        means, errors = zip(*map(listed.of, sets), strict=True)
        score = np.maximum.accumulate([mean[cohort, 0] for mean in means])  # no step lowers it
        adds = np.diff(score, prepend=0.0)
        reach = adds_reach = np.full(len(path), np.inf)
        if confidence is not None:
            width = float(ndtri((1.0 + confidence) / 2.0))
            gains = [listed.deviation_of_gain(*pair)[cohort, 0] for pair in pairwise(sets)]
            reach = width * np.array([error[cohort, 0] for error in errors])
            adds_reach = width * np.array([errors[0][cohort, 0], *gains])
        numbers = {
            "score": score,
            "low": score - reach,
            "high": score + reach,
            "adds": adds,
            "adds_low": adds - adds_reach,
            "adds_high": adds + adds_reach,
        }
        for name in ("low", "high", "adds_low", "adds_high"):
            numbers[name] = np.clip(numbers[name], 0.0, float(listed.ceiling[cohort]))
        entropy = float(selection.set_scores.measure.whole[cohort])
        # Worth taking are steps up to the last that adds a share worth having, for sure.
        sure = (numbers["adds_low"] > 0) | (confidence is None)
        worth = np.flatnonzero(sure & (adds >= LEAST_ADDED * entropy))
        enough = int(worth[-1]) + 1 if len(worth) else 1
        lacking = np.logical_or.accumulate(selection.missing[cohort, path])
        steps += [
            PathStep(
                subgroup=subgroup_name,
                step=index + 1,
                feature=names[feature],
                share=float(score[index]) / entropy,
                source="predicted" if lacking[index] else "recorded",
                enough=index < enough,
                **{name: float(values[index]) for name, values in numbers.items()},
            )
            for index, feature in enumerate(path)
        ]
    return steps


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
