from __future__ import annotations

import pytest

from tests.attacks.parquet_flips import attack


def test_a_few_damaged_files_are_refused_by_name_or_read_as_they_were():
    tally = attack(25, seed=2)
    assert not tally.wrong
    assert tally.outcomes["refused clearly"] >= 10


@pytest.mark.attack
def test_damaged_files_are_refused_by_name_or_read_as_they_were():
    assert not attack(200, seed=3).wrong
