from __future__ import annotations

import sys

import pytest

from tests.attacks.threads import threads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and limits processes")


def test_who_saves_at_the_same_time_loses_nothing():
    tally = threads(2, seed=2)
    assert tally.n_cases == 2
    assert tally.wrong == []
