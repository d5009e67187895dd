"""Subgroups by features: what each feature tells by itself, in an order that shows patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.selection.against_chance import LEVEL
from misfeat.show.seriation import side_by_side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.selection.chance_tests import ChanceTests
    from misfeat.selection.selection import Selection

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """What every feature tells by itself in every subgroup, in shares of what there is to tell."""

    subgroups: tuple[int, ...]
    features: tuple[int, ...]
    """Their numbers, in the order in which they are shown: features by what they tell over all
    subgroups, subgroups that look alike side by side.
    """
    share: Floats
    low: Floats
    high: Floats
    """In the order of the table, with intervals. Of shape (n_subgroups, n_features)."""
    predicted: NDArray[np.bool_]
    """Where the subgroup did not record the feature. Of the same shape."""
    faded: NDArray[np.bool_]
    """Where it is not more than chance: by its p-value among single features and that of its
    subgroup, or where there is none, by an interval that begins at nothing. Of the same shape.
    """


def feature_map(
    selection: Selection, single: ChanceTests | None = None, tests: ChanceTests | None = None
) -> FeatureMap:
    """What single features tell."""
    scores, measure = selection.completed(1), selection.book.measure
    order = np.argsort(scores.subsets[:, 0])
    whole = np.where(measure.whole > 0, measure.whole, np.inf)[:, None]
    share, low, high = (held[:, order] / whole for held in (scores.score, scores.low, scores.high))
    predicted = selection.missing
    faded = low <= 0
    if single is not None and tests is not None:
        nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
        faded = np.where(predicted, faded, ~(single.p_values[1][:, order] <= LEVEL) | nothing)
    return FeatureMap(
        subgroups=tuple(side_by_side(share).tolist()),
        features=tuple(np.argsort(-share.mean(axis=0), kind="stable").tolist()),
        share=share,
        low=low,
        high=high,
        predicted=predicted,
        faded=faded,
    )
