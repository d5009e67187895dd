"""What the texts of a column stand for: numbers, dates, or themselves, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.cohorts.coders import Kind
from misfeat.cohorts.table import ValueCounts
from misfeat.cohorts.written_dates import DAY_FIRST, MONTH_FIRST, date_style, times_of_day
from misfeat.cohorts.written_numbers import NumberStyle, bounded_numbers, is_code, number_style
from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from misfeat.cohorts.values import Value

    Reader = Callable[[Mapping[str, int]], "Written | None"]

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
