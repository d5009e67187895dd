from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.parsed_text import bounded_numbers, number_style


def read(*texts: str, decimal: str | None = None) -> list[float | None] | None:
    style = number_style(Counter(texts), decimal)
    return None if style is None else [style.read(text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$16,818", "$900", "$1,234,567.50"], [16818, 900, 1234567.5]),
        (["12.2%", "5 %", "-3.1%"], [12.2, 5, -3.1]),
        (["1.234,56", "12,5", "1.000.000,00"], [1234.56, 12.5, 1e6]),
        (["12 kg", "1 kg", "7kg"], [12, 1, 7]),
        (["36 months", "60 months", "1 month"], [36, 60, 1]),
        (["(250)", "1,200.5", "($5)"], [-250, 1200.5, -5]),
        (["€ 1.200", "€ 15,50"], [1200, 15.5]),
        (["1 234,5", "12\N{NO-BREAK SPACE}345,1"], [1234.5, 12345.1]),
        (["-$5.20", "$-3", "+$4"], [-5.2, -3, 4]),
        (["$1.2k", "$3M", "$900"], [1200, 3e6, 900]),
        (["1.2 million", "3 billion"], [1.2e6, 3e9]),
        (["1,23,456", "5,00,000"], [123456, 500000]),
        (["1'234.5", "12"], [1234.5, 12]),
        (["\N{MINUS SIGN}5", "3"], [-5, 3]),
        (["12 EUR", "7 EUR"], [12, 7]),
        (["98.6°F", "100 °F"], [98.6, 100]),
        (["0,123", "0,5"], [0.123, 0.5]),
        (["1e5", "2.5E-3", ".5", "5."], [1e5, 0.0025, 0.5, 5]),
    ],
)
def test_numbers_are_read_as_people_write_them(texts, numbers):
    assert read(*texts) == numbers


@pytest.mark.parametrize(
    "texts",
    [
        ["A12", "A13"],
        ["Stage 1", "Stage 2"],
        ["02134", "10001"],
        ["10-20", "20-30"],
        ["555-1234"],
        ["2019-03-02"],
        ["1.2.3"],
        ["12 (about)"],
        ["(5", "3)"],
        ["--5"],
        ["inf", "nan"],
        ["yes", "no"],
    ],
)
def test_codes_ranges_and_words_are_no_numbers(texts):
    assert read(*texts) is None


def test_of_two_units_the_one_of_most_rows_is_read():
    assert read("12 kg", "13 kg", "3 lb") == [12, 13, None]


def test_marks_that_could_mean_either_are_said_to():
    assert number_style({"1,234": 1, "2,500": 1}).doubtful == "1,234"
    assert number_style({"1.234": 1, "2.500": 1}).doubtful == "1.234"
    assert number_style({"1,234": 1, "250": 1}).doubtful == ""
    assert number_style({"1,234": 1, "2.5": 1}).doubtful == ""
    assert number_style({"$1,234": 1}).doubtful == ""


def test_a_user_may_say_which_mark_is_the_decimal_one():
    assert read("1,234", "250", decimal=",") == [1.234, 250]


def test_bounds_lie_beside_their_numbers():
    found = bounded_numbers({"< 1 year": 2, "1 year": 1, "2 years": 1, "10+ years": 4})
    assert sorted(found, key=found.get) == ["< 1 year", "1 year", "2 years", "10+ years"]
    assert bounded_numbers({"1 year": 1}) is None


STYLES = {
    "plain": lambda n: f"{n:.2f}",
    "currency": lambda n: f"-${-n:,.2f}" if n < 0 else f"${n:,.2f}",
    "brackets": lambda n: f"({-n:,.2f})" if n < 0 else f"{n:,.2f}",
    "decimal comma": lambda n: f"{n:_.2f}".replace(".", ",").replace("_", "."),
    "blanks": lambda n: f"{n:_.2f}".replace("_", "\N{NARROW NO-BREAK SPACE}"),
    "per cent": lambda n: f"{n:.2f} %",
    "unit": lambda n: f"{n:,.2f} km/h",
}


@given(
    st.sampled_from(list(STYLES)),
    st.lists(st.integers(-(10**10), 10**10), min_size=1, max_size=20).map(
        lambda whole: [n / 100 for n in whole]
    ),
)
def test_what_is_written_is_read_back(style, numbers):
    assert read(*map(STYLES[style], numbers)) == numbers


@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_text_is_read_as_a_number_or_not_at_all(texts):
    for style in (number_style(Counter(texts)), number_style(Counter(texts), ",")):
        numbers = [None] if style is None else [style.read(text) for text in texts]
        assert all(number is None or isinstance(number, float) for number in numbers)
