"""What a terminal shows of an answer: the columns that matter, as many as there is room for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from misfeat.show.console import NARROW, new_table, plain_text
from misfeat.words.numbers import p_words, percent, percent_between, score_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.table import Table

    Line = dict[str, Any]

NOT_ASKED = "–"
BETWEEN = "between"
"""The head of intervals, each behind what it is about."""
UNIT = "nats"
"""The head of a column of scores; `in_unit` puts another unit there."""
WHOLE = " whole"
"""What there is to tell in the subgroup of a line, beside the columns of the answer."""
UNRECORDED = " unrecorded"
"""What the subgroup of a line never recorded."""


@dataclass(frozen=True)
class Shown:
    """A column as a terminal shows it."""

    title: str
    text: Callable[[Line], str]
    """The cell of a line, from the columns of the answer by name."""
    number: bool = True
    """Whether it stands on the right, and is never broken."""
    spare: int = 0
    """Where there is no room, columns with the greatest number are left out first; 0 never is."""
    starred: str = ""
    """The column whose names get a star in this one; "": none do."""


def told(
    name: str, title: str = "", low: str | None = None, high: str | None = None, spare: int = 0
) -> Shown:
    """A score, or a difference of scores, as a share of what there is to tell."""

    def share(line: Line) -> str:
        found = _share(line[name], line)
        if found is None:
            return NOT_ASKED
        between = (None if one is None else _share(line[one], line) for one in (low, high))
        return percent(found, *between)

    return Shown(title or name, share, spare=spare)


def told_between(low: str = "low", high: str = "high", spare: int = 0) -> Shown:
    """An interval of scores as shares of what there is to tell; empty where there is none."""

    def shares(line: Line) -> str:
        least, most = _share(line[low], line), _share(line[high], line)
        if least is None or most is None or least == most:
            return ""
        words = percent_between(least, most)
        return words.replace("–", " to ") if least < 0 else words

    return Shown(BETWEEN, shares, spare=spare)


def score(name: str, low: str | None = None, high: str | None = None, spare: int = 0) -> Shown:
    """A score as it is, under its unit."""

    def words(line: Line) -> str:
        if low is None or high is None:
            return _number(line[name], "{:.4f}")
        return score_words(line[name], line[low], line[high])

    return Shown(UNIT, words, spare=spare)


def entropy(name: str, spare: int = 0) -> Shown:
    """How much there is to tell, in nats whatever the unit of scores is."""
    words = "entropy of target (nats)"
    return Shown(words, lambda line: _number(line[name], "{:.4f}"), spare=spare)


def p_value(name: str, title: str = "p value", spare: int = 0) -> Shown:
    """A p-value."""

    def words(line: Line) -> str:
        value = line[name]
        return NOT_ASKED if value is None or math.isnan(value) else p_words(value)[len("p ") :]

    return Shown(title, lambda line: words(line).removeprefix("= "), spare=spare)


def count(name: str, title: str = "", spare: int = 0) -> Shown:
    """A whole number; expected rows are rounded."""
    return Shown(title or name, lambda line: _number(line[name], "{:,.0f}"), spare=spare)


def per_cent(name: str, title: str = "", spare: int = 0) -> Shown:
    """A share or a probability."""
    return Shown(title or name, lambda line: _per_cent(line[name]), spare=spare)


def times(name: str, title: str = "", spare: int = 0) -> Shown:
    """A ratio."""
    return Shown(title or name, lambda line: _number(line[name], "{:.2f}"), spare=spare)


def flag(name: str, title: str = "", spare: int = 0) -> Shown:
    """Whether something holds."""
    return Shown(title or name, lambda line: "yes" if line[name] else "no", spare=spare)


def text(name: str, title: str = "", spare: int = 0) -> Shown:
    """A text."""
    return Shown(title or name, lambda line: str(line[name]), number=False, spare=spare)


def names(name: str, title: str = "", missing: str = "", spare: int = 0) -> Shown:
    """Several names, a star behind those that the column called `missing` names too."""

    def starred(line: Line) -> str:
        return in_a_row(line[name], line[missing] if missing else ())

    return Shown(title or name, starred, number=False, spare=spare, starred=missing)


def in_a_row(names: Sequence[str], starred: Sequence[str] = ()) -> str:
    """Names such as those of a set, one after the other: ``a, b*, c``, some of them starred.

    A name that holds a comma or a quote, is empty, or begins or ends with a blank stands in double
    quotes, and quotes within it are doubled: a reader of CSV takes the names apart again.

    Examples
    --------
    >>> in_a_row(["age", "weight, kg"])
    'age, "weight, kg"'
    >>> import csv
    >>> next(csv.reader([in_a_row(["age", "weight, kg"])], skipinitialspace=True))
    ['age', 'weight, kg']
    """
    return ", ".join(f"{_quoted(one)}*" if one in starred else _quoted(one) for one in names)


def _quoted(name: str) -> str:
    if name and name == name.strip() and not set(name) & set(',"'):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def between_per_cent(low: str = "low", high: str = "high", spare: int = 0) -> Shown:
    """An interval of shares."""
    return Shown(BETWEEN, lambda line: _interval(line[low], line[high], "{:.0%}"), spare=spare)


def _share(value: float | None, line: Line) -> float | None:
    """What a score is of what there is to tell in the subgroup of a line."""
    whole = line[WHOLE]
    if value is None or whole is None or math.isnan(value) or not whole > 0:
        return None
    return float(value / whole)


def _number(value: float | None, form: str) -> str:
    return NOT_ASKED if value is None or math.isnan(value) else form.format(value)


def _per_cent(value: float | None) -> str:
    return _number(None if value is None else 100 * value, "{:.0f} %")


def _interval(low: float, high: float, form: str) -> str:
    if low == high or math.isnan(low) or math.isnan(high):
        return ""
    return f"{form.format(low)} – {form.format(high)}".replace("%", " %")


def in_unit(shown: Sequence[Shown], unit: str) -> list[Shown]:
    """The same columns, with the unit of scores as head."""
    return [replace(one, title=unit) if one.title == UNIT else one for one in shown]


def fitting_table(lines: Sequence[Line], shown: Sequence[Shown], console: Console) -> Table:
    """The table of lines in as many columns as a console has room for.

    A column in which no line says anything is left out. Names are broken only where leaving
    columns out does not suffice.
    """
    kept = [one for one in shown if {one.text(line) for line in lines} - {"", NOT_ASKED}]
    while True:
        table = _table(lines, kept, narrow=console.width < NARROW)
        spare = max((one.spare for one in kept), default=0)
        if not spare or console.measure(table, options=_endless(console)).maximum <= console.width:
            return table
        kept = [one for one in kept if one.spare != spare]


def _endless(console: Console) -> Any:
    """Options of a console in which nothing is broken."""
    return console.options.update(width=100_000)


def _table(lines: Sequence[Line], shown: Sequence[Shown], narrow: bool) -> Table:
    table = new_table(narrow=narrow)
    for one in shown:
        table.add_column(
            one.title,
            justify="right" if one.number else "left",
            overflow="fold",
            no_wrap=one.number,
        )
    for line in lines:
        table.add_row(*(plain_text(one.text(line)) for one in shown))
    return table
