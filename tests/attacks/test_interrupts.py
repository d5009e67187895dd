from __future__ import annotations

import pytest

from tests.attacks.interrupts import attack


@pytest.mark.attack
def test_ctrl_c_is_never_lost():
    tally = attack(22, seed=7)
    assert tally.n_wrong == 0, tally.wrong
    assert tally.n_cases == 22
