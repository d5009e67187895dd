from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.model import CompletedScores
from misfeat.lattice import level
from misfeat.selection.contrasts import Contrasts
from misfeat.selection.interacting import interactions_of


def scores(size, values, reach):
    score = np.array([values], dtype=float)
    flags = np.zeros(score.shape, dtype=bool), np.full(score.shape, 4, dtype=np.int8)
    return CompletedScores(level(3, size), score, score - reach, score + reach, *flags)


def found_with(reach):
    levels = scores(1, [0.1, 0.2, 0.3], reach), scores(2, [0.5, 0.3, 0.5], reach)
    by_size = dict(enumerate(levels, start=1))
    asked = Contrasts(by_size.__getitem__, np.zeros((1, 3), dtype=bool), None, None)
    return interactions_of(levels, 0, ("all rows", "abc"), asked)


def test_the_strongest_interaction_comes_first():
    found = found_with(reach=0.01)
    assert [(one.feature, one.other, one.kind) for one in found] == [
        ("a", "b", "synergy"),
        ("a", "c", "redundancy"),
        ("b", "c", "unclear"),
    ]
    assert [one.interaction for one in found] == pytest.approx([0.2, -0.1, 0.0], abs=1e-12)
    assert found[0].low == pytest.approx(0.17)


def test_wide_intervals_leave_everything_unclear():
    assert {one.kind for one in found_with(reach=0.1)} == {"unclear"}
