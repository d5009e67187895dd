"""What a terminal shows of an answer: the columns that matter, as many as there is room for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misfeat.show.console import NARROW, new_table, plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.table import Table

    Line = dict[str, Any]

NOT_ASKED = "–"


@dataclass(frozen=True)
class Shown:
    """A column as a terminal shows it.

    Attributes
    ----------
    title : str
        Its head.
    text : callable
        The cell of a line, from the columns of the answer by name.
    number : bool
        Whether it stands on the right, and is never broken.
    spare : int
        Where there is no room, columns with the greatest number are left out first; 0 never is.
    """

    title: str
    text: Callable[[Line], str]
    number: bool = True
    spare: int = 0


def score(name: str, title: str = "", spare: int = 0) -> Shown:
    """A score, or a difference of scores."""
    return Shown(title or name, lambda line: _number(line[name], "{:.4f}"), spare=spare)


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
        stars = line[missing] if missing else ()
        return ", ".join(f"{one}*" if one in stars else one for one in line[name])

    return Shown(title or name, starred, number=False, spare=spare)


def between(low: str = "low", high: str = "high", spare: int = 0) -> Shown:
    """An interval of scores; empty where there is none."""
    return Shown("between", lambda line: _interval(line[low], line[high], "{:.4f}"), spare=spare)


def between_per_cent(low: str = "low", high: str = "high", spare: int = 0) -> Shown:
    """An interval of shares."""
    return Shown("between", lambda line: _interval(line[low], line[high], "{:.0%}"), spare=spare)


def _number(value: float | None, form: str) -> str:
    return NOT_ASKED if value is None or math.isnan(value) else form.format(value)


def _per_cent(value: float | None) -> str:
    return _number(None if value is None else 100 * value, "{:.0f} %")


def _interval(low: float, high: float, form: str) -> str:
    if low == high or math.isnan(low) or math.isnan(high):
        return ""
    return f"{form.format(low)} – {form.format(high)}".replace("%", " %")


def fitting_table(lines: Sequence[Line], shown: Sequence[Shown], console: Console) -> Table:
    """The table of lines in as many columns as a console has room for.

    A column in which no line says anything is left out. Names are broken only where leaving
    columns out does not suffice.

    Parameters
    ----------
    lines : sequence of dict
        The lines of an answer, by column.
    shown : sequence of Shown
        The columns in their order.
    console : Console
        Where the table is to be printed.
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
