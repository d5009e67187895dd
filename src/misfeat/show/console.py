"""Standard output and its tables, in which no name commands anything."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misfeat.safe_text import visible
from misfeat.words import p_words, percent, percent_between, score_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Line = dict[str, Any]

WIDTH_IN_A_PIPE = 120
NARROW = 72
"""A terminal with fewer columns than this gets fewer columns of a table."""
UNKNOWN = "–"
BETWEEN = "between"
"""The head of intervals, each behind what it is about."""
UNIT = "nats"
"""The head of a column of scores; `in_unit` puts another unit there."""
WHOLE = " whole"
"""What there is to tell in the subgroup of a line, beside the columns of the answer."""
UNRECORDED = " unrecorded"
"""What the subgroup of a line never recorded."""


class _StandardOutput(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Let the command line end in its own way where somebody stops reading."""
        raise BrokenPipeError


def new_console() -> Console:
    """Standard output, wide enough for whole names where it is not a terminal."""
    console = _StandardOutput()
    return console if console.is_terminal else _StandardOutput(width=WIDTH_IN_A_PIPE)


def new_table(title: str | None = None, narrow: bool = False) -> Table:
    """A table in the style of all of them; the title is text, whatever it holds."""
    text = None if title is None else plain_text(title, style="bold")
    padding = (0, 0) if narrow else (0, 1)
    return Table(title=text, title_justify="left", box=box.SIMPLE, padding=padding)


def plain_text(text: str, style: str = "") -> Text:
    """Text as rich prints it, neither markup nor anything that a terminal obeys."""
    return Text(visible(text), style=style)


def print_lines(console: Console, text: Text, first: str = "", then: str = "") -> None:
    """Print a text in lines that fit; outside a terminal it stays on one line."""
    room = console.width - max(len(first), len(then))
    fits = console.is_terminal or console.is_jupyter
    lines = text.wrap(console, room, overflow="fold") if fits else [text]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(then if number else first) + line, soft_wrap=True)


@dataclass(frozen=True)
class TableColumn:
    """A column of an answer as a terminal shows it."""

    title: str
    text: Callable[[Line], str]  # the cell of a line, from the columns of the answer by name
    number: bool = True  # whether it stands on the right, and is never broken
    spare: int = 0  # without room, those with the greatest number are left out first; 0 never
    starred: str = ""  # the column whose names get a star in this one


def score_share(
    name: str, title: str = "", low: str | None = None, high: str | None = None, spare: int = 0
) -> TableColumn:
    """A score, or a difference of scores, as a share of what there is to tell."""

    def share(line: Line) -> str:
        value = _share(line[name], line)
        if value is None:
            return UNKNOWN
        ends = (None if end is None else _share(line[end], line) for end in (low, high))
        return percent(value, *ends)

    return TableColumn(title or name, share, spare=spare)


def score_share_interval(low: str = "low", high: str = "high", spare: int = 0) -> TableColumn:
    """An interval of scores as shares of what there is to tell; empty where there is none."""

    def shares(line: Line) -> str:
        least, most = _share(line[low], line), _share(line[high], line)
        if least is None or most is None or least == most:
            return ""
        words = percent_between(least, most)
        return words.replace("–", " to ") if least < 0 else words

    return TableColumn(BETWEEN, shares, spare=spare)


def _share(value: float | None, line: Line) -> float | None:
    """What a score is of what there is to tell in the subgroup of a line."""
    whole = line[WHOLE]
    if value is None or whole is None or math.isnan(value) or not whole > 0:
        return None
    return float(value / whole)


def score(
    name: str, low: str | None = None, high: str | None = None, spare: int = 0
) -> TableColumn:
    """A score as it is, under its unit."""
    if low is None or high is None:
        return number(name, "{:.4f}", UNIT, spare)
    return TableColumn(
        UNIT, lambda line: score_words(line[name], line[low], line[high]), spare=spare
    )


def p_value(name: str, title: str = "p value", spare: int = 0) -> TableColumn:
    """A p-value."""

    def words(line: Line) -> str:
        value = line[name]
        if value is None or math.isnan(value):
            return UNKNOWN
        return p_words(value).removeprefix("p ").removeprefix("= ")

    return TableColumn(title, words, spare=spare)


def number(name: str, form: str, title: str = "", spare: int = 0) -> TableColumn:
    """A number in a form of its own."""

    def words(line: Line) -> str:
        value = line[name]
        return UNKNOWN if value is None or math.isnan(value) else form.format(value)

    return TableColumn(title or name, words, spare=spare)


def count(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A whole number; expected rows are rounded."""
    return number(name, "{:,.0f}", title, spare)


def per_cent(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A share or a probability."""
    plain = number(name, "{:.0%}", title, spare)
    return replace(plain, text=lambda line: plain.text(line).replace("%", " %"))


def per_cent_between(low: str = "low", high: str = "high", spare: int = 0) -> TableColumn:
    """An interval of shares."""

    def words(line: Line) -> str:
        least, most = line[low], line[high]
        if least == most or math.isnan(least) or math.isnan(most):
            return ""
        return f"{least:.0%} – {most:.0%}".replace("%", " %")

    return TableColumn(BETWEEN, words, spare=spare)


def flag(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """Whether something holds."""
    return TableColumn(title or name, lambda line: "yes" if line[name] else "no", spare=spare)


def text(name: str, title: str = "", spare: int = 0) -> TableColumn:
    """A text."""
    return TableColumn(title or name, lambda line: str(line[name]), number=False, spare=spare)


def names(name: str, title: str = "", missing: str = "", spare: int = 0) -> TableColumn:
    """Several names, a star behind those that the column called `missing` names too."""
    return TableColumn(
        title or name,
        lambda line: in_a_row(line[name], line[missing] if missing else ()),
        number=False,
        spare=spare,
        starred=missing,
    )


def in_a_row(names: Sequence[str], starred: Sequence[str] = ()) -> str:
    """Names such as those of a set, one after the other: ``a, b*, c``, some of them starred.

    A name that holds a comma or a quote, is empty, or begins or ends with a blank stands in double
    quotes, and quotes within it are doubled: a reader of CSV takes the names apart again.
    """
    shown = []
    for name in names:
        plain = name and name == name.strip() and not set(name) & set(',"')
        doubled = name.replace('"', '""')
        shown.append((name if plain else f'"{doubled}"') + "*" * (name in starred))
    return ", ".join(shown)


def in_unit(columns: Sequence[TableColumn], unit: str) -> list[TableColumn]:
    """The same columns, with the unit of scores as head."""
    return [replace(one, title=unit) if one.title == UNIT else one for one in columns]


def filled_table(
    lines: Sequence[Line],
    columns: Sequence[TableColumn],
    narrow: bool,
    style: Callable[[Line], str | None] = lambda line: None,  # noqa: ARG005
) -> Table:
    """The table of lines in these columns, each line in its style."""
    table = new_table(narrow=narrow)
    for one in columns:
        table.add_column(
            one.title,
            justify="right" if one.number else "left",
            overflow="fold",
            no_wrap=one.number,
        )
    for line in lines:
        # Numbers hold no text of strangers, and may stand above their intervals.
        cells = (one.text(line) if one.number else plain_text(one.text(line)) for one in columns)
        table.add_row(*cells, style=style(line))
    return table


def fitting_table(lines: Sequence[Line], columns: Sequence[TableColumn], console: Console) -> Table:
    """The table of lines, without empty columns and those that a console has no room for."""
    kept = [one for one in columns if {one.text(line) for line in lines} - {"", UNKNOWN}]
    endless = console.options.update(width=100_000)
    while True:
        table = filled_table(lines, kept, narrow=console.width < NARROW)
        spare = max((one.spare for one in kept), default=0)
        if not spare or console.measure(table, options=endless).maximum <= console.width:
            return table
        kept = [one for one in kept if one.spare != spare]
