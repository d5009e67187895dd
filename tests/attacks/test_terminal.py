from __future__ import annotations

import pytest

from tests.attacks.terminal import attack


def test_a_few_commands_to_a_terminal_do_not_reach_it():
    tally = attack(12, seed=2)
    assert not tally.wrong


@pytest.mark.attack
def test_commands_to_a_terminal_do_not_reach_it():
    assert not attack(120, seed=3).wrong
