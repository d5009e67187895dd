"""Texts that stand for numbers or dates, as people write them."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.parsed_text import DAY_FIRST, MONTH_FIRST, SAMPLED, number_style, parse_text
from misfeat.reading.coders import Kind
from misfeat.reading.table_answers import ValueCounts


def counted(texts: list[str]) -> ValueCounts:
    values, counts = np.unique(np.array(texts, dtype=object), return_counts=True)
    return ValueCounts(values, counts, missing=0)


def read(*texts: str, decimal: str | None = None) -> list[float | None] | None:
    style = number_style(Counter(texts), decimal)
    return None if style is None else [style.read(text) for text in texts]


def dates(*texts: str, way: str = "date"):
    return parse_text(counted(list(texts)), way)[0]


NUMBERS = [
    (["$16,818", "$900", "$1,234,567.50"], [16818, 900, 1234567.5]),
    (["12.2%", "5 %", "-3.1%"], [12.2, 5, -3.1]),
    (["1.234,56", "12,5", "1.000.000,00"], [1234.56, 12.5, 1e6]),
    (["12 kg", "1 kg", "7kg"], [12, 1, 7]),
    (["36 months", "60 months", "1 month"], [36, 60, 1]),
    (["(250)", "1,200.5", "($5)"], [-250, 1200.5, -5]),
    (["€ 1.200", "€ 15,50"], [1200, 15.5]),
    (["1 234,5", "12\N{NO-BREAK SPACE}345,1"], [1234.5, 12345.1]),
    (["-$5.20", "$-3", "+$4"], [-5.2, -3, 4]),
    (["1,23,456", "5,00,000"], [123456, 500000]),
    (["1'234.5", "12"], [1234.5, 12]),
    (["\N{MINUS SIGN}5", "3"], [-5, 3]),
    (["12 EUR", "7 EUR"], [12, 7]),
    (["98.6°F", "100 °F"], [98.6, 100]),
    (["0,123", "0,5"], [0.123, 0.5]),
    (["1e5", "2.5E-3", ".5", "5."], [1e5, 0.0025, 0.5, 5]),
]
NO_NUMBERS = [
    *(["A12", "A13"], ["Stage 1", "Stage 2"], ["02134", "10001"], ["10-20", "20-30"]),
    *(["555-1234"], ["2019-03-02"], ["1.2.3"], ["12 (about)"], ["(5", "3)"], ["--5"]),
    *(["inf", "nan"], ["yes", "no"]),
]


def test_numbers_are_read_as_people_write_them():
    for texts, numbers in NUMBERS:
        assert read(*texts) == numbers, texts
    assert read("12 kg", "13 kg", "3 lb") == [12, 13, None]  # the unit of most rows
    assert read("1,234", "250", decimal=",") == [1.234, 250]  # as the user says


def test_codes_ranges_and_words_are_no_numbers():
    assert [texts for texts in NO_NUMBERS if read(*texts) is not None] == []


def test_marks_that_could_mean_either_are_said_to():
    assert number_style({"1,234": 1, "2,500": 1}).doubtful == "1,234"
    assert number_style({"1.234": 1, "2.500": 1}).doubtful == "1.234"
    for texts in ({"1,234": 1, "250": 1}, {"1,234": 1, "2.5": 1}, {"$1,234": 1}):
        assert number_style(texts).doubtful == ""


def test_bounds_lie_beside_their_numbers():
    expected = ["< 1 year", "1 year", "2 years", "10+ years"]
    found = parse_text(counted(expected))[0]
    assert found.words == "number, some of them bounds"
    assert sorted(found.values, key=found.values.get) == expected


STYLES = {
    "plain": lambda n: f"{n:.2f}",
    "currency": lambda n: f"-${-n:,.2f}" if n < 0 else f"${n:,.2f}",
    "brackets": lambda n: f"({-n:,.2f})" if n < 0 else f"{n:,.2f}",
    "decimal comma": lambda n: f"{n:_.2f}".replace(".", ",").replace("_", "."),
    "blanks": lambda n: f"{n:_.2f}".replace("_", "\N{NARROW NO-BREAK SPACE}"),
    "per cent": lambda n: f"{n:.2f} %",
    "unit": lambda n: f"{n:,.2f} km/h",
}
CENTS = st.integers(-(10**10), 10**10).map(lambda whole: whole / 100)


@given(st.sampled_from(list(STYLES)), st.lists(CENTS, min_size=1, max_size=20))
def test_numbers_that_are_written_are_read_back(style, numbers):
    assert read(*map(STYLES[style], numbers)) == numbers


@given(st.lists(st.text(max_size=12), max_size=8))
def test_any_text_is_read_as_a_number_or_not_at_all(texts):
    for style in (number_style(Counter(texts)), number_style(Counter(texts), ",")):
        numbers = [None] if style is None else [style.read(text) for text in texts]
        assert all(number is None or isinstance(number, float) for number in numbers)


DATES = {
    "2019-03-02": (2019, 3, 2),
    "2019/3/2 14:05": (2019, 3, 2, 14, 5),
    "2019-03-02T10:00:00+02:00": (2019, 3, 2, 8),
    "2019-03-02 10:00:00.25": (2019, 3, 2, 10, 0, 0, 250000),
    "28/02/2019 9:30": (2019, 2, 28, 9, 30),
    "02/28/2019 2:05 PM": (2019, 2, 28, 14, 5),
    "02/28/2019 12:05 am": (2019, 2, 28, 0, 5),
    "28.2.19": (2019, 2, 28),
    "28.2.71": (1971, 2, 28),
    "2 Mar 2019": (2019, 3, 2),
    "12-Apr-2020": (2020, 4, 12),
    "March 2nd, 2019": (2019, 3, 2),
    "Mon, 02 Sept 2019 10:00": (2019, 9, 2, 10),
    "Dec-2015": (2015, 12, 1),
    "Dec-15": (2015, 12, 1),
    "2015-12": (2015, 12, 1),
    "12/2015": (2015, 12, 1),
    "2020 Q4": (2020, 10, 1),
}
NO_DATES = ["2019-13-02", "30/02/2019", "1.5", "20190302", "10-20", "2019/2020", "may be", "May 5"]


def test_dates_are_read_as_people_write_them():
    for text, date in DATES.items():
        assert dates(text).values == {text: dt.datetime(*date)}
    assert [text for text in NO_DATES if dates(text) is not None] == []


def test_the_column_decides_whether_the_day_comes_first():
    early = "03/02/2019 14:05"
    assert dates(*[early] * 9, "28/02/2019 09:30").values[early].day == 3
    assert dates(*[early] * 9, "02/28/2019 09:30").values[early].day == 2
    mixed = dates(*["28/02/2019"] * 3, "02/27/2019")
    assert mixed.words == f"date, {DAY_FIRST}"
    assert "02/27/2019" not in mixed.values


def test_a_column_that_does_not_tell_is_doubtful():
    found = dates("02/02/2019", "03/02/2019")
    assert (found.words, found.doubtful) == (f"date, {MONTH_FIRST}", "03/02/2019")
    assert found.otherwise == DAY_FIRST
    assert dates("3.2.2019").words == f"date, {DAY_FIRST}"
    assert dates("02/02/2019").doubtful == ""
    assert dates("03/02/2019", way=DAY_FIRST).doubtful == ""


FORMATS = {
    "%Y-%m-%d %H:%M": "date",
    "%d %b %Y %H:%M": "date",
    "%B %d, %Y %I:%M %p": "date",
    "%d/%m/%Y %H:%M": DAY_FIRST,
    "%m-%d-%Y %H:%M": MONTH_FIRST,
}
MINUTES = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2060, 1, 1)).map(
    lambda date: date.replace(second=0, microsecond=0)
)


@given(st.sampled_from(list(FORMATS)), st.lists(MINUTES, min_size=1, max_size=20))
def test_dates_that_are_written_are_read_back(form, moments):
    texts = [date.strftime(form) for date in moments]
    found = dates(*texts, way=FORMATS[form])
    assert [found.values[text] for text in texts] == moments


@given(st.text(max_size=20))
def test_any_text_is_read_as_a_date_or_not_at_all(text):
    found = dates(text)
    assert found is None or isinstance(found.values[text], dt.datetime)


def test_what_stands_for_nothing_is_text():
    for texts in [[], ["yes", "no"], ["n/a", "-"], ["02134", "10001"]]:
        assert parse_text(counted(texts)) == (None, 0.0)
    assert parse_text(counted(["1,5 kg", "2 kg"]))[0].words == "number (kg, decimal comma)"


def test_words_for_nothing_do_not_count():
    found, share = parse_text(counted(["5%", "n/a", "unknown", "-"]))
    assert (found.kind, share) == (Kind.NUMBER, 1.0)
    assert found.counted(counted(["5%", "n/a"])).missing == 1


def test_of_many_texts_some_are_looked_at_first():
    many = [f"{number:,} months" for number in range(2, 3 * SAMPLED)]
    found, share = parse_text(counted([*many, "1 month", "(1) months"]))
    assert share == 1.0
    assert (found.values["1 month"], found.values["(1) months"]) == (1, -1)
    codes = [str(number) for number in range(10_000, 10_000 + 3 * SAMPLED)]
    assert parse_text(counted([*codes, "00123"]))[0] is None  # one code makes all of them codes
    names = [f"patient {number}" for number in range(3 * SAMPLED)]
    assert parse_text(counted(names)) == (None, 0.0)
