from __future__ import annotations

import sys

import pytest

from tests.attacks.kills import kills

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks and limits processes")


@pytest.mark.attack
def test_some_kills_leave_the_old_run_or_the_new_one():
    tally = kills(12, seed=2)
    assert tally.n_cases == 12
    assert tally.wrong == []


@pytest.mark.attack
def test_many_kills_leave_the_old_run_or_the_new_one():
    assert kills(60, seed=3).wrong == []
