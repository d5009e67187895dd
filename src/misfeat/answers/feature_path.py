"""The path of a subgroup: features in the order in which they add most (`Selection.path`).

A path grows by the feature (or the interaction) that adds most to what is chosen already.
"""

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from misfeat.answers.selection_base import (
    FitResult,
    checked_size,
    explainable_subgroups,
    included_features,
)
from misfeat.estimation.search import forward_path
from misfeat.runtime.progress import long_work

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


def path_steps(selection: FitResult, subgroup: str | None, size: int | None) -> list[PathStep]:
    """Features in the order in which they add, subgroup by subgroup (`Selection.path`)."""
    n_features = len(selection.feature_names)
    most = min(LONGEST, n_features) if size is None else checked_size(selection, size)
    names = explainable_subgroups(selection, subgroup)
    return [step for name in names for step in _steps_of(selection, name, most)]


def _steps_of(selection: FitResult, subgroup: str, most: int) -> list[PathStep]:
    names, confidence = selection.feature_names, selection.confidence
    cohort = selection.cohorts.position(subgroup)
    with long_work(selection.verbose > 0) as progress:
        listed = selection.set_scores.listed(progress)
    start, every = included_features(selection, most), range(len(names))
    path = forward_path(
        lambda sets: listed.of(sets)[0][cohort], every, most, listed.together, start
    )
    sets = [np.sort(np.array([path[:n]])) for n in range(1, len(path) + 1)]
    means, errors = zip(*map(listed.of, sets), strict=True)
    score = np.maximum.accumulate([mean[cohort, 0] for mean in means])  # no step lowers it
    adds = np.diff(score, prepend=0.0)
    reach = adds_reach = np.full(len(path), np.inf)
    if confidence is not None:
        width = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
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
    return [
        PathStep(
            subgroup=subgroup,
            step=index + 1,
            feature=names[feature],
            share=float(score[index]) / entropy,
            source="predicted" if lacking[index] else "recorded",
            enough=index < enough,
            **{name: float(values[index]) for name, values in numbers.items()},
        )
        for index, feature in enumerate(path)
    ]
