"""Dates and times that are written in text: "03/02/2019 14:05", "2 Mar 2019", "Dec-2015".

The texts of a whole column decide whether the day or the month comes first.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from misfeat.cohorts.values import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_FIRST, MONTH_FIRST = "day first", "month first"
TWO_DIGITS = 69
"""Years of two digits from here on are of the last century, as POSIX has it."""
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<half>[ap])\.?m\.?)?"
)
_TIME = rf"(?:(?:\s*T\s*|,?\s+){_CLOCK})?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<first>\d{{1,2}})(?P<mark>[/.-])(?P<then>\d{{1,2}})(?P=mark){_YEAR}{_TIME}",
        rf"(?P<year>\d{{4}})(?P<mark>[/.-])(?P<n>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s./-]*{_MONTH},?[\s./-]*{_YEAR}{_TIME}",
        rf"{_WEEKDAY}{_MONTH}[\s-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[\s-]+(?P<year>\d{{4}}){_TIME}",
        rf"{_MONTH},?[\s/-]*{_YEAR}",
        rf"(?P<year>\d{{4}})[\s/-]*{_MONTH}",
        r"(?P<year>\d{4})[/.-](?P<n>\d{1,2})",
        r"(?P<n>\d{1,2})[/.-](?P<year>\d{4})",
        r"(?P<year>\d{4})[\s-]?q(?P<quarter>[1-4])",
        r"q(?P<quarter>[1-4])[\s/-]?(?P<year>\d{4})",
    )
)
_CLOCK_ALONE = re.compile(_CLOCK, re.IGNORECASE)


@dataclass(frozen=True)
class DateStyle:
    """What the texts of a column stand for as dates."""

    dates: Mapping[str, dt.datetime]
    order: str = ""
    """{"day first", "month first", ""}: which of two numbers is the day; empty where the form
    leaves no choice."""
    doubtful: str = ""
    """A text that could be read in the other order as well, where none decides."""
    centuries: tuple[str, ...] = ()
    """Texts with years of two digits, one of this century and one of the last, where both occur."""


def date_style(counts: Mapping[str, int], order: str | None = None) -> DateStyle | None:
    """Read the texts of a column, and how often each occurs, as dates; None where none is one.

    The order is what the user says, or else that by which more rows read. Where both read as many,
    the month comes first, but before points the day does.

    Examples
    --------
    >>> style = date_style({"03/02/2019 14:05": 1, "28/02/2019 09:30": 1})
    >>> style.order, style.dates["03/02/2019 14:05"]
    ('day first', datetime.datetime(2019, 2, 3, 14, 5))
    >>> date_style({"Dec-2015": 3}).dates
    {'Dec-2015': datetime.datetime(2015, 12, 1, 0, 0)}
    """
    matched = {text: _match(text) for text in counts}
    undecided = {
        text: match for text, match in matched.items() if match and "first" in match.re.groupindex
    }
    rows = {
        MONTH_FIRST: sum(counts[t] for t, match in undecided.items() if _is_month(match["first"])),
        DAY_FIRST: sum(counts[t] for t, match in undecided.items() if _is_month(match["then"])),
    }
    tied = rows[DAY_FIRST] == rows[MONTH_FIRST]
    best = order or (_usual(counts, undecided) if tied else max(rows, key=lambda one: rows[one]))
    read = {text: _date(text, match, best) for text, match in matched.items()}
    dates = {text: date for text, date in read.items() if date is not None}
    if not dates:
        return None
    either = (t for t, match in undecided.items() if int(match["first"]) != int(match["then"]))
    doubtful = next(either, "") if tied and not order else ""
    short = [text for text in dates if (match := matched[text]) and len(_year_of(match)) < 4]
    this = next((text for text in short if dates[text].year >= 2000), "")
    last = next((text for text in short if dates[text].year < 2000), "")
    centuries = (this, last) if this and last else ()
    return DateStyle(dates, best if undecided else "", doubtful, centuries)


def _year_of(match: re.Match[str]) -> str:
    return match["year"].lstrip("'")


def _usual(counts: Mapping[str, int], undecided: Mapping[str, re.Match[str]]) -> str:
    """The order where no text decides: before points the day comes first."""
    points = sum(counts[text] for text, match in undecided.items() if match["mark"] == ".")
    return DAY_FIRST if 2 * points > sum(counts[text] for text in undecided) else MONTH_FIRST


def _is_month(digits: str) -> bool:
    return 1 <= int(digits) <= 12


def times_of_day(counts: Mapping[str, int]) -> dict[str, float]:
    """The texts that are times of day, in hours.

    Examples
    --------
    >>> times_of_day({"14:30": 1, "2:15 pm": 1, "late": 1})
    {'14:30': 14.5, '2:15 pm': 14.25}
    """
    hours: dict[str, float] = {}
    for text in counts:
        match = _CLOCK_ALONE.fullmatch(text.strip())
        time = _time(match) if match else None
        if time is not None:
            seconds = time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6
            hours[text] = seconds / 3600
    return hours


def _match(text: str) -> re.Match[str] | None:
    stripped = text.strip()
    return next((match for form in _FORMS if (match := form.fullmatch(stripped))), None)


def _date(text: str, match: re.Match[str] | None, order: str) -> dt.datetime | None:
    try:
        if match is None:
            return _iso(text.strip())
        held = match.groupdict()
        time = _time(match) if held.get("hour") else dt.time()
        month, day = _month_and_day(held, order)
        return None if time is None else dt.datetime.combine(dt.date(_year(held), month, day), time)
    except (ValueError, OverflowError):
        return None


def _iso(text: str) -> dt.datetime | None:
    """A date with its time zone, and other forms of ISO 8601; 20240101 is a number."""
    date: dt.datetime = canonical(dt.datetime.fromisoformat(text))
    return date if "-" in text else None


def _year(held: Mapping[str, str]) -> int:
    year = held["year"].lstrip("'")
    return int(year) + (0 if len(year) == 4 else 1900 if int(year) >= TWO_DIGITS else 2000)


def _month_and_day(held: Mapping[str, str], order: str) -> tuple[int, int]:
    if held.get("first"):
        first, then = int(held["first"]), int(held["then"])
        return (then, first) if order == DAY_FIRST else (first, then)
    if held.get("quarter"):
        return 3 * int(held["quarter"]) - 2, 1
    month = _MONTHS.index(held["month"][:3].lower()) + 1 if held.get("month") else int(held["n"])
    return month, int(held.get("day") or 1)


def _time(match: re.Match[str]) -> dt.time | None:
    hour = int(match["hour"])
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    fraction = (match["fraction"] or "").ljust(6, "0")[:6]
    try:
        return dt.time(hour, int(match["minute"]), int(match["second"] or 0), int(fraction))
    except ValueError:
        return None
