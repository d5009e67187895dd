"""Messages, numbers and names as users read them."""

import json
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.exceptions import MisfeatError
from misfeat.messages import Message, Setting, visible, visible_json
from misfeat.number_formatting import (
    count_words,
    joined,
    p_words,
    percent,
    percent_between,
    score_words,
)


def told(setting):
    return f"<{setting.parameter}>"


def test_a_message_is_told_with_other_words_for_its_parameters():
    message = Message("{size} is more than {n}.", size=Setting("size", 9), n=2)
    assert message == "size=9 is more than 2."
    assert message.told(told) == "<size> is more than 2."


def test_a_parameter_in_an_f_string_stays_one():
    message = Message(f"{Setting('size', 9)} is more than {2}; lower {Setting('size')}.")
    assert message == "size=9 is more than 2; lower size."
    assert message.told(told) == "<size> is more than 2; lower <size>."
    assert message.settings == (Setting("size", 9), Setting("size"))


def test_values_that_cannot_be_written_down_are_shown():
    message = Message(f"{Setting('costs', [object()] * 99)} is odd, {Setting('k', float('nan'))}.")
    assert message == "costs=a list of 99 is odd, k=nan."


def test_private_characters_of_others_are_text():
    assert Message("\ue000x\ue001 and \ue000") == "x and \ue000"


def test_messages_within_messages_are_told_too():
    inner = Message("Lower {size}.", size=Setting("size"))
    outer = Message("Not shown. {why}", why=inner) + inner
    assert outer == "Not shown. Lower size.Lower size."
    assert outer.told(told) == "Not shown. Lower <size>.Lower <size>."


def test_names_in_braces_are_text():
    message = Message("{column!r} is {{unknown}}; use {size}.", column="{x}", size=Setting("size"))
    assert message == "'{x}' is {unknown}; use size."


def test_an_error_carries_what_it_is_about():
    bins = Setting("bins", 1, "age")
    error = MisfeatError(f"{bins} is too few.", remedy="Raise it.")
    assert (error.parameter, error.column, error.value) == ("bins", "age", 1)
    assert str(error) == "bins={'age': 1} is too few. Raise it."
    assert error.remedy == "Raise it."


def test_a_message_can_be_pickled():
    message = Message("{size} is odd.", size=Setting("size", 9))
    again = pickle.loads(pickle.dumps(message))  # noqa: S301
    assert again == message
    assert again.told(told) == "<size> is odd."


def test_a_very_long_name_does_not_make_a_very_long_message():
    message = Message("There is no {column!r}; {why}", column="x" * 10**6, why=Message("Look."))
    assert len(message) < 2000
    assert message.startswith("There is no 'xxx")
    assert message.endswith("xxx…'; Look.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Süd-Ost, 東, \N{GRINNING FACE}", "Süd-Ost, 東, \N{GRINNING FACE}"),
        ("\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}", "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}"),
        ("a\N{NO-BREAK SPACE}b", "a\N{NO-BREAK SPACE}b"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x9b1m\x7f", r"\x9b1m\x7f"),
        ("\u202eabc\u2028", r"\u202eabc\u2028"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text, shown):
    assert visible(text) == shown


def test_json_stays_the_same_data():
    held = {"a\x9b": "\u202e\ud800\U000e0041", "b": "\N{GRINNING FACE}"}
    line = visible_json(json.dumps(held, ensure_ascii=False))
    assert line.isprintable()
    assert json.loads(line) == held


def test_messages_show_what_they_are_about():
    message = Message("{name} and {column!r}.", name="\x1b[1m", column="\x1b[2m")
    assert message == r"\x1b[1m and '\x1b[2m'."
    assert message.told(str) == message


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


def test_every_name_is_a_part_of_its_own():
    assert list(joined(["a", "b", "c"]).about.values()) == ["a", "b", "c"]


def test_braces_in_names_are_text():
    assert joined(["{0}", "{name1}"]) == "{0} and {name1}"


def test_one_name_too_many_is_named_rather_than_counted():
    assert joined(list("abcdef"), most=5) == "a, b, c, d, e and f"


def test_numbers_have_the_digits_that_their_interval_leaves():
    assert percent(0.412, 0.24, 0.57) == "41 %"
    assert percent(0.0412, 0.036, 0.046) == "4.1 %"
    assert percent(0.003, 0.0, 0.05) == "under 1 %"
    assert percent_between(0.0412, 0.0455) == "4.1–4.5 %"
    assert score_words(0.12345, 0.05, 0.21) == "0.12"
