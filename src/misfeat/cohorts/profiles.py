"""Profile: what is known of a column before it is coded, and of text once it is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind, Reading
from misfeat.cohorts.values import EXACT_INTEGERS, PLAIN_NUMBER, Value, canonical, label
from misfeat.cohorts.written import ENOUGH, MANY, NOTHING, TEXT, Written, written
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from misfeat.cohorts.table import ValueCounts

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
