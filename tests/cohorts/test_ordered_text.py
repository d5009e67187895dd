import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.ordered_text import natural_order


def ordered(labels):
    return [labels[position] for position in natural_order(labels)]


@pytest.mark.parametrize(
    "expected",
    [
        ["c1", "c2", "c10", "d1"],
        ["ward 2a", "ward 2b", "ward 10a"],
        ["-10", "-2", "0.5", "3", "20"],
        ["<18", "18-39", "40-99", "100+"],
        ["under 5", "5 to 9", "10 to 14", "15 and over"],
        ["(-inf, 4.5]", "(4.5, 10]", "(10, inf]"],
        ["<=40", "40", "40-60", ">60"],
        ["A", "B", "a", "b"],
        ["", "9 lives", "10"],
    ],
)
def test_names_come_as_people_expect_them(expected):
    assert ordered(sorted(expected)) == expected
    shuffled = expected.copy()
    random.Random(0).shuffle(shuffled)
    assert ordered(shuffled) == expected


@given(st.lists(st.integers(-(10**30), 10**30), unique=True), st.sampled_from(["", "c"]))
def test_numbers_in_names_are_ordered_as_numbers(numbers, before):
    if before:
        numbers = [abs(number) for number in dict.fromkeys(map(abs, numbers))]
    assert ordered([f"{before}{n}" for n in numbers]) == [f"{before}{n}" for n in sorted(numbers)]
