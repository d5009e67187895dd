from __future__ import annotations

import numpy as np
import pytest

from benchmarks.completion.hiding import Truth
from misfeat.cohorts import Coding, build_cohorts
from misfeat.completion import TransferCompleter


def test_an_unrecorded_feature_of_many_categories_is_guessed_from_scores():
    rng = np.random.default_rng(0)
    n = 6000
    value, site = rng.integers(0, 100, n), rng.integers(0, 3, n)
    other = rng.integers(0, 3, n)
    y = (rng.random(n) < 0.8 * rng.random(100)[value] + 0.05 * other).astype(int)
    columns = {"many": [f"v{v}" for v in value], "other": other, "y": y, "site": site}
    cohorts = build_cohorts(columns, "y", groups="site", coding=Coding(max_categories=200))
    truth = Truth.of(cohorts, 2)
    mask = np.zeros((3, 2), dtype=bool)
    mask[0, 0] = True
    for size in (1, 2):
        completed = TransferCompleter(confidence=None).complete(truth.hidden(mask), size)
        assert completed.score[0] == pytest.approx(truth.exact.by_size[size][0], rel=0.15)
