"""What the texts of a column stand for: numbers, dates, or themselves, and how sure that is.

Numbers may be written as "$16,818", "12.2%", "1.234,56", "36 months" or "(250)", dates as
"03/02/2019 14:05", "2 Mar 2019" or "Dec-2015". The texts of a whole column decide which way it
writes numbers; what comes out is a list of pieces of text to replace, after which every engine
reads the same number. They also decide whether the day or the month comes first.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.coders import Kind, replaced
from misfeat.reading.table import ValueCounts
from misfeat.reading.values import PLAIN_NUMBER, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from misfeat.reading.values import Value

    Pieces = tuple[tuple[str, str], ...]
    Reader = Callable[[Mapping[str, int]], "Written | None"]


_CODES = "USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF RUB ZAR TRY"
CURRENCY = re.compile(
    rf"[A-Z]{{0,3}}[$\xa2-\xa5\u20a0-\u20bf]|kr\.?|z\u0142|Fr\.|Rs\.?|{_CODES.replace(' ', '|')}"
)
"""What may stand before a number; of symbols, those of Unicode's block of currencies."""
MAGNITUDES = {
    **dict.fromkeys(("k", "K", "thousand"), "e3"),
    **dict.fromkeys(("m", "M", "mn", "Mn", "mio", "Mio", "million"), "e6"),
    **dict.fromkeys(("b", "B", "bn", "Bn", "billion"), "e9"),
}
LONGEST_UNIT = 20
"""Characters; what follows a number and is longer is a sentence."""
MOST_PIECES = 40
"""A column of numbers is written in few ways; with more pieces of other text it is text."""
_MINUS = "\N{MINUS SIGN}\N{EN DASH}"
_BLANKS = " \t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_QUOTES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_SIGN = f"[+{_MINUS}-]?"
_WORD = rf"[^\d.,()<>+{_MINUS}{_QUOTES}{_BLANKS}-]"
"""What a currency or a unit starts with."""


def _body(decimal: str, thousands: str) -> str:
    """Digits with marks between them, such as 1,234.56; no group of thousands starts with 0."""
    mark, point = f"[{thousands}{_BLANKS}{_QUOTES}]", re.escape(decimal)
    grouped = rf"[1-9]\d{{0,2}}(?:(?P<mark>{mark})(?:\d{{2}}(?P=mark))*\d{{3}})+"
    return rf"(?:(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d{{1,3}})?"


def _written(decimal: str, thousands: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{_SIGN})[{_BLANKS}]*(?P<prefix>{_WORD}[^\d(<>]{{0,3}}?)?[{_BLANKS}]*"
        rf"(?P<inner>{_SIGN})(?P<body>{_body(decimal, thousands)})(?(open)(?P<close>\))?)"
        rf"(?P<suffix>[{_BLANKS}]*(?:{_WORD}\D{{0,{LONGEST_UNIT}}})?)(?(open)(?(close)|\)))"
    )


_FORMS = {".": _written(".", ","), ",": _written(",", ".")}
_BOUND = re.compile(r"[<>\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}]=?\s*")
_AT_LEAST = re.compile(r"(?<=\d)\s*\+(?!\d)")
_CODE = re.compile(r"0\d|\d{17}")
_COULD_BE_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


@dataclass(frozen=True)
class NumberStyle:
    """The way in which a column writes numbers."""

    pieces: Pieces
    """What to replace by what, in this order; what is left reads as a plain number."""
    decimal: str
    """{".", ","}: the decimal mark."""
    unit: str = ""
    """The currency, the unit or the per cent sign; empty where there is none."""
    doubtful: str = ""
    """A text that could be read with the other decimal mark as well, where none decides."""

    def read(self, text: str) -> float | None:
        """The number that a text stands for, or None."""
        plain = replaced(text, self.pieces)
        number = float(plain) if PLAIN_NUMBER.fullmatch(plain) else np.inf
        return number if np.isfinite(number) else None


def number_style(
    counts: Mapping[str, int], decimal: str | None = None, *, codes: bool = False
) -> NumberStyle | None:
    """Find the way in which a column writes numbers; None where it does not.

    `counts` says how often each text occurs. The decimal mark is what the user says, or else the
    one by which more rows read. With `codes`, digits that look like a code are numbers all the
    same.

    Examples
    --------
    >>> style = number_style({"1.234,50 kg": 1, "80 kg": 2})
    >>> style.read("1.234,50 kg"), style.decimal, style.unit
    (1234.5, ',', 'kg')
    >>> number_style({"red": 1, "blue": 2}), number_style({"00123": 5, "10115": 5})
    (None, None)
    """
    marks = (decimal,) if decimal else (".", ",")
    found = {mark: _matches(counts, _FORMS[mark]) for mark in marks}
    rows = {mark: sum(counts[text] for text in matches) for mark, matches in found.items()}
    best = max(marks, key=lambda mark: rows[mark])  # the point, where both read as many
    matches = found[best]
    if not matches or (not codes and any(is_code(match["body"]) for match in matches.values())):
        return None
    scaled = _are_magnitudes(matches.values())
    units = Counter[str]()
    for text, match in matches.items():
        units[_unit(match, scaled)] += counts[text]
    units.pop("", None)
    unit = max(units, key=lambda one: units[one], default="")
    kept = [match for match in matches.values() if _unit(match, scaled) in ("", unit)]
    shown = next((_shown(match, scaled) for match in kept if _unit(match, scaled)), "")
    pieces = _pieces(kept, best, scaled)
    if len(pieces) > MOST_PIECES:
        return None
    tied = len(rows) > 1 and rows["."] == rows[","]
    plain = tied and not any(match["prefix"] for match in kept)
    either = plain and all(_COULD_BE_EITHER.fullmatch(match["body"]) for match in kept)
    return NumberStyle(pieces, best, shown, kept[0].string if either else "")


def is_code(text: str) -> bool:
    """Whether digits start with a zero that no number would have, or are more than numbers hold.

    Examples
    --------
    >>> is_code("02134"), is_code("0.5"), is_code("0"), is_code("90000000000000001")
    (True, False, False, True)
    """
    return _CODE.match(text.strip()) is not None


def _matches(texts: Iterable[str], form: re.Pattern[str]) -> dict[str, re.Match[str]]:
    matched = ((text, form.fullmatch(text.strip())) for text in texts)
    return {text: match for text, match in matched if match and _is_number(match)}


def _is_number(match: re.Match[str]) -> bool:
    """Whether what stands before a number is a currency, and there is one sign at most."""
    prefix = (match["prefix"] or "").strip()
    signs = bool(match["sign"]) + bool(match["inner"]) + bool(match["open"])
    return (not prefix or bool(CURRENCY.fullmatch(prefix))) and signs <= 1


def _suffix(match: re.Match[str]) -> str:
    return match["suffix"].strip(_BLANKS)


def _are_magnitudes(matches: Iterable[re.Match[str]]) -> bool:
    """Whether what follows numbers multiplies them: several factors, or one beside a currency."""
    matches = list(matches)
    suffixes = {_suffix(match) for match in matches} - {""}
    if not suffixes or not suffixes <= MAGNITUDES.keys():
        return False
    several = len({MAGNITUDES[suffix] for suffix in suffixes}) > 1
    return several or any(match["prefix"] or len(_suffix(match)) > 3 for match in matches)


def _unit(match: re.Match[str], scaled: bool) -> str:
    """A currency or a unit, the same in the singular and the plural."""
    shown = _shown(match, scaled)
    return shown if len(shown) < 4 else shown.lower().rstrip(".").removesuffix("s")


def _shown(match: re.Match[str], scaled: bool) -> str:
    parts = ((match["prefix"] or "").strip(), "" if scaled else _suffix(match))
    return " ".join(filter(None, parts))


def _pieces(matches: Iterable[re.Match[str]], decimal: str, scaled: bool) -> Pieces:
    """What to replace, longer pieces first; the decimal mark becomes a point at the end."""
    by: dict[str, str] = {}
    for match in matches:
        by.update((blank, "") for blank in _BLANKS if blank in match.string)
        by.update((piece, "") for piece in (match["prefix"], match["mark"]) if piece)
        by.update((dash, "-") for dash in _MINUS if dash in match["sign"] + match["inner"])
        if suffix := _suffix(match):
            by[suffix if scaled else match["suffix"].rstrip(_BLANKS)] = (
                MAGNITUDES[suffix] if scaled else ""
            )
        if match["open"]:
            by.update({"(": "-", ")": ""})
    ordered = sorted(by.items(), key=lambda pair: (-len(pair[0]), pair[0]))
    return (*ordered, *([] if decimal == "." else [(",", ".")]))


def bounded_numbers(counts: Mapping[str, int]) -> dict[str, float] | None:
    """What texts stand for where some are bounds: "< 1 year", "10+ years", ">100".

    A bound lies next to the number that it names, on its own side, so that "< 1" comes before "1".

    Examples
    --------
    >>> found = bounded_numbers({"< 1 year": 4, "1 year": 3, "10+ years": 2})
    >>> sorted(found, key=found.get)
    ['< 1 year', '1 year', '10+ years']
    """
    sides = {text: _side(text) for text in counts}
    if not any(sides.values()):
        return None
    plain = {text: _AT_LEAST.sub("", _BOUND.sub("", text.strip())) for text in counts}
    merged = Counter[str]()
    for text, count in counts.items():
        merged[plain[text]] += count
    style = number_style(merged)
    if style is None:
        return None
    read = {text: style.read(plain[text]) for text in counts}
    return {
        text: float(np.nextafter(number, sides[text] * np.inf)) if sides[text] else number
        for text, number in read.items()
        if number is not None
    }


def _side(text: str) -> int:
    """-1 for what lies below a number, 1 for what lies above it, 0 for the number itself."""
    found = _BOUND.match(text.strip())
    if found:
        return -1 if found[0][0] in "<\N{LESS-THAN OR EQUAL TO}" else 1
    return 1 if _AT_LEAST.search(text) else 0


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
_DATE_FORMS = tuple(
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
    return next((match for form in _DATE_FORMS if (match := form.fullmatch(stripped))), None)


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


TEXT, NUMBER, DECIMAL_COMMA, DATE = "text", "number", "decimal comma", "date"
WAYS = (TEXT, NUMBER, DECIMAL_COMMA, DATE, DAY_FIRST, MONTH_FIRST)
"""How users may say that a column of text is to be read."""
ENOUGH = 0.95
"""A column whose rows read as numbers or dates in this share is one of these."""
MANY = 0.5
"""Where this share of the rows reads, a reader is told why the column was left as text."""
FEW = 0.3
"""Where fewer of some texts read, the others are not tried."""
SAMPLED = 1000
"""Texts, about, that are tried first."""
NOTHING = frozenset(
    (
        *("", "-", "--", ".", "..", "?", "na", "n/a", "#n/a", "n.a.", "nan", "nil", "none", "null"),
        *("nd", "n/d", "unknown", "missing", "not available", "not applicable", "not known"),
        *("#value!", "#ref!", "#div/0!"),
    )
)
"""Words for no value, in a column whose other texts are numbers or dates."""


@dataclass(frozen=True)
class Written:
    """What the texts of a column stand for."""

    kind: Kind
    values: Mapping[str, Value]
    """What each text that reads stands for."""
    pieces: tuple[tuple[str, str], ...] = ()
    """What to replace in a text, so that a plain number is left."""
    looked_up: bool = False
    """Whether texts have to be looked up in `values`, since `pieces` do not tell."""
    words: str = ""
    unit: str = ""
    """The currency, the unit or the per cent sign of numbers."""
    doubtful: str = ""
    """A text that could stand for something else as well, where no other text decides."""
    otherwise: str = ""
    """How users would say so: one of `WAYS`."""
    centuries: tuple[str, ...] = ()
    """Texts with years of two digits, one of this century and one of the last, where both occur."""

    def counted(self, counts: ValueCounts) -> ValueCounts:
        """Count the values that texts stand for; texts that do not read count as missing."""
        read = counts.without(np.array([text not in self.values for text in counts.values]))
        values = [self.values[text] for text in read.values]
        array = np.array(values, dtype=np.float64 if self.kind is Kind.NUMBER else object)
        distinct, position = np.unique(array, return_inverse=True)
        totals = np.bincount(position, weights=read.counts, minlength=len(distinct))
        return ValueCounts(distinct, totals.astype(np.int64), read.missing)


def parse_ways(given: object) -> dict[str, str]:
    """Check the parameter ``read``: a dict from columns to how they are to be read."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise MisfeatError(
            "{setting} names no columns; write it as {example}.",
            setting=Setting("read", given),
            example=Setting("read", TEXT, column="zip"),
        )
    ways: dict[str, str] = {}
    for column, way in given.items():
        if not isinstance(way, str) or way not in WAYS:
            raise MisfeatError(
                "{setting} is unknown; a column is read as {ways}.",
                setting=Setting("read", way, column=column),
                ways=", ".join(map(repr, WAYS)),
            )
        ways[column] = way
    return ways


def written(counts: ValueCounts, way: str | None = None) -> tuple[Written | None, float]:
    """The best that could be made of the texts of a column, and the share of the rows that read.

    None where they are just text. Words for nothing do not count. `way` is one of `WAYS`, where the
    user says how to read them.
    """
    if way == TEXT or not len(counts.values):
        return None, 0.0
    by_text = dict(zip(counts.values.tolist(), counts.counts.tolist(), strict=True))
    told = {text: n for text, n in by_text.items() if text.strip().casefold() not in NOTHING}
    if not told or (way is None and _hopeless(told)):
        return None, 0.0
    best, most = None, 0.0
    for read in _readers(way):
        found = read(told)
        share = 0.0 if found is None else _share(found.values, told)
        if share > most:
            best, most = found, share
        if most >= ENOUGH:
            break
    return best, most


def _hopeless(told: Mapping[str, int]) -> bool:
    """Whether hardly any of some texts read, so that there is no need to try them all."""
    if len(told) <= SAMPLED:
        return False
    some = _some_of(told)
    found = [one for read in _readers(None) if (one := read(some)) is not None]
    return all(len(one.values) < FEW * len(some) for one in found)


def _readers(way: str | None) -> tuple[Reader, ...]:
    """What may be tried, one after the other, until enough of a column reads."""
    match way:
        case "number":
            return partial(_numbers, codes=True), _bounded, _hours
        case "decimal comma":
            return (partial(_numbers, decimal=",", codes=True),)
        case "date":
            return (_dates,)
        case "day first" | "month first":
            return (partial(_dates, order=way),)
    return _numbers, _bounded, _dates, _hours


def _share(values: Mapping[str, Any], told: Mapping[str, int]) -> float:
    return sum(told[text] for text in values) / sum(told.values())


def _numbers(
    told: Mapping[str, int], decimal: str | None = None, codes: bool = False
) -> Written | None:
    some = _some_of(told)
    style = number_style(some, decimal, codes=codes)
    if style is None or (not codes and any(map(is_code, told))):
        return None
    values = _read(told, style)
    unread = {text: n for text, n in told.items() if text not in values}
    if unread and len(some) < len(told):  # what is written in a rare way was not among them
        style = number_style({**some, **_some_of(unread)}, decimal, codes=codes) or style
        values = _read(told, style)
    return Written(
        Kind.NUMBER,
        values,
        style.pieces,
        words=_number_words(style),
        unit=style.unit,
        doubtful=style.doubtful,
        otherwise=DECIMAL_COMMA if style.decimal == "." else NUMBER,
    )


def _read(told: Mapping[str, int], style: NumberStyle) -> dict[str, float]:
    return {text: number for text in told if (number := style.read(text)) is not None}


def _some_of(told: Mapping[str, int]) -> dict[str, int]:
    """Some texts, evenly over all of them, which tell how the others are written."""
    step = max(len(told) // SAMPLED, 1)
    return dict(islice(told.items(), 0, None, step))


def _number_words(style: NumberStyle) -> str:
    details = [style.unit] if style.unit else []
    details += ["decimal comma"] if style.decimal == "," else []
    return f"number ({', '.join(details)})" if details else "number"


def _bounded(told: Mapping[str, int]) -> Written | None:
    values = bounded_numbers(told)
    if values is None:
        return None
    return Written(Kind.NUMBER, values, looked_up=True, words="number, some of them bounds")


def _hours(told: Mapping[str, int]) -> Written | None:
    values = times_of_day(told)
    return Written(Kind.NUMBER, values, looked_up=True, words="time of day, in hours", unit="hours")


def _dates(told: Mapping[str, int], order: str | None = None) -> Written | None:
    style = date_style(told, order)
    if style is None:
        return None
    other = DAY_FIRST if style.order == MONTH_FIRST else MONTH_FIRST
    return Written(
        Kind.TIME,
        style.dates,
        looked_up=True,
        words=f"date, {style.order}" if style.order else "date",
        doubtful=style.doubtful,
        otherwise=other,
        centuries=style.centuries,
    )
