from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from misfeat.words import count_words, joined, p_words, percent, percent_between, score_words

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


def test_p_values_and_counts_are_rounded():
    assert [p_words(p) for p in (0.0312, 0.001, 0.2)] == ["p = 0.031", "p ≤ 0.001", "p = 0.20"]
    assert (p_words(0.005, 199), p_words(0.02, 199, unadjusted=0.005)) == ("p ≤ 0.005", "p ≤ 0.020")
    assert [count_words(n, "row") for n in (1, 1200)] == ["1 row", "1,200 rows"]
    assert count_words(2, "class", "classes") == "2 classes"


def test_every_name_is_a_part_of_its_own():
    assert list(joined(["a", "b", "c"]).about.values()) == ["a", "b", "c"]


def test_braces_in_names_are_text():
    assert joined(["{0}", "{name1}"]) == "{0} and {name1}"


def test_what_commands_a_terminal_is_shown():
    assert joined(["a\x1b[31m", "b"]) == "a\\x1b[31m and b"


def test_one_name_too_many_is_named_rather_than_counted():
    assert joined(list("abcdef"), most=5) == "a, b, c, d, e and f"


def test_numbers_have_the_digits_that_their_interval_leaves():
    assert percent(0.412, 0.24, 0.57) == "41 %"
    assert percent(0.0412, 0.036, 0.046) == "4.1 %"
    assert percent(0.003, 0.0, 0.05) == "under 1 %"
    assert percent_between(0.0412, 0.0455) == "4.1–4.5 %"
    assert score_words(0.12345, 0.05, 0.21) == "0.12"
