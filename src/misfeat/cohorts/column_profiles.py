"""Profile: what is known of a column before it is coded, and what it looks like beyond its type.

Among that are values that look like codes for missing values: -9, 999, or 0 in a measurement. A
code lies apart from all other values, on its side of them, and occurs again and again. Nothing is
done about these: a note suggests what to say.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from misfeat.cohorts import parsed_text
from misfeat.cohorts.ordered_text import order_of
from misfeat.cohorts.parsed_text import DECIMAL_COMMA, NUMBER, TEXT, ParsedText, parse_text
from misfeat.exceptions import MisfeatError, Notes
from misfeat.messages import Setting, listed
from misfeat.reading.coders import Kind, Reading
from misfeat.reading.inputs import Table
from misfeat.reading.table_statistics import ValueCounts, quantiles_of_counts
from misfeat.reading.values import EXACT_INTEGERS, MissingCodes, Value, canonical, check_text, label
from misfeat.runtime.array_types import Array, Flags, Integers

DISTINCT_LIMIT = 1_000_000  # Up to so many values are counted; beyond, engines give quantiles
IDENTIFIER_SHARE = 0.95  # With such a share of distinct values a column tells rows apart
LEAST_ROWS = 10  # In fewer rows, distinct values are no sign of an identifier
IDENTIFIER_ROWS = 50  # Distinct integers that are not consecutive need so many rows
YEAR = re.compile(r"(?i:year|yr)$")
MEASURES = re.compile(r"(?i:year|yr|month|week|day|time|hour|age)$")
NUMBERS_ROWS = re.compile(  # the last word of a name: not "total_paid", nor "COVID"
    r"(^|[\W_]|(?<=[a-z])(?=[A-Z]))(?i:id|no|nr|nbr|num|number|code|key|case|mrn|ssn|phone|serial"
    r"|invoice|subject|patient|participant|respondent|customer|client|member|user|student|employee)$"
)
LEAST_MISREAD = 10  # Fewer values that read, among others that do not, are categories
MOST_UNREAD = 5  # Texts that do not read and are named
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TextProfile:
    """What a column of text was read as, and what speaks against it."""

    words: str = ""  # "number ($)", "date, day first"; empty where it was left as text
    example: str = ""  # The most frequent text that reads
    measures: bool = False  # Whether numbers have units or marks, so that they do not number rows
    spelled: Mapping[Value, str] = field(default_factory=dict)
    """The most frequent text for each value, where it says more than the value."""
    unread: tuple[str, ...] = ()  # Texts that do not read and count as missing, by frequency
    unread_rows: int = 0
    only_words: bool = False  # Whether those are all words for nothing, such as "n/a"
    doubtful: str = ""  # A text that could be read in another way, where no other text decides
    otherwise: str = ""  # That other way, in the words of the parameter ``read``
    almost: str = ""  # Of a column that was left as text: what most of its rows read as


@dataclass(frozen=True)
class Profile:
    """What is known of a column before it is coded."""

    reading: Reading
    kind: Kind  # What it holds once it is read
    counts: ValueCounts | None  # Its values; None when there are more than `DISTINCT_LIMIT`
    missing: int  # Rows in which it is missing, user-given codes included
    rows: int
    text: TextProfile = TextProfile()
    in_order: bool = False  # Whether categories have an order; `counts` are in that order

    @property
    def column(self) -> str:
        """The column's name."""
        return self.reading.column

    @property
    def distinct(self) -> int:
        """How many distinct values there are, or the least number that there can be."""
        return DISTINCT_LIMIT + 1 if self.counts is None else len(self.counts.values)

    @property
    def recorded(self) -> int:
        """Rows in which the column is not missing."""
        return self.rows - self.missing

    @property
    def is_called_so(self) -> bool:
        """Whether the column is called an identifier, and has too many values to sort rows."""
        whole = self.kind in (Kind.INTEGER, Kind.TEXT) and self.distinct >= MANY_VALUES
        return whole and CALLED.search(self.column) is not None

    @property
    def is_identifier(self) -> bool:
        """Whether values name rows: nearly every row has its own, or the column is called so."""
        if self.is_called_so:
            return True
        if self.recorded < LEAST_ROWS or self.distinct < IDENTIFIER_SHARE * self.recorded:
            return False
        if self.in_order or self.kind is Kind.TEXT:
            return not self.in_order
        if self.kind not in (Kind.INTEGER, Kind.NUMBER) or self.text.measures or self.has_dates:
            return False
        if self.counts is None:
            return self.kind is Kind.INTEGER
        values = self.counts.values
        if np.any(values != np.floor(values)) or np.abs(values).max() >= EXACT_INTEGERS:
            return False
        named, low, high = MEASURES.search(self.column), values[0], values[-1]
        if named or low < 0 or (self.recorded < IDENTIFIER_ROWS and high - low >= len(values)):
            return False
        if high - low < len(values):
            return bool(low <= 1 or self.recorded >= IDENTIFIER_ROWS)
        # Numbers of rows run on in blocks. Others could be salaries: an identifier that is kept
        # explains nothing, a measurement that is left out would be missed.
        in_blocks = np.mean(np.diff(values) == 1) > MOSTLY_NEW
        return bool(in_blocks or NUMBERS_ROWS.search(self.column))

    @property
    def has_dates(self) -> bool:
        """Whether integers are years, or days such as 20240131 or 240131."""
        if self.counts is None or self.kind not in (Kind.INTEGER, Kind.NUMBER) or not self.distinct:
            return False
        values = self.counts.values
        if YEAR.search(self.column):
            return bool(values[0] >= 1000 and values[-1] < 2200)
        if values[0] < 10**5 or values[-1] > 99991231:
            return False
        month, day = values // 100 % 100, values % 100
        return bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))


def profile_column(
    table: Table, column: str, codes: MissingCodes, rows: int, way: str | None = None
) -> Profile:
    """Count the values of a column inside the engine, apply missing codes, and read text."""
    kind = table.kind(column)
    if way in (None, parsed_text.AS_THEY_STAND):
        way = way and TEXT
    elif kind is not Kind.TEXT and (kind.ordered or way != TEXT):
        raise MisfeatError(
            f"{Setting('read', way, column=column)}: the column holds {kind.value} values, and "
            f"only text is read; make it text in the table, or take it out of {Setting('read')}.",
            column=column,
        )
    if kind is Kind.UNSUPPORTED:
        return Profile(Reading(column), kind, None, 0, rows)
    raw = table.value_counts(column, DISTINCT_LIMIT)
    if raw is None:
        texts = (*codes.labels(column), "") if kind is Kind.TEXT else ()
        numeric = kind in (Kind.INTEGER, Kind.NUMBER)
        missing: tuple[Value, ...] = codes.numbers(column) if numeric else texts
        reading = Reading(column, missing)
        return Profile(reading, kind, None, table.count_missing(reading), rows)
    if kind is Kind.TEXT:
        check_text(raw.values, f"Column {column!r}: the text", column)
    if kind in (Kind.INTEGER, Kind.NUMBER):
        numbers = codes.numbers(column)
        if raw.values.dtype.kind == "i":
            numbers = tuple(n for n in numbers if isinstance(n, int) and abs(n) < 2**63)
        is_code = np.isin(raw.values, np.array(numbers, dtype=raw.values.dtype))
    else:
        labels, blank = set(codes.labels(column)), kind is Kind.TEXT  # blank text is missing
        flags = [label(value) in labels or (blank and not value.strip()) for value in raw.values]
        is_code = np.array(flags, dtype=bool)
    counts = raw.without(is_code)
    missing = tuple(canonical(value) for value in raw.values[is_code])
    profile = Profile(Reading(column, missing), kind, counts, counts.missing, rows)
    order = table.order(column)
    if order is not None and way in (None, TEXT) and set(order).issuperset(counts.values.tolist()):
        return replace(profile, counts=counts.in_order(order), in_order=True)
    return _read_text(profile, counts, way, codes) if kind is Kind.TEXT else profile


def _read_text(
    profile: Profile, counts: ValueCounts, way: str | None, codes: MissingCodes
) -> Profile:
    """The profile of a column of text once it is read, the same where it is just text."""
    # Every number and every date has a digit.
    just_text = way == TEXT or (way is None and not any(map(_DIGIT.search, counts.values)))
    parsed, share = (None, 0.0) if just_text else parse_text(counts, way)
    if way not in (None, TEXT) and parsed is None and profile.distinct:
        raise MisfeatError(
            f"{Setting('read', way, column=profile.column)}: no value of the column reads so.",
            column=profile.column,
        )
    order = order_of(counts.values.tolist()) if way is None and share < parsed_text.ENOUGH else None
    if order is not None:
        return replace(profile, counts=counts.in_order(order), in_order=True)
    if parsed is None or (way is None and share < parsed_text.MANY):
        example = str(counts.values[np.argmax(counts.counts)]) if len(counts.values) else ""
        return replace(profile, text=TextProfile(example=example))
    if way is None and share < parsed_text.ENOUGH:
        text = _text_profile(parsed, counts)
        almost = parsed.words if len(parsed.values) >= LEAST_MISREAD else ""
        kept = {part: getattr(text, part) for part in ("example", "unread", "unread_rows")}
        return replace(profile, text=TextProfile(**kept, almost=almost))
    values = {text: canonical(value) for text, value in parsed.values.items()}
    missing = profile.reading.missing
    coded = sorted(text for text, value in values.items() if codes.holds(profile.column, value))
    if coded and len(coded) < len(values):
        values = {text: value for text, value in values.items() if text not in coded}
        parsed = replace(parsed, values=values)
        counts = counts.without(np.isin(counts.values, coded))
        missing = (*missing, *coded)
    missing = (*missing, *(text for text in counts.values.tolist() if text not in values))
    reading = Reading(profile.column, missing, as_number=True, pieces=parsed.pieces)
    if parsed.looked_up:
        texts, looked_up = tuple(values), tuple(values.values())
        reading = Reading(profile.column, missing, texts=texts, values=looked_up)
    counted = parsed.counted(counts)
    text = _text_profile(parsed, counts)
    about: dict[str, Any] = {"counts": counted, "missing": counted.missing, "text": text}
    return replace(profile, reading=reading, kind=parsed.kind, **about)


def _text_profile(parsed: ParsedText, counts: ValueCounts) -> TextProfile:
    by_frequency = np.argsort(-counts.counts, kind="stable")
    texts = [str(text) for text in counts.values[by_frequency]]
    read = [text for text in texts if text in parsed.values]
    unread = [text for text in texts if text not in parsed.values]
    marked = read if parsed.pieces or parsed.looked_up else []
    spelled = {canonical(parsed.values[text]): text for text in reversed(marked)}
    rows = dict(zip(counts.values.tolist(), counts.counts.tolist(), strict=True))
    return TextProfile(
        words=parsed.words,
        example=read[0],
        measures=parsed.measures,
        spelled=spelled,
        unread=tuple(unread[:MOST_UNREAD]),
        unread_rows=sum(rows[text] for text in unread),
        only_words=all(text.strip().casefold() in parsed_text.NOTHING for text in unread),
        doubtful=parsed.doubtful,
        otherwise=parsed.otherwise,
    )


MOST_NAMED = 5  # Columns that the note about read text names


def note_text(profiles: Iterable[Profile], notes: Notes) -> None:
    """Note which columns of text stand for numbers or dates, and warn of what is in doubt."""
    profiles = list(profiles)
    # Plain numbers need no word, and two values are two categories either way.
    read = [profile for profile in profiles if profile.text.spelled and profile.distinct > 2]
    if read:
        examples = [f"{p.column}: {p.text.example!r}, {p.text.words}" for p in read]
        single = len(read) == 1
        notes.add(
            "{n} of text {are} for ({examples}); {text} keeps the texts of one as categories.",
            n="1 column" if single else f"{len(read)} columns",
            are="is read as what it stands" if single else "are read as what they stand",
            examples="; ".join(examples[:MOST_NAMED]) + ("; …" if len(read) > MOST_NAMED else ""),
            text=Setting("read", "text", column=read[0].column),
        )
    for profile in profiles:
        column, text = profile.column, profile.text
        counts = profile.counts if profile.distinct <= MANY_VALUES else None
        if profile.kind is Kind.TEXT and counts is not None:
            plain = {value: value.strip().casefold() for value in counts.values.tolist()}
            times = Counter(plain.values())
            if alike := [value for value in plain if times[plain[value]] > 1]:
                notes.warn(
                    "Column {column!r} holds {values}, which differ in case or in blanks around "
                    "them and count as different values; where they mean the same, write them so.",
                    column=column,
                    values=listed(alike, 3),
                )
        shown: dict[str, Any] = {"column": column, "example": text.example}
        shown |= {"rows": text.unread_rows, "examples": listed(text.unread)}
        if text.words and text.unread:
            note = notes.add if text.only_words else notes.warn
            note(
                "Column {column!r} is read as {words}, as in {example!r}; {rows:,} of its rows do "
                "not read and count as missing: {examples}. If they should not, pass {text}.",
                words=text.words,
                text=Setting("read", "text", column=column),
                **shown,
            )
        if text.doubtful:
            notes.warn(
                "Column {column!r} is read as {words}, but {examples!r} could be read in another "
                "way, and no value tells which is meant; if it is the other, pass {other}.",
                column=column,
                words=text.words,
                examples=text.doubtful,
                other=Setting("read", text.otherwise, column=column),
            )
        if text.almost:
            number = DECIMAL_COMMA if DECIMAL_COMMA in text.almost else NUMBER
            way = "date" if text.almost.startswith("date") else number
            notes.warn(
                "Column {column!r} is taken for text, though most of its rows read as {words}, as "
                "in {example!r}: {rows:,} do not, such as {examples}. If those mean missing, pass "
                "{number}.",
                words=text.almost,
                number=Setting("read", way, column=column),
                **shown,
            )


IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE = "identifier", "date", "free text", ""
LOOKS = (IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE)
MANY_VALUES = 50  # With fewer distinct values a column sorts rows into kinds, whatever it is called
A_COUNTER = 100  # Numbers that count people have so many values at least; ages have fewer
OFTEN_NEW = 0.3  # The share of the rows of a counter, or of free text, that hold another value
NO_GAPS = 0.85  # The share of the integers from the least to the greatest that occur in a counter
MOSTLY_NEW = 0.5  # Text of which so many values are distinct was typed, or names rows
NUMBERED = r"(account|case|client|customer|employee|patient|person|record|row|subject|user|visit)"
CALLED = re.compile(
    rf"(?i:(^|[\W_]|{NUMBERED})(ids?|[pu]?id|ptid|u?subjid|hhid|uuid|guid|identifier|nr|nbr|mrn|ssn)$)"
    r"|[a-z]I[Dd]$"
)
SAMPLED = 200  # So many values of text are read to see whether they are dates
WORDS = 3  # Free text has so many words on the mean


def looks_like(profile: Profile) -> str:
    """What a column looks like, if it is coded as a feature all the same: one of `LOOKS`."""
    is_text, is_integer = profile.kind is Kind.TEXT, profile.kind is Kind.INTEGER
    if profile.kind is Kind.TIME or (is_text and _holds_dates(profile)):
        return DATE
    if profile.distinct < MANY_VALUES:
        return NOTHING_ELSE
    if profile.has_dates:
        return DATE
    if profile.is_identifier:
        return IDENTIFIER
    if is_text and _words(profile) >= WORDS:
        return FREE_TEXT
    often_new = is_text and profile.distinct >= MOSTLY_NEW * profile.recorded
    if is_integer and profile.counts is not None:
        # Integers that run through with hardly a gap, as visits numbered by patient do.
        span = float(profile.counts.values[-1]) - float(profile.counts.values[0]) + 1
        new = profile.distinct >= max(A_COUNTER, OFTEN_NEW * profile.recorded)
        often_new = new and profile.counts.values[0] <= 1 and profile.distinct >= NO_GAPS * span
        often_new = often_new and not MEASURES.search(profile.column)
    return IDENTIFIER if often_new else NOTHING_ELSE


def holds_sentences(profile: Profile) -> bool:
    """Whether a column of text holds sentences, many of which occur once."""
    often_new = profile.distinct >= OFTEN_NEW * profile.recorded
    return profile.kind is Kind.TEXT and often_new and _words(profile) >= WORDS


def _holds_dates(profile: Profile) -> bool:
    values = _some_values(profile)
    try:
        list(map(dt.datetime.fromisoformat, values))
    except ValueError:
        return False
    return bool(values) and all("-" in text for text in values)  # 20240101 is a number, too


def _words(profile: Profile) -> float:
    return float(np.mean([len(text.split()) for text in _some_values(profile)]))


def _some_values(profile: Profile) -> list[str]:
    if profile.counts is None:
        return []
    values = profile.counts.values
    return [str(value) for value in values[:: max(len(values) // SAMPLED, 1)]]


WORDS_FOR_MISSING = frozenset(("?", "-", ".", "n/a", "nan", "null", "unknown", "missing"))
WHOLE = (77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999)
ABOVE = (*WHOLE, 99.9, 99.99, 999.9, 9999.9)
BELOW = (-1, -7, -8, -9, *(-code for code in ABOVE))
OF_A_SCALE = (7, 8, 9)  # Codes beside the answers of a short scale
LONGEST_SCALE = 5
LEAST_CODED = 3  # What occurs less often is a slip
MEASURED = 20  # A measurement has at least so many distinct values
FAR = 0.5  # A code above lies this far beyond the others, as a share of their range
FAR_IN_TIMES = 0.25  # And of their range in logarithms: incomes and counts have long tails
FROM_NOTHING = 0.15  # The least measurement is so far from 0, as a share of the range of most
VARIES = 0.5  # The standard deviation of a measurement over its mean, at most
OFTEN = 3.0  # A code within reach of other values occurs so many times as often as one of them does
EXTREMES = (0.01, 0.99)
NO_DATES = re.compile(
    r"(1753|1800|1900|1970)-01-01|1899-12-3[01]|1900-01-02|(2099|2199|2999|9999)-12-31"
)


def suspects(profile: Profile) -> tuple[tuple[Value, ...], str]:
    """The values of a column of numbers that look like codes for missing values, and why."""
    counts = profile.counts
    if profile.kind is Kind.TEXT and counts is not None:
        known = WORDS_FOR_MISSING - ({"-"} if "+" in counts.values else set())
        texts = zip(counts.values.tolist(), counts.counts.tolist(), strict=True)
        words = {text: n for text, n in texts if text.strip().casefold() in known}
        if len(words) < profile.distinct and sum(words.values()) >= LEAST_CODED:
            return tuple(words), f"{' or '.join(map(repr, words))} in {sum(words.values()):,} rows"
    if profile.kind is Kind.TIME and counts is not None and profile.distinct > 2:
        dates = [date for date in map(canonical, counts.values) if isinstance(date, dt.date)]
        return _no_date(dates, counts.counts) if len(dates) == profile.distinct else ((), "")
    if counts is None or profile.kind not in (Kind.INTEGER, Kind.NUMBER) or profile.distinct < 3:
        return (), ""
    for find in (_below, _above, _beside_a_scale, _zero):
        is_code = find(counts.values, counts.counts)
        rows = int(counts.counts[is_code].sum())
        if rows >= LEAST_CODED:
            values = tuple(canonical(value) for value in counts.values[is_code])
            low, high = (label(canonical(counts.values[~is_code][end])) for end in (0, -1))
            shown = " or ".join(map(label, values))
            return values, f"{shown} in {rows:,} rows, and from {low} to {high} in all others"
    return (), ""


def _no_date(dates: Sequence[Value], counts: Integers) -> tuple[tuple[Value, ...], str]:
    """The first or the last date, where it is written for none and is far from the others."""
    day = [date.toordinal() for date in dates]
    ends = (0, day[1] - day[0], day[-1] - day[1]), (-1, day[-1] - day[-2], day[-2] - day[0])
    for end, apart, others in ends:
        code = label(dates[end])[:10]
        if NO_DATES.fullmatch(code) and apart >= FAR * others and counts[end] >= LEAST_CODED:
            low, high = (label(dates[at])[:10] for at in (end + 1, end - 1))
            why = f"{code} in {counts[end]:,} rows, and from {low} to {high} in all others"
            return (code,), why
    return (), ""


def _below(values: Array, counts: Integers) -> Flags:
    """Codes below 0, where nothing else is, or far below the others."""
    below = values < 0
    n_below = int(below.sum())
    suspected = n_below <= len(values) - 2 and bool(np.isin(values[below], BELOW).all())
    if n_below == 1 and values[0] == -1:
        often = counts[0] >= OFTEN * np.median(counts[1:])
        suspected = suspected and bool(often) and len(values) > MEASURED
    return below & suspected | _above(-values[::-1], counts)[::-1]


def _beside_a_scale(values: Array, counts: Integers) -> Flags:
    """7, 8 and 9 beside answers that go from 0 or 1 to 5 at most."""
    beyond = _above(values, counts, OF_A_SCALE)
    scale = values[~beyond]
    return beyond & bool(scale[0] in (0, 1) and scale[-1] <= LONGEST_SCALE)


def _above(values: Array, _: Integers, codes: tuple[float, ...] = ABOVE) -> Flags:
    """The largest values, where they are codes and far from the others."""
    beyond = np.logical_and.accumulate(np.isin(values, codes)[::-1])[::-1]
    others = values[~beyond].astype(np.float64)
    if not beyond.any() or len(others) < 2:
        return np.zeros_like(beyond)
    code, low, high = float(values[beyond][0]), others[0], others[-1]
    far = code - high >= max(FAR * (high - low), 2.0)
    if low >= 0:
        least = others[others > 0][0]
        far = far and np.log(code / high) >= FAR_IN_TIMES * np.log(high / least)
    return np.asarray(beyond & bool(far))


def _zero(values: Array, counts: Integers) -> Flags:
    """0 in a measurement that is nowhere near it."""
    if values[0] != 0 or len(values) <= MEASURED or not np.isfinite(values[-1]):
        return np.zeros(len(values), dtype=bool)
    others, rows = values[1:] / values[-1], counts[1:]
    low, high = quantiles_of_counts(others, rows, EXTREMES)
    mean = float(np.average(others, weights=rows))
    deviation = float(np.sqrt(np.average((others - mean) ** 2, weights=rows)))
    apart = others[0] >= FROM_NOTHING * (high - low) and deviation <= VARIES * mean
    often = counts[0] >= OFTEN * np.median(rows)
    return np.asarray((values == 0) & bool(apart and often))
