"""Subgroups by features: what each feature tells by itself, in an order that shows patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.selection.selection import Selection

    Floats = NDArray[np.float64]

MOST_ORDERED = 2_000
"""Subgroups up to which those that look alike are put side by side."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature tells by itself in every subgroup, in shares of what there is to tell.

    Attributes
    ----------
    subgroups, features : tuple of int
        Their numbers, in the order in which they are shown: features by what they tell over all
        subgroups, subgroups that look alike side by side.
    share, low, high : ndarray of shape (n_subgroups, n_features)
        In the order of the table, with intervals.
    predicted : ndarray of bool of the same shape
        Where the subgroup did not record the feature.
    faded : ndarray of bool of the same shape
        Where it is not more than chance: by its p-value, or where there is none, by an interval
        that begins at nothing.
    """

    subgroups: tuple[int, ...]
    features: tuple[int, ...]
    share: Floats
    low: Floats
    high: Floats
    predicted: NDArray[np.bool_]
    faded: NDArray[np.bool_]


def feature_map(selection: Selection, level: float = 0.05) -> FeatureMap:
    """What single features tell; p-values are used where tests were made.

    Parameters
    ----------
    selection : Selection
        What a fit found.
    level : float, default=0.05
        P-values up to this one count as more than chance.
    """
    scores, measure = selection.completed(1), selection.book.measure
    order = np.argsort(scores.subsets[:, 0])
    whole = np.where(measure.whole > 0, measure.whole, np.inf)[:, None]
    share, low, high = (held[:, order] / whole for held in (scores.score, scores.low, scores.high))
    predicted = selection.missing
    faded = low <= 0
    tests = selection.known_tests
    if tests is not None and 1 in tests.p_values:
        faded = np.where(predicted, faded, ~(tests.p_values[1][:, order] <= level))
    return FeatureMap(
        subgroups=tuple(_alike(share)),
        features=tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist()),
        share=share,
        low=low,
        high=high,
        predicted=predicted,
        faded=faded,
    )


def _alike(share: Floats) -> list[int]:
    """Subgroups in an order in which those that look alike are neighbours, most telling first."""
    n = len(share)
    by_mean: list[int] = np.argsort(-share.mean(axis=1), kind="stable").tolist()
    if not 3 <= n <= MOST_ORDERED:
        return by_mean
    found: list[int] = leaves_list(linkage(share, "average", optimal_ordering=n <= 300)).tolist()
    return found if share[found[0]].mean() >= share[found[-1]].mean() else found[::-1]
