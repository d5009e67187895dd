"""A column of text as it is read: the profile of the numbers or dates that its texts stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind, Reading
from misfeat.cohorts.profiles import Taken
from misfeat.cohorts.values import PLAIN_NUMBER, canonical, label
from misfeat.cohorts.written import ENOUGH, MANY, NOTHING, TEXT, Written, written
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from misfeat.cohorts.profiles import Profile
    from misfeat.cohorts.table import ValueCounts
    from misfeat.cohorts.values import Value

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
    """The texts of a column without those whose values mean missing."""
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
