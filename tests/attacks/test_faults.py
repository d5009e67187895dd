from __future__ import annotations

import pytest

from tests.attacks.faults import attack


@pytest.mark.attack
def test_faults_of_the_machine_end_in_one_line_and_lose_nothing():
    tally = attack(5, seed=3)
    assert tally.n_wrong == 0, tally.wrong
    assert tally.n_cases >= 3  # without the right to mount, two kinds are left out
