"""What the texts of a column stand for: numbers, dates, or themselves, and how sure that is.

Numbers may be written as "$16,818", "12.2%", "1.234,56", "36 months" or "(250)", dates as
"03/02/2019 14:05", "2 Mar 2019" or "Dec-2015". The texts of a whole column decide which way it
writes numbers; what comes out is a list of pieces of text to replace, after which every engine
reads the same number. They also decide whether the day or the month comes first.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.messages import Setting
from misfeat.reading.coders import Kind, replaced
from misfeat.reading.table_statistics import ValueCounts
from misfeat.reading.values import PLAIN_NUMBER, Value, canonical

Pieces = tuple[tuple[str, str], ...]
Reader = Callable[[Mapping[str, int]], "ParsedText | None"]
DAY_FIRST, MONTH_FIRST = "day first", "month first"
TEXT, NUMBER, DECIMAL_COMMA, DATE = "text", "number", "decimal comma", "date"
WAYS = (TEXT, NUMBER, DECIMAL_COMMA, DATE, DAY_FIRST, MONTH_FIRST)
"""How users may say that a column of text is to be read."""
AS_THEY_STAND = "as they stand"  # Of subgroups: texts are kept, and numbers stay numbers
ENOUGH = 0.95  # A column whose rows read as numbers or dates in this share is one of these
MANY = 0.5  # Where this share of the rows reads, a reader is told why the column was left as text
FEW = 0.3  # Where fewer of some texts read, the others are not tried
CODES = 5  # So many distinct texts such as V57 show that numbers beside them are codes, too
SAMPLED = 1000  # Texts, about, that are tried first
NOTHING = frozenset(
    (
        *("", "-", "--", ".", "..", "?", "na", "n/a", "#n/a", "n.a.", "nan", "nil", "none", "null"),
        *("nd", "n/d", "unknown", "missing", "not available", "not applicable", "not known"),
        *("#value!", "#ref!", "#div/0!"),
    )
)  # Words for no value, in a column whose other texts are numbers or dates


@dataclass(frozen=True)
class ParsedText:
    """What the texts of a column stand for."""

    kind: Kind
    values: Mapping[str, Value]  # What each text that reads stands for
    pieces: Pieces = ()  # What to replace in a text, so that a plain number is left
    looked_up: bool = False  # Whether texts are looked up in `values`, since `pieces` do not tell
    words: str = ""
    measures: bool = False  # Whether numbers have a unit or marks, so that they do not number rows
    doubtful: str = ""  # A text that could mean something else, where no other text decides
    otherwise: str = ""  # How users would say so: one of `WAYS`

    def counted(self, counts: ValueCounts) -> ValueCounts:
        """Count the values that texts stand for; texts that do not read count as missing."""
        read = counts.without(np.array([text not in self.values for text in counts.values]))
        values = [self.values[text] for text in read.values]
        array = np.array(values, dtype=np.float64 if self.kind is Kind.NUMBER else object)
        distinct, position = np.unique(array, return_inverse=True)
        totals = np.bincount(position, weights=read.counts, minlength=len(distinct))
        return ValueCounts(distinct, totals.astype(np.int64), read.missing)


def parse_read_rules(given: object) -> dict[str, str]:
    """Check the parameter ``read``: a dict from columns to how they are to be read."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise MisfeatError(
            f"{Setting('read', given)} names no columns; write it as "
            f"{Setting('read', TEXT, column='zip')}."
        )
    for column, way in given.items():
        if not isinstance(way, str) or way not in WAYS:
            raise MisfeatError(
                f"{Setting('read', way, column=column)} is unknown; a column is read as "
                f"{', '.join(map(repr, WAYS))}."
            )
    return dict(given)


def parse_text(counts: ValueCounts, way: str | None = None) -> tuple[ParsedText | None, float]:
    """The best that could be made of a column's texts, and the share of the rows that read."""
    # None where they are just text. Words for nothing do not count.
    by_text = zip(counts.values.tolist(), counts.counts.tolist(), strict=True)
    texts = {text: n for text, n in by_text if text.strip().casefold() not in NOTHING}
    readers = _READERS[way]
    if way is None and len(texts) > SAMPLED:
        # Where hardly any of some texts read, there is no need to try them all.
        some = dict(islice(texts.items(), 0, None, len(texts) // SAMPLED))
        parsed = [read(some) for read in readers]
        if all(one is None or len(one.values) < FEW * len(some) for one in parsed):
            readers = ()
    best, most = None, 0.0
    for read in readers if texts else ():
        if (parsed_text := read(texts)) is None:
            continue
        share = sum(texts[text] for text in parsed_text.values) / sum(texts.values())
        if share > most:
            best, most = parsed_text, share
        if most >= ENOUGH:
            break
    if way is None and best is not None and best.words == "number":
        lettered = (text for text in texts if text not in best.values)
        if sum(_LETTERED.fullmatch(text.strip()) is not None for text in lettered) >= CODES:
            most = min(most, MANY)
    return best, most


_CODES = "USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF RUB ZAR TRY"
CURRENCY = re.compile(
    rf"[A-Z]{{0,3}}[$\xa2-\xa5\u20a0-\u20bf]|kr\.?|z\u0142|Fr\.|Rs\.?|{_CODES.replace(' ', '|')}"
)  # What may stand before a number; of symbols, those of Unicode's block of currencies
LONGEST_UNIT = 20  # Characters; what follows a number and is longer is a sentence
MAGNITUDES = {"K": "e3", "k": "e3", "M": "e6"}  # Where only some numbers have one
MOST_PIECES = 40  # Numbers are written in few ways; with more pieces of other text it is text
_MINUS = "\N{MINUS SIGN}\N{EN DASH}"
_BLANKS = " \t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
_QUOTES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_SIGN = f"[+{_MINUS}-]?"
_WORD = rf"[^\d.,()<>+{_MINUS}{_QUOTES}{_BLANKS}-]"  # What a currency or a unit starts with


def _number_form(decimal: str, thousands: str) -> re.Pattern[str]:
    """A number with its currency or unit; its digits may have marks between them: 1,234.56."""
    mark, point = f"[{thousands}{_BLANKS}{_QUOTES}]", re.escape(decimal)
    # No group of thousands starts with 0.
    grouped = rf"[1-9]\d{{0,2}}(?:(?P<mark>{mark})(?:\d{{2}}(?P=mark))*\d{{3}})+"
    body = rf"(?:(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d{{1,3}})?"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>{_SIGN})[{_BLANKS}]*(?P<prefix>{_WORD}[^\d(<>]{{0,3}}?)?[{_BLANKS}]*"
        rf"(?P<inner>{_SIGN})(?P<body>{body})(?(open)(?P<close>\))?)"
        rf"(?P<suffix>[{_BLANKS}]*(?:{_WORD}\D{{0,{LONGEST_UNIT}}})?)(?(open)(?(close)|\)))"
    )


_FORMS = {".": _number_form(".", ","), ",": _number_form(",", ".")}
_BOUND = re.compile(r"[<>\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}]=?\s*")
_AT_LEAST = re.compile(r"(?<=\d)\s*\+(?!\d)")
_CODE = re.compile(r"[+-]?(0\d|\d{16})")  # Floats would not hold the last digit of some
_LETTERED = re.compile(r"[A-Z]{1,2}\d{1,4}(\.\d{1,4})?")  # Of diagnoses: V57 beside 428
_COULD_BE_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


class NumberStyle(NamedTuple):
    """The way in which a column writes numbers."""

    pieces: Pieces  # What to replace by what, in this order; a plain number is left
    decimal: str  # {".", ","}: the decimal mark
    unit: str = ""  # The currency, the unit or the per cent sign; empty where there is none
    doubtful: str = ""  # A text that could mean something else, where no other text decides

    def read(self, text: str) -> float | None:
        """The number that a text stands for, or None."""
        plain = replaced(text, self.pieces)
        number = float(plain) if PLAIN_NUMBER.fullmatch(plain) else np.inf
        return number if np.isfinite(number) else None


def number_style(
    counts: Mapping[str, int], decimal: str | None = None, *, codes: bool = False
) -> NumberStyle | None:
    """The way in which a column writes numbers; with `codes`, also digits that look like codes."""
    marks = (decimal,) if decimal else (".", ",")
    found: dict[str, dict[str, re.Match[str]]] = {mark: {} for mark in marks}
    for mark, text in product(marks, counts):
        number = _FORMS[mark].fullmatch(text.strip())
        if number and bool(number["sign"]) + bool(number["inner"]) + bool(number["open"]) <= 1:
            prefix = (number["prefix"] or "").strip()
            if not prefix or CURRENCY.fullmatch(prefix):
                found[mark][text] = number
    best, doubtful = _decimal_mark(found, counts, codes)
    matches = found[best]
    digits = (*counts, *(match["body"] for match in matches.values()))
    if not matches or (not codes and any(_CODE.match(text.strip()) for text in digits)):
        return None
    suffixes = {match["suffix"].strip() for match in matches.values()}
    scales = MAGNITUDES if len(suffixes) > 1 else {}  # 1.06K beside 673 is more than that
    units = Counter[str]()
    for text, match in matches.items():
        units[_singular(_unit(match, scales))] += counts[text]
    units.pop("", None)
    unit = max(units, key=lambda one: units[one], default="")
    kept = {t: m for t, m in matches.items() if _singular(_unit(m, scales)) in ("", unit)}
    # The decimal mark becomes a point at the end.
    pieces = (*_pieces(kept, scales), *([] if best == "." else [(",", ".")]))
    if len(pieces) > MOST_PIECES:
        return None
    shown = next(filter(None, map(_unit, kept.values())), "")
    return NumberStyle(pieces, best, shown, doubtful)


def _decimal_mark(
    found: Mapping[str, Mapping[str, re.Match[str]]], counts: Mapping[str, int], codes: bool
) -> tuple[str, str]:
    """The mark by which more rows read, and a text that leaves it in doubt; empty where none."""
    rows = {mark: sum(counts[text] for text in matches) for mark, matches in found.items()}
    best = max(rows, key=lambda mark: rows[mark])  # the point, where both read as many
    whole = [m["body"] for m in found[best].values() if m["body"].isdigit()]
    marked = {t.strip(): m for t, m in found[best].items() if not m["body"].isdigit()}
    either = len(rows) > 1 and rows["."] == rows[","] and bool(marked)
    if not either or not all(_COULD_BE_EITHER.fullmatch(m["body"]) for m in marked.values()):
        return best, ""
    example, prefix = next(iter(marked)), any(match["prefix"] for match in marked.values())
    if not whole:
        return best, "" if prefix else example
    # 673 beside 1.041 are thousands: decimals would come with others of one or two digits.
    thousands = not codes and "." in "".join(marked) and max(map(len, whole)) < 4
    return (",", example) if thousands else (best, "")


def _pieces(kept: Mapping[str, re.Match[str]], scales: Mapping[str, str]) -> Pieces:
    """What to replace in texts so that digits and a decimal mark are left, longer pieces first."""
    by = {letter: "" for letter in {*"".join(kept)} if letter.isspace()}
    for match in kept.values():
        by.update((piece, "") for piece in (match["prefix"], match["mark"]) if piece)
        if suffix := match["suffix"].rstrip():
            by[suffix] = scales.get(suffix.lstrip(), "")
        by.update((dash, "-") for dash in _MINUS if dash in match["sign"] + match["inner"])
        by.update({"(": "-", ")": ""} if match["open"] else {})
    return tuple(sorted(by.items(), key=lambda pair: (-len(pair[0]), pair[0])))


def _unit(match: re.Match[str], scales: Collection[str] = ()) -> str:
    """A currency, a unit or both."""
    suffix = match["suffix"].strip()
    parts = (match["prefix"] or "").strip(), "" if suffix in scales else suffix
    return " ".join(filter(None, parts))


def _singular(unit: str) -> str:
    """The same for the singular and the plural of a unit."""
    return unit if len(unit) < 4 else unit.lower().rstrip(".").removesuffix("s")


def _numbers(
    texts: Mapping[str, int], decimal: str | None = None, codes: bool = False
) -> ParsedText | None:
    style = number_style(texts, decimal, codes=codes)
    if style is None:
        return None
    details = ", ".join(filter(None, (style.unit, DECIMAL_COMMA if style.decimal == "," else "")))
    return ParsedText(
        Kind.NUMBER,
        {text: number for text in texts if (number := style.read(text)) is not None},
        style.pieces,
        words=f"number ({details})" if details else "number",
        measures=any(replaced(text.strip(), style.pieces) != text.strip() for text in texts),
        doubtful=style.doubtful,
        otherwise=DECIMAL_COMMA if style.decimal == "." else NUMBER,
    )


def _bounds(texts: Mapping[str, int]) -> ParsedText | None:
    """Texts such as "< 1 year" or "10+ years": next to the number named, on the bound's side."""
    sides, plain, merged = {}, {}, Counter[str]()
    for text, count in texts.items():
        stripped = text.strip()
        bound = _BOUND.match(stripped)
        if bound:
            sides[text] = -1 if bound[0][0] in "<\N{LESS-THAN OR EQUAL TO}" else 1
        elif _AT_LEAST.search(text):
            sides[text] = 1
        plain[text] = _AT_LEAST.sub("", _BOUND.sub("", stripped))
        merged[plain[text]] += count
    style = number_style(merged) if sides else None
    if style is None:
        return None
    values = {
        text: float(np.nextafter(number, sides[text] * np.inf)) if text in sides else number
        for text in texts
        if (number := style.read(plain[text])) is not None
    }
    return ParsedText(Kind.NUMBER, values, looked_up=True, words="number, some of them bounds")


TWO_DIGITS = 69  # Years of two digits from here on are of the last century, as POSIX has it
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
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


def _dates(texts: Mapping[str, int], order: str | None = None) -> ParsedText | None:
    """Texts of a column, and how often each occurs, read as dates; None where none is one."""
    # The order is what the user says, or else that by which more rows read. Where both read as
    # many, the month comes first, but before points the day does.
    matched = {
        text: next((m for form in _DATE_FORMS if (m := form.fullmatch(text.strip()))), None)
        for text in texts
    }
    undecided = {t: m for t, m in matched.items() if m and "first" in m.re.groupindex}
    rows = {
        MONTH_FIRST: sum(texts[t] for t, m in undecided.items() if 1 <= int(m["first"]) <= 12),
        DAY_FIRST: sum(texts[t] for t, m in undecided.items() if 1 <= int(m["then"]) <= 12),
    }
    tied = rows[DAY_FIRST] == rows[MONTH_FIRST]
    if order:
        best = order
    elif tied:
        points = sum(texts[text] for text, match in undecided.items() if match["mark"] == ".")
        many = 2 * points > sum(texts[text] for text in undecided)
        best = DAY_FIRST if many else MONTH_FIRST
    else:
        best = max(rows, key=lambda one: rows[one])
    read = {text: _date(text, match, best) for text, match in matched.items()}
    dates = {text: date for text, date in read.items() if date is not None}
    if not dates:
        return None
    either = (t for t, match in undecided.items() if int(match["first"]) != int(match["then"]))
    return ParsedText(
        Kind.TIME,
        dates,
        looked_up=True,
        words=f"date, {best}" if undecided else "date",
        doubtful=next(either, "") if tied and not order else "",
        otherwise=DAY_FIRST if undecided and best == MONTH_FIRST else MONTH_FIRST,
    )


def _date(text: str, match: re.Match[str] | None, order: str) -> dt.datetime | None:
    try:
        if match is None:  # with a time zone, and other forms of ISO 8601; 20240101 is a number
            date: dt.datetime = canonical(dt.datetime.fromisoformat(text.strip()))
            return date if "-" in text else None
        held = {name: part or "" for name, part in match.groupdict().items()}
        digits = held["year"].lstrip("'")
        century = 0 if len(digits) == 4 else 1900 if int(digits) >= TWO_DIGITS else 2000
        day = int(held.get("day") or 1)
        if "first" in held:
            first, then = int(held["first"]), int(held["then"])
            month, day = (then, first) if order == DAY_FIRST else (first, then)
        elif "quarter" in held:
            month = 3 * int(held["quarter"]) - 2
        elif "month" in held:
            month = MONTHS.index(held["month"][:3].lower()) + 1
        else:
            month = int(held["n"])
        return dt.datetime.combine(dt.date(int(digits) + century, month, day), _time(held))
    except (ValueError, OverflowError):
        return None


def _time(held: Mapping[str, str]) -> dt.time:
    """The time of day in the groups of a match, midnight where there is none."""
    hour, minute, second = (int(held.get(part) or 0) for part in ("hour", "minute", "second"))
    if half := held.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    return dt.time(hour, minute, second, int(held.get("fraction", "").ljust(6, "0")[:6]))


def _hours(texts: Mapping[str, int]) -> ParsedText | None:
    """Texts that are times of day, in hours."""
    hours: dict[str, float] = {}
    for text in texts:
        if match := re.fullmatch(_CLOCK, text.strip(), re.IGNORECASE):
            with suppress(ValueError):
                time = _time({name: part or "" for name, part in match.groupdict().items()})
                seconds = time.hour * 3600 + time.minute * 60 + time.second + time.microsecond / 1e6
                hours[text] = seconds / 3600
    words = "time of day, in hours"
    return ParsedText(Kind.NUMBER, hours, looked_up=True, words=words, measures=True)


_READERS: dict[str | None, tuple[Reader, ...]] = {
    None: (_numbers, _bounds, _dates, _hours),
    TEXT: (),
    NUMBER: (partial(_numbers, codes=True), _bounds, _hours),
    DECIMAL_COMMA: (partial(_numbers, decimal=",", codes=True),),
    DATE: (_dates,),
    DAY_FIRST: (partial(_dates, order=DAY_FIRST),),
    MONTH_FIRST: (partial(_dates, order=MONTH_FIRST),),
}  # What a column is tried as, by what the user says; the first that reads enough rows is taken
