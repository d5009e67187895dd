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
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.parsed_text import ENOUGH, MANY, NOTHING, TEXT, Written, written
from misfeat.exceptions import MisfeatError, Setting
from misfeat.reading.coders import Kind, Reading
from misfeat.reading.values import EXACT_INTEGERS, PLAIN_NUMBER, Value, canonical, label

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from misfeat.reading.table import ValueCounts


DISTINCT_LIMIT = 1_000_000
"""Up to so many distinct values are counted exactly; beyond, the engine's quantiles are used."""
IDENTIFIER_SHARE = 0.95
"""A column in which this share of the values is distinct tells rows apart, not kinds of rows."""
LEAST_ROWS = 10
"""In fewer rows, distinct values are no sign of an identifier."""
IDENTIFIER_ROWS = 50
"""Integers that are nearly all distinct, but not consecutive, need so many rows."""
_WORDS = {
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.TEXT: "category",
    Kind.FLAG: "flag",
    Kind.TIME: "date",
}
LEAST_MISREAD = 10
"""Fewer values that read among others that do not are categories, and lose nothing as such."""
MOST_UNREAD = 5
"""Texts that do not read and are named."""
SOME = 0.05
"""A part of the rows that is no slip."""


@dataclass(frozen=True)
class Taken:
    """What a column of text was taken for, and what speaks against it."""

    words: str = ""
    """In words: ``"number ($)"``, ``"date, day first"``; empty where it was left as text."""
    example: str = ""
    """The most frequent text that reads."""
    measures: bool = False
    """Whether its numbers have a unit or marks in them, so that they number no rows."""
    spelled: Mapping[Value, str] = field(default_factory=dict)
    """The most frequent text for each value, where it says more than the value."""
    unread: tuple[str, ...] = ()
    """Texts that do not read and count as missing, the most frequent first."""
    unread_rows: int = 0
    """Rows that hold them."""
    only_words: bool = False
    """Whether those are all words for nothing, such as "n/a"."""
    doubtful: str = ""
    """A text that could be read in another way as well, where no other text decides."""
    otherwise: str = ""
    """That other way, in the words of the parameter ``read``."""
    almost: str = ""
    """Of a column that was left as text: what most of its rows read as."""
    bare: str = ""
    """Of a column with a unit: a number without it, where a part of the rows holds such."""
    bare_rows: int = 0
    """Rows that hold them."""
    centuries: tuple[str, ...] = ()
    """Years of two digits taken for this century and for the last one, where both occur."""
    alike: tuple[str, ...] = ()
    """Two texts that stand for one number."""


@dataclass(frozen=True)
class Profile:
    """What is known of a column before it is coded."""

    reading: Reading
    kind: Kind
    """What it holds once it is read."""
    counts: ValueCounts | None
    """Its values; None when there are more than `DISTINCT_LIMIT`."""
    missing: int
    """Rows in which it is missing, user-given codes included."""
    rows: int
    taken: Taken = Taken()
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
    def is_scattered(self) -> bool:
        """Whether a text hardly ever comes again, though not every row has its own."""
        enough = self.recorded >= LEAST_ROWS and not self.in_order
        return enough and self.kind is Kind.TEXT and 2 * self.distinct > self.recorded

    @property
    def is_identifier(self) -> bool:
        """Whether nearly every row has a value of its own, and the column measures nothing."""
        if self.recorded < LEAST_ROWS or self.distinct < IDENTIFIER_SHARE * self.recorded:
            return False
        if self.in_order:
            return False
        if self.kind is Kind.TEXT:
            return True
        if self.kind not in (Kind.INTEGER, Kind.NUMBER) or self.taken.measures:
            return False
        if self.counts is None:
            return self.kind is Kind.INTEGER
        values = self.counts.values
        whole = np.all(values == np.floor(values)) and np.abs(values).max() < EXACT_INTEGERS
        if not whole:
            return False
        consecutive = values[-1] - values[0] + 1 == len(values)
        return bool(consecutive or self.recorded >= IDENTIFIER_ROWS)


def check_way(column: str, kind: Kind, way: str | None) -> None:
    """Refuse to read a column as something else that is no text."""
    if way not in (None, TEXT) and kind is not Kind.TEXT:
        raise MisfeatError(
            "{setting}: the column holds {kind} values, and only text is read another way; take it "
            "out of {read}.",
            column=column,
            setting=Setting("read", way, column=column),
            kind=kind.value,
            read=Setting("read"),
        )


def read_text(profile: Profile, way: str | None, means_missing: Callable[[Value], bool]) -> Profile:
    """The profile of a column of text once it is read, the same where it is just text.

    `means_missing` tells of a value, once it is read, whether the user says that it means missing.
    """
    assert profile.counts is not None  # noqa: S101  (texts are counted before they are read)
    found, share = written(profile.counts, way)
    if way not in (None, TEXT) and found is None and profile.distinct:
        raise MisfeatError(
            "{setting}: no value of the column reads so; one is {example!r}.",
            column=profile.column,
            setting=Setting("read", way, column=profile.column),
            example=str(profile.counts.values[0]),
        )
    if found is None or (way is None and share < MANY):
        return replace(profile, taken=Taken(example=_most_frequent(profile.counts)))
    texts, reading = profile.counts, profile.reading
    if way is not None or share >= ENOUGH:
        found, texts, reading = _without_codes(found, texts, reading, means_missing)
    taken = _taken(found, texts)
    if way is None and share < ENOUGH:
        almost = Taken(
            example=taken.example,
            unread=taken.unread,
            unread_rows=taken.unread_rows,
            almost=found.words if len(found.values) >= LEAST_MISREAD else "",
        )
        return replace(profile, taken=almost)
    counts = found.counted(texts)
    return replace(
        profile,
        reading=_reading(reading, found, texts),
        kind=found.kind,
        counts=counts,
        missing=counts.missing,
        taken=taken,
    )


def _without_codes(
    found: Written, counts: ValueCounts, reading: Reading, means_missing: Callable[[Value], bool]
) -> tuple[Written, ValueCounts, Reading]:
    codes = {text for text, value in found.values.items() if means_missing(canonical(value))}
    if not codes or len(codes) == len(found.values):
        return found, counts, reading
    left = {text: value for text, value in found.values.items() if text not in codes}
    return (
        replace(found, values=left),
        counts.without(np.array([text in codes for text in counts.values])),
        replace(reading, missing=(*reading.missing, *sorted(codes))),
    )


def _reading(reading: Reading, found: Written, counts: ValueCounts) -> Reading:
    unread = tuple(text for text in counts.values.tolist() if text not in found.values)
    missing = (*reading.missing, *unread)
    if found.looked_up:
        texts = tuple(found.values)
        values = tuple(canonical(found.values[text]) for text in texts)
        return Reading(reading.column, missing, texts=texts, values=values)
    return Reading(reading.column, missing, as_number=True, pieces=found.pieces)


def _taken(found: Written, counts: ValueCounts) -> Taken:
    reads = np.array([text in found.values for text in counts.values], dtype=bool)
    order = np.argsort(-counts.counts, kind="stable")
    unread = [str(counts.values[p]) for p in order if not reads[p]]
    read = [str(counts.values[p]) for p in order if reads[p]]
    spelled: dict[Value, str] = {}
    if found.pieces or found.looked_up:
        for text in read:
            spelled.setdefault(canonical(found.values[text]), text)
    bare, bare_rows = _bare(found, counts)
    return Taken(
        words=found.words,
        example=read[0],
        measures=bool(found.pieces or found.unit),
        spelled=spelled,
        unread=tuple(unread[:MOST_UNREAD]),
        unread_rows=int(counts.counts[~reads].sum()),
        only_words=all(text.strip().casefold() in NOTHING for text in unread),
        doubtful=found.doubtful,
        otherwise=found.otherwise,
        bare=bare,
        bare_rows=bare_rows,
        centuries=found.centuries,
        alike=_alike(found, read),
    )


def _alike(found: Written, read: Sequence[str]) -> tuple[str, ...]:
    """Two plain texts of one number, such as 250.1 and 250.10, which codes keep apart."""
    if found.pieces or found.looked_up:
        return ()
    first: dict[Value, str] = {}
    for text in read:
        other = first.setdefault(found.values[text], text)
        if other.strip() != text.strip():
            return other, text
    return ()


def _bare(found: Written, counts: ValueCounts) -> tuple[str, int]:
    """A number without the unit of the others, and how many rows hold such; 0 needs none."""
    if not found.unit or not found.pieces:
        return "", 0
    texts = [text for text in counts.values.tolist() if found.values.get(text)]
    rows = dict(zip(counts.values.tolist(), counts.counts.tolist(), strict=True))
    bare = [text for text in texts if PLAIN_NUMBER.fullmatch(text.strip())]
    held, every = (sum(rows[text] for text in some) for some in (bare, texts))
    if not SOME * every <= held <= (1 - SOME) * every or not held:
        return "", 0
    return max(bare, key=lambda text: rows[text]), held


def _most_frequent(counts: ValueCounts) -> str:
    return str(counts.values[np.argmax(counts.counts)]) if len(counts.values) else ""


def taken_for(profile: Profile) -> str:
    """What the values of a column were taken for, in words."""
    if profile.in_order:
        return "category, in order"
    return profile.taken.words or _WORDS.get(profile.kind, "")


def example_of(profile: Profile) -> str:
    """A value of a column as the table holds it, the most frequent one."""
    if profile.taken.example or profile.counts is None or not profile.distinct:
        return profile.taken.example
    return label(canonical(profile.counts.values[np.argmax(profile.counts.counts)]))


IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE = "identifier", "date", "free text", ""
LOOKS = (IDENTIFIER, DATE, FREE_TEXT, NOTHING_ELSE)
MANY_VALUES = 50
"""With fewer distinct values a column sorts rows into kinds, whatever it is called."""
A_COUNTER = 100
"""Numbers that count people have so many values at least; ages have fewer."""
OFTEN_NEW = 0.3
"""The share of the rows of a counter, or of free text, that hold another value."""
NO_GAPS = 0.85
"""The share of all integers between the least and the greatest that occur in a counter."""
MOSTLY_NEW = 0.5
"""Text of which so many values are distinct was typed, or names rows."""
CALLED = re.compile(r"(?i:(^|[\W_])(id|ids|uid|uuid|guid|identifier)$)|[a-z]I[Dd]$")
SAMPLED = 200
"""So many values of text are read to see whether they are dates."""
WORDS = 3
"""Free text has so many words on the mean."""


def looks_like(profile: Profile) -> str:
    """What a column looks like, if it is coded as a feature all the same: one of `LOOKS`."""
    if profile.kind is Kind.TIME or (profile.kind is Kind.TEXT and _holds_dates(profile)):
        return DATE
    if profile.distinct < MANY_VALUES:
        return NOTHING_ELSE
    if profile.is_identifier or _is_called_so(profile) or _counts_up(profile):
        return IDENTIFIER
    if profile.kind is Kind.TEXT and profile.distinct >= MOSTLY_NEW * profile.recorded:
        return FREE_TEXT if _words(profile) >= WORDS else IDENTIFIER
    if profile.kind is Kind.TEXT and _words(profile) >= WORDS:
        return FREE_TEXT
    return NOTHING_ELSE


def holds_sentences(profile: Profile) -> bool:
    """Whether a column of text holds sentences, many of which occur once."""
    often_new = profile.distinct >= OFTEN_NEW * profile.recorded
    return profile.kind is Kind.TEXT and often_new and _words(profile) >= WORDS


def _is_called_so(profile: Profile) -> bool:
    named = CALLED.search(profile.column) is not None
    return named and profile.kind in (Kind.INTEGER, Kind.TEXT)


def _counts_up(profile: Profile) -> bool:
    """Whether integers run through with hardly a gap, as visits numbered by patient do."""
    if profile.kind is not Kind.INTEGER or profile.counts is None:
        return False
    values = profile.counts.values
    span = float(values[-1]) - float(values[0]) + 1
    often_new = profile.distinct >= max(A_COUNTER, OFTEN_NEW * profile.recorded)
    return bool(often_new and len(values) >= NO_GAPS * span)


def _holds_dates(profile: Profile) -> bool:
    values = _some_values(profile)
    return bool(values) and all(map(_is_date, values))


def _is_date(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text  # 20240101 is a number, too


def _words(profile: Profile) -> float:
    return float(np.mean([len(text.split()) for text in _some_values(profile)]))


def _some_values(profile: Profile) -> list[str]:
    if profile.counts is None:
        return []
    values = profile.counts.values
    step = max(len(values) // SAMPLED, 1)
    return [str(value) for value in values[::step]]


ABOVE = (77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999)
BELOW = (-1, -7, -8, -9, *(-code for code in ABOVE))
OF_A_SCALE = (7, 8, 9)
"""Codes beside the answers of a short scale."""
LONGEST_SCALE = 5
LEAST_CODED = 3
"""What occurs less often is a slip."""
MEASURED = 20
"""A measurement has at least so many distinct values."""
FAR = 0.5
"""A code above lies this far beyond the others, as a share of their range."""
FAR_IN_TIMES = 0.25
"""And of their range in logarithms: incomes and counts have long tails."""
FROM_NOTHING = 0.15
"""The least measurement is this far from 0, as a share of the range of all but 2 % of them."""
VARIES = 0.5
"""The standard deviation of a measurement over its mean, at most."""
OFTEN = 3.0
"""A code within reach of other values occurs so many times as often as one of them does."""
EXTREMES = (0.01, 0.99)
_NONE = np.zeros(1, dtype=bool)


@dataclass(frozen=True)
class Suspects:
    """Values of a column that may stand for missing."""

    values: tuple[Value, ...] = ()
    """The values; none where nothing is suspected."""
    why: str = ""


def suspects(profile: Profile) -> Suspects:
    """The values of a column of numbers that look like codes for missing values."""
    counts = profile.counts
    if counts is None or profile.kind not in (Kind.INTEGER, Kind.NUMBER) or profile.distinct < 3:
        return Suspects()
    for find in (_below, _above, _beside_a_scale, _nothing):
        is_code = find(counts.values, counts.counts)
        if is_code.any() and int(counts.counts[is_code].sum()) >= LEAST_CODED:
            return _told(counts, is_code)
    return Suspects()


def _told(counts: ValueCounts, is_code: NDArray[np.bool_]) -> Suspects:
    values = tuple(canonical(value) for value in counts.values[is_code])
    others = counts.values[~is_code]
    low, high = label(canonical(others[0])), label(canonical(others[-1]))
    rows = int(counts.counts[is_code].sum())
    shown = " or ".join(map(label, values))
    return Suspects(values, f"{shown} in {rows:,} rows, and from {low} to {high} in all others")


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


def _above(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Codes far above everything else."""
    del counts
    return _beyond(values, ABOVE)


def _beside_a_scale(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """7, 8 and 9 beside answers that go from 0 or 1 to 5 at most."""
    del counts
    found = _beyond(values, OF_A_SCALE)
    if not found.any():
        return _NONE
    scale = values[~found]
    return found & bool(scale[0] in (0, 1) and scale[-1] <= LONGEST_SCALE)


def _beyond(values: NDArray[Any], codes: tuple[int, ...]) -> NDArray[np.bool_]:
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


def _nothing(values: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """0 in a measurement that is nowhere near it."""
    if values[0] != 0 or len(values) <= MEASURED or not np.isfinite(values[-1]):
        return _NONE
    found = np.arange(len(values)) == 0
    others, rows = values[1:].astype(np.float64), counts[1:]
    low, high = _quantiles(others, rows)
    mean = float(np.average(others, weights=rows))
    deviation = float(np.sqrt(np.average((others - mean) ** 2, weights=rows)))
    apart = others[0] >= FROM_NOTHING * (high - low) and deviation <= VARIES * mean
    often = counts[0] >= OFTEN * np.median(rows)
    return np.asarray(found & bool(apart and often))


def _quantiles(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    reached = np.cumsum(counts) / counts.sum()
    low, high = (float(values[np.searchsorted(reached, share)]) for share in EXTREMES)
    return low, high
