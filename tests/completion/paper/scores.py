"""Known scores that the tests of the paper's model learn from."""

from __future__ import annotations

import numpy as np

from misfeat.completion import ExactScores
from misfeat.lattice import level


def known_scores(n_features=7, n_cohorts=3, seed=0, reach=5):
    """Smooth, growing scores of which cohorts lack some features."""
    rng = np.random.default_rng(seed)
    missing = np.zeros((n_cohorts, n_features), dtype=bool)
    missing[np.arange(n_cohorts), np.arange(n_cohorts)] = True
    worth = rng.random((n_cohorts, n_features))
    by_size = [np.zeros((n_cohorts, 1))]
    for size in range(1, reach + 1):
        subsets = level(n_features, size)
        scores = 1 - np.exp(-0.3 * worth[:, subsets].sum(axis=2))
        by_size.append(np.where(missing[:, subsets].any(axis=2), np.nan, scores))
    return ExactScores(tuple(by_size), missing, np.ones(n_cohorts))
