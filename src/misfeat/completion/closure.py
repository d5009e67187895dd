"""Upward closure: no set scores lower than a part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.parts import best_below
from misfeat.lattice import level, ranks_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores

    Scores = NDArray[np.float64]


def ceilings(exact: ExactScores, size: int) -> Scores:
    """What each subset of a size cannot exceed: known scores of larger sets, and the ceiling."""
    n_features = exact.missing.shape[1]
    limits: Scores = np.broadcast_to(
        exact.ceiling[:, None], (len(exact.ceiling), exact.by_size[-1].shape[1])
    )
    for larger in range(len(exact.by_size) - 1, size, -1):
        known = exact.by_size[larger]
        limits = np.where(np.isnan(known), limits, known)
        below = np.repeat(exact.ceiling[:, None], exact.by_size[larger - 1].shape[1], axis=1)
        for part in ranks_below(level(n_features, larger)).T:
            np.minimum.at(below.T, part, limits.T)
        limits = below
    return limits


def closed_upwards(guesses: list[Scores], exact: ExactScores) -> list[Scores]:
    """Exact and predicted scores of all sizes together, changed as little as upward closure asks.

    Guesses, the first those of size 0, are read only where no exact score is; exact ones stay as
    they are.
    """
    n_features = exact.missing.shape[1]
    completed = [exact.by_size[0]]
    for size in range(1, len(guesses)):
        known = exact.by_size[size]
        if not exact.closed:
            bounded = np.clip(guesses[size], 0.0, exact.ceiling[:, None])
        else:
            least = best_below(completed[size - 1], n_features, size)
            bounded = np.maximum(np.minimum(guesses[size], ceilings(exact, size)), least)
        completed.append(np.where(np.isnan(known), bounded, known))
    return completed
