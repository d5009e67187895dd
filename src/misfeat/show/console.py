"""Where answers are printed: standard output, in which no name commands anything."""

from __future__ import annotations

from typing import NoReturn

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misfeat.visible import visible

WIDTH_IN_A_PIPE = 120
NARROW = 72
"""A terminal with fewer columns than this gets fewer columns of a table."""


class _Answers(Console):
    """Standard output; who stops reading it is told apart from what goes wrong."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the command line end in its own way."""
        raise BrokenPipeError


def new_console() -> Console:
    """Standard output, wide enough for whole names where it is not a terminal."""
    console = _Answers()
    return console if console.is_terminal else _Answers(width=WIDTH_IN_A_PIPE)


def new_table(title: str | None = None, narrow: bool = False) -> Table:
    """A table in the style of all of them; the title is text, whatever it holds."""
    text = None if title is None else plain_text(title, style="bold")
    padding = (0, 0) if narrow else (0, 1)
    return Table(title=text, title_justify="left", box=box.SIMPLE, padding=padding)


def plain_text(text: str, style: str = "") -> Text:
    """Text as rich prints it, neither markup nor anything that a terminal obeys."""
    return Text(visible(text), style=style)


def print_lines(console: Console, text: Text, first: str = "", then: str = "") -> None:
    """Print a text in lines that fit, the first and the others with something before them.

    Outside a terminal, where programs read it, it stays on one line.

    Examples
    --------
    >>> import io
    >>> console = Console(file=io.StringIO(), width=12, force_terminal=True, color_system=None)
    >>> print_lines(console, Text("what there is to tell"), "• ", "  ")
    >>> print(console.file.getvalue())
    • what there
      is to tell
    <BLANKLINE>
    """
    room = console.width - max(len(first), len(then))
    fits = console.is_terminal or console.is_jupyter
    lines = text.wrap(console, room, overflow="fold") if fits else [text]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(then if number else first) + line, soft_wrap=True)
