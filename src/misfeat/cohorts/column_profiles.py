"""Profile: what is known of a column before it is coded, and what it looks like beyond its type.

It may be an identifier, a date, or text that people typed. Numbers may look like codes for missing
values: -9, 999, or 0 in a measurement. Nothing is done about these: a note suggests what to say,
and what makes one think so. A code lies apart from all other values, on its side of them, and
occurs again and again.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from misfeat.cohorts.parsed_text import ENOUGH, MANY, NOTHING, TEXT, ParsedText, parse_text
from misfeat.exceptions import MisfeatError, Setting, listed
from misfeat.reading.coders import Kind, Reading
from misfeat.reading.values import (
    EXACT_INTEGERS,
    PLAIN_NUMBER,
    MissingCodes,
    Value,
    canonical,
    check_values,
    label,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.cohorts.build import Notes
    from misfeat.reading.inputs import Table
    from misfeat.reading.table_answers import ValueCounts


DISTINCT_LIMIT = 1_000_000
"""Up to so many distinct values are counted exactly; beyond, the engine's quantiles are used."""
IDENTIFIER_SHARE = 0.95
"""A column in which this share of the values is distinct tells rows apart, not kinds of rows."""
LEAST_ROWS = 10  # In fewer rows, distinct values are no sign of an identifier
IDENTIFIER_ROWS = 50
"""Integers that are nearly all distinct, but not consecutive, need so many rows."""
LEAST_MISREAD = 10
"""Fewer values that read among others that do not are categories, and lose nothing as such."""
MOST_UNREAD = 5  # Texts that do not read and are named
SOME = 0.05  # A part of the rows that is not a slip
_KINDS = {
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.TEXT: "category",
    Kind.FLAG: "flag",
    Kind.TIME: "date",
}
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TextProfile:
    """What a column of text was read as, and what speaks against it."""

    words: str = ""
    """In words: ``"number ($)"``, ``"date, day first"``; empty where it was left as text."""
    example: str = ""  # The most frequent text that reads
    measures: bool = False
    """Whether its numbers have a unit or marks in them, so that they number no rows."""
    spelled: Mapping[Value, str] = field(default_factory=dict)
    """The most frequent text for each value, where it says more than the value."""
    unread: tuple[str, ...] = ()
    """Texts that do not read and count as missing, the most frequent first."""
    unread_rows: int = 0
    only_words: bool = False  # Whether those are all words for nothing, such as "n/a"
    doubtful: str = ""
    """A text that could be read in another way as well, where no other text decides."""
    otherwise: str = ""  # That other way, in the words of the parameter ``read``
    almost: str = ""  # Of a column that was left as text: what most of its rows read as
    bare: str = ""
    """Of a column with a unit: a number without it, where a part of the rows holds such."""
    bare_rows: int = 0
    centuries: tuple[str, ...] = ()
    """Years of two digits taken for this century and for the last one, where both occur."""
    alike: tuple[str, ...] = ()  # Two texts that stand for one number


@dataclass(frozen=True)
class Profile:
    """What is known of a column before it is coded."""

    reading: Reading
    kind: Kind  # What it holds once it is read
    counts: ValueCounts | None  # Its values; None when there are more than `DISTINCT_LIMIT`
    missing: int  # Rows in which it is missing, user-given codes included
    rows: int
    text: TextProfile = TextProfile()
    in_order: bool = False
    """Whether categories have an order that their type gives them; `counts` are in it."""

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
    def is_identifier(self) -> bool:
        """Whether nearly every row has its own value, and the column measures nothing."""
        if self.recorded < LEAST_ROWS or self.distinct < IDENTIFIER_SHARE * self.recorded:
            return False
        if self.in_order or self.kind is Kind.TEXT:
            return not self.in_order
        if self.kind not in (Kind.INTEGER, Kind.NUMBER) or self.text.measures:
            return False
        if self.counts is None:
            return self.kind is Kind.INTEGER
        values = self.counts.values
        whole = np.all(values == np.floor(values)) and np.abs(values).max() < EXACT_INTEGERS
        consecutive = whole and values[-1] - values[0] + 1 == len(values)
        return bool(consecutive or (whole and self.recorded >= IDENTIFIER_ROWS))


def profile_column(
    table: Table, column: str, codes: MissingCodes, rows: int, way: str | None = None
) -> Profile:
    """Count the values of a column inside the engine, apply missing codes, and read text."""
    kind = table.kind(column)
    if way not in (None, TEXT) and kind is not Kind.TEXT:
        raise MisfeatError(
            "{setting}: the column holds {kind} values, and only text is read another way; take it "
            "out of {read}.",
            column=column,
            setting=Setting("read", way, column=column),
            kind=kind.value,
            read=Setting("read"),
        )
    if kind is Kind.UNSUPPORTED:
        return Profile(Reading(column), kind, None, 0, rows)
    raw = table.value_counts(column, DISTINCT_LIMIT)
    if raw is None:
        missing: tuple[Value, ...] = ()
        if kind in (Kind.INTEGER, Kind.NUMBER):
            missing = codes.numbers(column)
        elif kind is Kind.TEXT:
            missing = (*codes.labels(column), "")
        reading = Reading(column, missing)
        return Profile(reading, kind, None, table.count_missing(reading), rows)
    if kind is Kind.TEXT:
        check_values(raw.values, column)
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
            "{setting}: no value of the column reads so; one is {example!r}.",
            column=profile.column,
            setting=Setting("read", way, column=profile.column),
            example=str(counts.values[0]),
        )
    if parsed is None or (way is None and share < MANY):
        example = str(counts.values[np.argmax(counts.counts)]) if len(counts.values) else ""
        return replace(profile, text=TextProfile(example=example))
    if way is None and share < ENOUGH:
        text = _text_profile(parsed, counts)
        almost = parsed.words if len(parsed.values) >= LEAST_MISREAD else ""
        kept: dict[str, Any] = {"unread": text.unread, "unread_rows": text.unread_rows}
        return replace(profile, text=TextProfile(example=text.example, almost=almost, **kept))
    missing = profile.reading.missing
    means_missing = {
        text
        for text, value in parsed.values.items()
        if codes.holds(profile.column, canonical(value))
    }
    if means_missing and len(means_missing) < len(parsed.values):
        left = {text: v for text, v in parsed.values.items() if text not in means_missing}
        parsed = replace(parsed, values=left)
        counts = counts.without(np.array([text in means_missing for text in counts.values]))
        missing = (*missing, *sorted(means_missing))
    missing = (*missing, *(text for text in counts.values.tolist() if text not in parsed.values))
    if parsed.looked_up:
        values = tuple(map(canonical, parsed.values.values()))
        reading = Reading(profile.column, missing, texts=tuple(parsed.values), values=values)
    else:
        reading = Reading(profile.column, missing, as_number=True, pieces=parsed.pieces)
    counted = parsed.counted(counts)
    return replace(
        profile,
        reading=reading,
        kind=parsed.kind,
        counts=counted,
        missing=counted.missing,
        text=_text_profile(parsed, counts),
    )


def _text_profile(parsed: ParsedText, counts: ValueCounts) -> TextProfile:
    reads = np.array([text in parsed.values for text in counts.values], dtype=bool)
    order = np.argsort(-counts.counts, kind="stable")
    unread = [str(counts.values[p]) for p in order if not reads[p]]
    read = [str(counts.values[p]) for p in order if reads[p]]
    spelled: dict[Value, str] = {}
    if parsed.pieces or parsed.looked_up:
        for text in read:
            spelled.setdefault(canonical(parsed.values[text]), text)
    bare, bare_rows = _bare_numbers(parsed, counts)
    return TextProfile(
        words=parsed.words,
        example=read[0],
        measures=bool(parsed.pieces or parsed.unit),
        spelled=spelled,
        unread=tuple(unread[:MOST_UNREAD]),
        unread_rows=int(counts.counts[~reads].sum()),
        only_words=all(text.strip().casefold() in NOTHING for text in unread),
        doubtful=parsed.doubtful,
        otherwise=parsed.otherwise,
        bare=bare,
        bare_rows=bare_rows,
        centuries=parsed.centuries,
        alike=() if spelled else _alike(parsed, read),
    )


def _alike(parsed: ParsedText, read: Sequence[str]) -> tuple[str, ...]:
    """Two plain texts of one number, such as 250.1 and 250.10, which codes keep apart."""
    first: dict[Value, str] = {}
    for text in read:
        other = first.setdefault(parsed.values[text], text)
        if other.strip() != text.strip():
            return other, text
    return ()


def _bare_numbers(parsed: ParsedText, counts: ValueCounts) -> tuple[str, int]:
    """A number without the unit of the others, and how many rows hold such; 0 needs none."""
    if not parsed.unit or not parsed.pieces:
        return "", 0
    texts = [text for text in counts.values.tolist() if parsed.values.get(text)]
    rows = dict(zip(counts.values.tolist(), counts.counts.tolist(), strict=True))
    bare = [text for text in texts if PLAIN_NUMBER.fullmatch(text.strip())]
    held, every = (sum(rows[text] for text in some) for some in (bare, texts))
    if not SOME * every <= held <= (1 - SOME) * every or not held:
        return "", 0
    return max(bare, key=lambda text: rows[text]), held


MOST_NAMED = 5  # Columns that the note about read text names


def note_text(profiles: Iterable[Profile], notes: Notes) -> None:
    """Note which columns of text stand for numbers or dates, and warn of what is in doubt."""
    profiles = list(profiles)
    read = [profile for profile in profiles if profile.text.spelled]  # not plain numbers
    if read:
        examples = [f"{p.column}: {p.text.example!r}, {p.text.words}" for p in read]
        single = len(read) == 1
        notes.add(
            "{n} of text {are} read as what {they} {stand} for ({examples}); {text} keeps the "
            "texts of one as categories.",
            n="1 column" if single else f"{len(read)} columns",
            are="is" if single else "are",
            they="it" if single else "they",
            stand="stands" if single else "stand",
            examples="; ".join(examples[:MOST_NAMED]) + ("; …" if len(read) > MOST_NAMED else ""),
            text=Setting("read", "text", column=read[0].column),
        )
    for profile in profiles:
        _note_doubts(profile.column, profile.text, notes)


def _note_doubts(column: str, text: TextProfile, notes: Notes) -> None:
    """Whatever there is to say about one column."""
    as_text = Setting("read", "text", column=column)
    if text.words and text.unread:
        note = notes.add if text.only_words else notes.warn
        note(
            "Column {column!r} is read as {words}, as in {example!r}; {rows:,} of its rows do not "
            "read and count as missing: {examples}. If they should not, pass {text}.",
            column=column,
            words=text.words,
            example=text.example,
            rows=text.unread_rows,
            examples=listed(text.unread),
            text=as_text,
        )
    if text.doubtful:
        notes.warn(
            "Column {column!r} is read as {words}, but {examples!r} could be read in another way, "
            "and no value tells which is meant; if it is the other, pass {other}.",
            column=column,
            words=text.words,
            examples=text.doubtful,
            other=Setting("read", text.otherwise, column=column),
        )
    if text.centuries:
        this, last = text.centuries
        notes.warn(
            "Column {column!r} writes years with two digits; {this!r} is taken for this century "
            "and {last!r} for the last one. If that is wrong, write them with four.",
            column=column,
            this=this,
            last=last,
        )
    if text.alike:
        one, other = text.alike
        notes.add(
            "Column {column!r} is read as numbers, so that {one!r} and {other!r} are the same; if "
            "they are codes, pass {text}.",
            column=column,
            one=one,
            other=other,
            text=as_text,
        )
    if text.bare:
        notes.warn(
            "Column {column!r} is read as {words}, as in {example!r}, and {rows:,} of its rows "
            "hold bare numbers such as {bare!r}, which are taken in the same unit. If they are in "
            "another one, bring all to one unit first.",
            column=column,
            words=text.words,
            example=text.example,
            rows=text.bare_rows,
            bare=text.bare,
        )
    if text.almost:
        way = "date" if text.almost.startswith("date") else "number"
        notes.warn(
            "Column {column!r} is taken for text, though most of its rows read as {words}, as in "
            "{example!r}: {rows:,} do not, such as {examples}. If those mean missing, pass "
            "{number}.",
            column=column,
            words=text.almost,
            example=text.example,
            rows=text.unread_rows,
            examples=listed(text.unread),
            number=Setting(
                "read", "decimal comma" if "decimal comma" in text.almost else way, column=column
            ),
        )


def taken_for(profile: Profile) -> str:
    """What the values of a column were taken for, in words."""
    if profile.in_order:
        return "category, in order"
    return profile.text.words or _KINDS.get(profile.kind, "")


def example_of(profile: Profile) -> str:
    """A value of a column as the table holds it, the most frequent one."""
    if profile.text.example or profile.counts is None or not profile.distinct:
        return profile.text.example
    return label(canonical(profile.counts.values[np.argmax(profile.counts.counts)]))


IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE = "identifier", "date", "free text", ""
LOOKS = (IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE)
MANY_VALUES = 50  # With fewer distinct values a column sorts rows into kinds, whatever it is called
A_COUNTER = 100  # Numbers that count people have so many values at least; ages have fewer
OFTEN_NEW = 0.3  # The share of the rows of a counter, or of free text, that hold another value
NO_GAPS = 0.85
"""The share of all integers between the least and the greatest that occur in a counter."""
MOSTLY_NEW = 0.5  # Text of which so many values are distinct was typed, or names rows
CALLED = re.compile(r"(?i:(^|[\W_])(id|ids|uid|uuid|guid|identifier)$)|[a-z]I[Dd]$")
SAMPLED = 200  # So many values of text are read to see whether they are dates
WORDS = 3  # Free text has so many words on the mean


def looks_like(profile: Profile) -> str:
    """What a column looks like, if it is coded as a feature all the same: one of `LOOKS`."""
    is_text = profile.kind is Kind.TEXT
    if profile.kind is Kind.TIME or (is_text and _holds_dates(profile)):
        return DATE
    if profile.distinct < MANY_VALUES:
        return NOTHING_ELSE
    named = CALLED.search(profile.column) is not None and profile.kind in (Kind.INTEGER, Kind.TEXT)
    if profile.is_identifier or named:
        return IDENTIFIER
    if profile.kind is Kind.INTEGER and profile.counts is not None:
        # Integers that run through with hardly a gap, as visits numbered by patient do.
        values = profile.counts.values
        span = float(values[-1]) - float(values[0]) + 1
        often_new = profile.distinct >= max(A_COUNTER, OFTEN_NEW * profile.recorded)
        return IDENTIFIER if often_new and len(values) >= NO_GAPS * span else NOTHING_ELSE
    if is_text and _words(profile) >= WORDS:
        return FREE_TEXT
    mostly_new = is_text and profile.distinct >= MOSTLY_NEW * profile.recorded
    return IDENTIFIER if mostly_new else NOTHING_ELSE


def holds_sentences(profile: Profile) -> bool:
    """Whether a column of text holds sentences, many of which occur once."""
    often_new = profile.distinct >= OFTEN_NEW * profile.recorded
    return profile.kind is Kind.TEXT and often_new and _words(profile) >= WORDS


def _holds_dates(profile: Profile) -> bool:
    values = _some_values(profile)
    try:
        for text in values:
            dt.datetime.fromisoformat(text)
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


ABOVE = (77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999)
BELOW = (-1, -7, -8, -9, *(-code for code in ABOVE))
OF_A_SCALE = (7, 8, 9)  # Codes beside the answers of a short scale
LONGEST_SCALE = 5
LEAST_CODED = 3  # What occurs less often is a slip
MEASURED = 20  # A measurement has at least so many distinct values
FAR = 0.5  # A code above lies this far beyond the others, as a share of their range
FAR_IN_TIMES = 0.25  # And of their range in logarithms: incomes and counts have long tails
FROM_NOTHING = 0.15
"""The least measurement is this far from 0, as a share of the range of all but 2 % of them."""
VARIES = 0.5  # The standard deviation of a measurement over its mean, at most
OFTEN = 3.0  # A code within reach of other values occurs so many times as often as one of them does
EXTREMES = (0.01, 0.99)
_NONE = np.zeros(1, dtype=bool)


class Suspects(NamedTuple):
    """Values of a column that may stand for missing; none where nothing is suspected."""

    values: tuple[Value, ...] = ()
    why: str = ""


def suspects(profile: Profile) -> Suspects:
    """The values of a column of numbers that look like codes for missing values, and why."""
    counts = profile.counts
    if counts is None or profile.kind not in (Kind.INTEGER, Kind.NUMBER) or profile.distinct < 3:
        return Suspects()
    above = partial(_beyond, codes=ABOVE)
    for find in (_below, above, _beside_a_scale, _zero):
        is_code = find(counts.values, counts.counts)
        rows = int(counts.counts[is_code].sum()) if is_code.any() else 0
        if rows >= LEAST_CODED:
            values = tuple(canonical(value) for value in counts.values[is_code])
            low, high = (label(canonical(counts.values[~is_code][end])) for end in (0, -1))
            shown = " or ".join(map(label, values))
            why = f"{shown} in {rows:,} rows, and from {low} to {high} in all others"
            return Suspects(values, why)
    return Suspects()


def _below(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Codes below 0, where nothing else is."""
    below = int(np.searchsorted(values, 0))
    first = np.arange(len(values)) < below
    if not 0 < below <= min(len(BELOW), len(values) - 2) or not np.isin(values[first], BELOW).all():
        return _NONE
    if below == 1 and values[0] == -1:
        often = counts[0] >= OFTEN * np.median(counts[1:])
        return first & bool(often and len(values) > MEASURED)
    return first


def _beside_a_scale(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """7, 8 and 9 beside answers that go from 0 or 1 to 5 at most."""
    found = _beyond(values, counts, OF_A_SCALE)
    if not found.any():
        return _NONE
    scale = values[~found]
    return found & bool(scale[0] in (0, 1) and scale[-1] <= LONGEST_SCALE)


def _beyond(
    values: NDArray[Any], _: NDArray[np.int64], codes: tuple[int, ...]
) -> NDArray[np.bool_]:
    """The largest values, where they are codes and far from the others."""
    if values[0] < 0 or values[-1] not in codes:
        return _NONE
    beyond = np.logical_and.accumulate(np.isin(values, codes)[::-1])[::-1]
    others = values[~beyond].astype(np.float64)
    if len(others) < 2:
        return _NONE
    code, low, high = float(values[beyond][0]), others[0], others[-1]
    far = code - high >= max(FAR * (high - low), 2.0)
    least = others[others > 0][0]
    far_in_times = np.log(code / high) >= FAR_IN_TIMES * np.log(high / least)
    return np.asarray(beyond & bool(far and far_in_times))


def _zero(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """0 in a measurement that is nowhere near it."""
    if values[0] != 0 or len(values) <= MEASURED or not np.isfinite(values[-1]):
        return _NONE
    others, rows = values[1:].astype(np.float64), counts[1:]
    reached = np.cumsum(rows) / rows.sum()
    low, high = (float(others[np.searchsorted(reached, share)]) for share in EXTREMES)
    mean = float(np.average(others, weights=rows))
    deviation = float(np.sqrt(np.average((others - mean) ** 2, weights=rows)))
    apart = others[0] >= FROM_NOTHING * (high - low) and deviation <= VARIES * mean
    often = counts[0] >= OFTEN * np.median(rows)
    return np.asarray((np.arange(len(values)) == 0) & bool(apart and often))
