from __future__ import annotations

import sys

import pytest

from tests.attacks.forged import forged

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and limits processes")


def test_some_forged_and_damaged_selections_are_refused_or_answer():
    tally = forged(60, seed=2)
    assert tally.n_cases == 60
    assert tally.wrong == []
    assert tally.outcomes["forged, refused"] > 20


@pytest.mark.attack
def test_forged_and_damaged_selections_are_refused_or_answer():
    assert forged(1000, seed=3).wrong == []
