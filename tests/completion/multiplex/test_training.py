from __future__ import annotations

import numpy as np

from misfeat.completion.multiplex.training import masks_of


def test_masks_hide_allowed_features_only_and_leave_each_somewhere():
    rng = np.random.default_rng(0)
    missing = rng.random((4, 7)) < 0.3
    allowed = np.array([True, True, True, True, False, False, False])
    for mask in masks_of(missing, allowed, 30, (0.2, 0.9), rng):
        assert not mask[:, ~allowed].any()
        assert not (mask & missing).any()
        left = ~missing & ~mask
        assert left.any(axis=0)[(~missing).any(axis=0)].all()
        assert left.any(axis=1)[(~missing).any(axis=1)].all()
