"""Scores without any sharing between sets, which the paper compares entropy sharing with."""

from __future__ import annotations

import time
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from misfeat.lattice import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts import Cohort, Cohorts

MOST_TIMED = 300
"""Sets of a size and subgroup that are scored; the time is scaled to all of them."""


def score_from_scratch(cohort: Cohort, subset: NDArray[np.integer]) -> float:
    """I(S; Y) = H(S) + H(Y) - H(S, Y) of one set, in nats, by counting its rows anew."""
    lines = [*cohort.codes[subset].astype(np.int64), cohort.target.astype(np.int64)]
    cells = np.zeros(len(lines[0]), dtype=np.int64)
    for line in lines[:-1]:
        _, cells = np.unique(cells * (line.max() + 2) + line + 1, return_inverse=True)
    classes = lines[-1]
    pairs = cells * (classes.max() + 1) + classes
    return (
        _entropy(cells, cohort.weights)
        + _entropy(classes, cohort.weights)
        - _entropy(pairs, cohort.weights)
    )


def scratch_seconds(cohorts: Cohorts, largest: int) -> float:
    """Seconds to score all sets of up to `largest` features of all subgroups, each by itself."""
    rng = np.random.default_rng(0)
    n_features = len(cohorts.features)
    seconds = 0.0
    for cohort in cohorts:
        for size in range(1, largest + 1):
            subsets = level(n_features, size)
            timed = min(MOST_TIMED, len(subsets))
            chosen = rng.choice(len(subsets), size=timed, replace=False)
            start = time.perf_counter()
            for subset in subsets[chosen]:
                score_from_scratch(cohort, subset)
            seconds += (time.perf_counter() - start) * comb(n_features, size) / timed
    return seconds


def _entropy(keys: NDArray[np.integer], weights: NDArray[np.integer]) -> float:
    counts = np.bincount(keys, weights)
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
