from __future__ import annotations

import sys

import pytest

from tests.attacks.resumes import resumes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills processes")


@pytest.mark.attack
def test_runs_that_are_killed_go_on_to_the_same_result():
    tally = resumes(2, seed=5)
    assert tally.n_cases == 2
    assert tally.wrong == []
