"""What each feature contributes to the score of a set: Shapley values, exact from the lattice.

The value of a feature in a set is what it adds to a part of the rest of the set, averaged over the
sizes of parts and over all parts of a size. Those of all features of a set add up to its score.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import ranks_below

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.completion import CompletedScores

    Floats = NDArray[np.float64]


def parts_of(members: Sequence[int]) -> list[tuple[int, ...]]:
    """All parts of a set but the empty one, and the set itself.

    Examples
    --------
    >>> parts_of([2, 5])
    [(2,), (5,), (2, 5)]
    """
    sizes = range(1, len(members) + 1)
    return [part for size in sizes for part in combinations(members, size)]


def shapley_weights(members: Sequence[int]) -> Floats:
    """What the score of every part of a set counts in the Shapley value of each of its features.

    Of shape (n_members, n_parts), parts as in `parts_of`.

    Examples
    --------
    >>> shapley_weights([2, 5])
    array([[ 0.5, -0.5,  0.5],
           [-0.5,  0.5,  0.5]])
    """
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

    Examples
    --------
    >>> from misfeat.lattice import level
    >>> mean_shares([np.array([0.2, 0.1]), np.array([0.5])], [level(2, 1), level(2, 2)])
    array([0.3, 0.2])
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
    number: Callable[[tuple[Floats, Floats, Floats], tuple[Floats, Floats, Floats]], Floats],
) -> Floats:
    """The mean of a number of every set and the same without a feature, by feature.

    Sets are averaged as in `mean_shares`: equally within a size, and sizes equally. `number` takes
    scores, low and high of sets, and of the same sets without one feature.
    """
    n_features = len(levels[0].subsets)
    mean = np.zeros(n_features)
    nothing = np.zeros(1)
    below = (nothing, nothing, nothing)
    for size, scores in enumerate(levels, start=1):
        sets = scores.subsets
        own = scores.score[cohort], scores.low[cohort], scores.high[cohort]
        parts = ranks_below(sets)
        numbers = np.empty(sets.shape)
        for place, ranks in enumerate(parts.T):
            numbers[:, place] = number(own, (below[0][ranks], below[1][ranks], below[2][ranks]))
        mean += _by_member(sets, numbers, n_features) / comb(n_features - 1, size - 1)
        below = own
    mean /= len(levels)
    return mean


def _by_member(sets: NDArray[np.integer], numbers: Floats, n_features: int) -> Floats:
    """The sum of numbers of sets and members, by member."""
    found = np.zeros(n_features)
    for members, each in zip(sets.T, numbers.T, strict=True):
        found += np.bincount(members, weights=each, minlength=n_features)
    return found
