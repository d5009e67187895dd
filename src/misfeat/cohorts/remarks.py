"""What is said about columns of text that were read as numbers or dates, or nearly were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from misfeat.exceptions import Setting, listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from misfeat.cohorts.profiles import Profile, Taken
    from misfeat.cohorts.rules import Notes

MOST_NAMED = 5
"""Columns that the note about read text names."""


def say_how_text_was_read(profiles: Iterable[Profile], notes: Notes) -> None:
    """Note which columns of text stand for numbers or dates, and warn of what is in doubt."""
    profiles = list(profiles)
    read = [profile for profile in profiles if profile.taken.spelled]  # not plain numbers
    if read:
        examples = [f"{one.column}: {one.taken.example!r}, {one.taken.words}" for one in read]
        notes.add(
            "{n} of text {are} read as what {they} {stand} for ({examples}); {text} keeps the "
            "texts of one as categories.",
            n="1 column" if len(read) == 1 else f"{len(read)} columns",
            are="is" if len(read) == 1 else "are",
            they="it" if len(read) == 1 else "they",
            stand="stands" if len(read) == 1 else "stand",
            examples="; ".join(examples[:MOST_NAMED]) + ("; …" if len(read) > MOST_NAMED else ""),
            text=Setting("read", "text", column=read[0].column),
        )
    for profile in profiles:
        _warn_of_doubt(profile.column, profile.taken, notes)


def _warn_of_doubt(column: str, taken: Taken, notes: Notes) -> None:
    """Whatever there is to say about one column."""
    as_text = Setting("read", "text", column=column)
    if taken.words and taken.unread:
        say = notes.add if taken.only_words else notes.warn
        say(
            "Column {column!r} is read as {words}, as in {example!r}; {rows:,} of its rows do not "
            "read and count as missing: {examples}. If they should not, pass {text}.",
            column=column,
            words=taken.words,
            example=taken.example,
            rows=taken.unread_rows,
            examples=listed(taken.unread),
            text=as_text,
        )
    if taken.doubtful:
        notes.warn(
            "Column {column!r} is read as {words}, but {examples!r} could be read in another way, "
            "and no value tells which is meant; if it is the other, pass {other}.",
            column=column,
            words=taken.words,
            examples=taken.doubtful,
            other=Setting("read", taken.otherwise, column=column),
        )
    if taken.centuries:
        this, last = taken.centuries
        notes.warn(
            "Column {column!r} writes years with two digits; {this!r} is taken for this century "
            "and {last!r} for the last one. If that is wrong, write them with four.",
            column=column,
            this=this,
            last=last,
        )
    if taken.alike:
        one, other = taken.alike
        notes.add(
            "Column {column!r} is read as numbers, so that {one!r} and {other!r} are the same; if "
            "they are codes, pass {text}.",
            column=column,
            one=one,
            other=other,
            text=as_text,
        )
    if taken.bare:
        notes.warn(
            "Column {column!r} is read as {words}, as in {example!r}, and {rows:,} of its rows "
            "hold bare numbers such as {bare!r}, which are taken in the same unit. If they are in "
            "another one, bring all to one unit first.",
            column=column,
            words=taken.words,
            example=taken.example,
            rows=taken.bare_rows,
            bare=taken.bare,
        )
    if taken.almost:
        notes.warn(
            "Column {column!r} is taken for text, though most of its rows read as {words}, as in "
            "{example!r}: {rows:,} do not, such as {examples}. If those mean missing, pass "
            "{number}.",
            column=column,
            words=taken.almost,
            example=taken.example,
            rows=taken.unread_rows,
            examples=listed(taken.unread),
            number=Setting("read", _way(taken.almost), column=column),
        )


def _way(words: str) -> str:
    if "decimal comma" in words:
        return "decimal comma"
    return "date" if words.startswith("date") else "number"
