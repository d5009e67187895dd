from __future__ import annotations

import datetime as dt
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.parsed_text import DAY_FIRST, MONTH_FIRST, date_style, times_of_day


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2019-03-02", (2019, 3, 2)),
        ("2019/3/2 14:05", (2019, 3, 2, 14, 5)),
        ("2019-03-02T10:00:00+02:00", (2019, 3, 2, 8)),
        ("2019-03-02 10:00:00.25", (2019, 3, 2, 10, 0, 0, 250000)),
        ("28/02/2019 9:30", (2019, 2, 28, 9, 30)),
        ("02/28/2019 2:05 PM", (2019, 2, 28, 14, 5)),
        ("02/28/2019 12:05 am", (2019, 2, 28, 0, 5)),
        ("28.2.19", (2019, 2, 28)),
        ("28.2.71", (1971, 2, 28)),
        ("2 Mar 2019", (2019, 3, 2)),
        ("12-Apr-2020", (2020, 4, 12)),
        ("March 2nd, 2019", (2019, 3, 2)),
        ("Mon, 02 Sept 2019 10:00", (2019, 9, 2, 10)),
        ("Dec-2015", (2015, 12, 1)),
        ("Dec-15", (2015, 12, 1)),
        ("2015-12", (2015, 12, 1)),
        ("12/2015", (2015, 12, 1)),
        ("2020 Q4", (2020, 10, 1)),
    ],
)
def test_dates_are_read_as_people_write_them(text, date):
    assert date_style({text: 1}).dates == {text: dt.datetime(*date)}


@pytest.mark.parametrize(
    "text", ["2019-13-02", "30/02/2019", "1.5", "20190302", "10-20", "2019/2020", "may be", "May 5"]
)
def test_other_text_is_no_date(text):
    assert date_style({text: 1}) is None


def test_the_column_decides_whether_the_day_comes_first():
    early = "03/02/2019 14:05"
    assert date_style({early: 9, "28/02/2019 09:30": 1}).dates[early].day == 3
    assert date_style({early: 9, "02/28/2019 09:30": 1}).dates[early].day == 2


def test_a_column_that_does_not_tell_is_doubtful():
    style = date_style({"02/02/2019": 1, "03/02/2019": 1})
    assert (style.order, style.doubtful) == (MONTH_FIRST, "03/02/2019")
    assert date_style({"3.2.2019": 1}).order == DAY_FIRST
    assert date_style({"02/02/2019": 1}).doubtful == ""
    assert date_style({"03/02/2019": 1}, DAY_FIRST).doubtful == ""


def test_of_mixed_orders_the_one_of_most_rows_is_read():
    style = date_style({"28/02/2019": 3, "02/27/2019": 1})
    assert style.order == DAY_FIRST
    assert "02/27/2019" not in style.dates


def test_times_of_day_are_hours():
    assert times_of_day({"14:30": 1, "2:15 pm": 1, "25:00": 1, "13:00 am": 1}) == {
        "14:30": 14.5,
        "2:15 pm": 14.25,
    }


FORMATS = {
    "%Y-%m-%d %H:%M": "",
    "%d %b %Y %H:%M": "",
    "%B %d, %Y %I:%M %p": "",
    "%d/%m/%Y %H:%M": DAY_FIRST,
    "%m-%d-%Y %H:%M": MONTH_FIRST,
}
MINUTES = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2060, 1, 1)).map(
    lambda date: date.replace(second=0, microsecond=0)
)


@given(st.sampled_from(list(FORMATS)), st.lists(MINUTES, min_size=1, max_size=20))
def test_what_is_written_is_read_back(form, dates):
    texts = [date.strftime(form) for date in dates]
    style = date_style(Counter(texts), FORMATS[form] or None)
    assert [style.dates[text] for text in texts] == dates


@given(st.text(max_size=20))
def test_any_text_is_read_as_a_date_or_not_at_all(text):
    style = date_style({text: 1})
    assert style is None or isinstance(style.dates[text], dt.datetime)
