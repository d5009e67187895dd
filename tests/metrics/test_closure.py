from __future__ import annotations

import numpy as np
import pytest

from misfeat.lattice import level, ranks_below
from misfeat.metrics.closure import share_closed


def test_scores_that_grow_with_size_are_closed():
    parts = np.array([[0.1, 0.2, 0.3]])
    assert share_closed(np.array([[0.2, 0.3, 0.3]]), parts, ranks_below(level(3, 2))) == 1


def test_every_pair_in_which_the_set_scores_lower_counts():
    parts = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 0.0]])
    scores = np.array([[0.15, 0.05, 0.3], [0.0, 0.0, 0.0]])
    assert share_closed(scores, parts, ranks_below(level(3, 2))) == pytest.approx(9 / 12)


def test_a_tolerance_forgives_rounding():
    pair, parts, parts_of = np.array([[0.3]]), np.array([[0.3 + 1e-14, 0.1]]), np.array([[0, 1]])
    assert share_closed(pair, parts, parts_of) == 0.5
    assert share_closed(pair, parts, parts_of, tolerance=1e-12) == 1
