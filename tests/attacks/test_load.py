from __future__ import annotations

import random

import pytest

from tests.attacks.load import fit_at_once, fit_for_long, slope
from tests.attacks.tally import Tally


def test_the_slope_of_growth_is_seen_above_its_noise():
    growth, error = slope([0, 1000, 2000, 3000], [10.0, 30.1, 49.9, 70.0])
    assert growth == pytest.approx(20, abs=0.2)
    assert error < 0.2


@pytest.mark.attack
def test_fits_at_once_answer_as_one_does():
    tally = Tally("load", "")
    fit_at_once(tally, 10, random.Random(0))
    assert tally.n_wrong == 0, tally.wrong
    assert tally.n_cases == 20


@pytest.mark.attack
def test_memory_does_not_grow_with_fits():
    tally = Tally("load", "")
    said = fit_for_long(tally, 200)
    assert tally.n_wrong == 0, said
