from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from misfeat.words.numbers import percent, percent_between, score_words

SHARES = st.floats(0, 1)


@given(SHARES, SHARES, SHARES)
def test_what_is_shown_is_right_to_its_last_digit(share, low, high):
    low, high = sorted((low, high))
    told = percent(share, low, high)
    if not told.startswith("under"):
        number = told.removesuffix(" %")
        unit = 10.0 ** -len(number.partition(".")[2])
        assert abs(float(number) - 100 * share) <= unit / 2 + 1e-9


@given(st.floats(0, 0.98), st.floats(0.0201, 1))
def test_wide_intervals_leave_no_decimals(low, width):
    assert "." not in percent_between(low, low + width)


@given(SHARES, st.floats(1e-6, 1e-3))
def test_narrow_intervals_leave_decimals(share, width):
    assert re.fullmatch(r"\d+\.\d\d? %", percent(share, share, share + width)) or share < 1e-4


@given(SHARES)
def test_a_score_that_is_known_has_four_decimals(score):
    assert len(score_words(score, score, score).partition(".")[2]) == 4


def test_nothing_has_no_sign():
    assert percent_between(-0.07, -0.0004) == "-7–0 %"
