"""What a column looks like beyond its type: an identifier, a date, or text that people typed."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.coders import Kind

if TYPE_CHECKING:
    from misfeat.cohorts.profiles import Profile

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
