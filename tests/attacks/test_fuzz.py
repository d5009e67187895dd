import pytest

from tests.attacks.fuzz import attack

CASES = 2_000


@pytest.mark.attack
def test_two_thousand_drawn_cases_end_as_they_may():
    tally = attack(CASES, 1)
    assert tally.n_cases >= CASES
    assert not tally.n_wrong, tally.wrong
