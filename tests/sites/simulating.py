"""Noise for tests, drawn from a seed; what sites release is drawn by OpenDP."""

from __future__ import annotations

import numpy as np


def simulated(seed):
    rng = np.random.default_rng(seed)

    def draw(counts, scale, tables):
        del tables
        return counts + np.rint(rng.normal(0.0, scale, counts.shape)).astype(np.int64)

    return draw
