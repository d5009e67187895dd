"""Progress of long work, for people: a bar in a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, int, int], None]

PROGRESS_VARIABLE = "MISFEAT_PROGRESS"
FIRST_LINE_AFTER = 4.0
"""Seconds of work before the first plain line; shorter work needs none."""
LINE_EVERY = 5.0
"""Seconds between plain lines, at least."""
COMPILING_IS_SAID_AFTER = 1.0
"""Seconds of compiling; a single kernel is not worth a line."""
COMPILING = "Compiling kernels, up to a minute (once; they are kept for later runs)"

_shown: ContextVar[Progress | None] = ContextVar("shown", default=None)
_latest: Bar | None = None
"""What was shown last, for threads that do not know whose work they do."""


@contextmanager
def progress_shown(wanted: bool) -> Iterator[Progress | None]:
    """Show how far work is, and how long it will take, on standard error while the block runs.

    A bar in a terminal or a notebook; elsewhere plain lines, for work that takes longer than a few
    seconds. Within another such block the outer one shows it. The environment variable
    ``MISFEAT_PROGRESS=off`` hides it everywhere.
    """
    outer = _shown.get()
    if wanted and outer is not None:
        yield outer
        return
    if not wanted or _is_turned_off():
        yield None
        return
    global _latest
    display = Bar()
    token, _latest = _shown.set(display), display
    try:
        yield display
    finally:
        _latest = None
        _shown.reset(token)
        display.close()


@contextmanager
def progress_told(listener: Progress) -> Iterator[None]:
    """Tell a function how far work is while the block runs, rather than show it to anyone.

    Examples
    --------
    >>> with progress_told(print), progress_shown(True) as progress:
    ...     progress("Scoring feature sets", 1, 4)
    Scoring feature sets 1 4
    """
    token = _shown.set(listener)
    try:
        yield
    finally:
        _shown.reset(token)


def announce(line: str) -> None:
    """Write a line that stays, where progress is shown."""
    if _latest is not None:
        _latest.announce(line)


class CompilingTold:
    """Says once that kernels are being compiled, when that takes its time.

    Examples
    --------
    >>> told = CompilingTold(print)
    >>> told(0.5)
    >>> told(0.6)
    Compiling kernels, up to a minute (once; they are kept for later runs)
    >>> told(30.0)
    """

    def __init__(self, say: Callable[[str], None] = announce) -> None:
        self._say, self._seconds, self._said = say, 0.0, False

    def __call__(self, seconds: float) -> None:
        """Note that so many seconds went into compiling."""
        self._seconds += seconds
        if self._seconds >= COMPILING_IS_SAID_AFTER and not self._said:
            self._said = True
            self._say(COMPILING)


def _is_turned_off() -> bool:
    chosen = os.environ.get(PROGRESS_VARIABLE, "").strip().lower()
    if chosen not in ("", "auto", "off"):
        raise MisfeatError(f"{PROGRESS_VARIABLE}={chosen!r}; use 'auto' or 'off'.")
    return chosen == "off"


class Bar:
    """A bar that fills once for every step, with what is done beside it and the time left.

    Where there is no terminal it is a line such as ``Scoring feature sets: 40 %, about 0:00:20
    left`` a few seconds apart. Nothing is drawn before the first step.

    Examples
    --------
    >>> now = [0.0]
    >>> show = Bar(print, clock=lambda: now[0])
    >>> for done in (0, 1, 2, 3):
    ...     show("Scoring feature sets", done, 4)
    ...     now[0] += 5.0
    Scoring feature sets: 25 %
    Scoring feature sets: 50 %, about 0:00:10 left
    Scoring feature sets: 75 %, about 0:00:05 left
    """

    def __init__(
        self,
        write: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        console = Console(stderr=True)
        drawn = (console.is_terminal and not console.is_dumb_terminal) or console.is_jupyter
        self._drawn = drawn and write is None
        self._console, self._clock, self._write = console, clock, write or self._print
        self._next_line = clock() + FIRST_LINE_AFTER
        self._bar = Progress(
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis", ratio=2),
            ),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            expand=console.width < 80,
            get_time=clock,
        )
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far a step is; less than before is the same step once more."""
        if self._task is None:
            self._bar.add_task("", start=False)
            (self._task,) = self._bar.tasks
            if self._drawn:
                self._bar.start()
        if what != self._task.description or done < self._task.completed:
            self._bar.reset(self._task.id, total=total, completed=done, description=what)
        self._bar.update(self._task.id, total=total, completed=done)
        if not self._drawn:
            self._say(what, done, total)

    def _say(self, what: str, done: int, total: int) -> None:
        """Write how far a step is, unless something was said a moment ago."""
        now = self._clock()
        if now < self._next_line or done >= total:
            return
        self._next_line = now + LINE_EVERY
        left = self._task.time_remaining
        about = "" if left is None else f", about {timedelta(seconds=left)} left"
        self._write(f"{what}: {100 * done // total} %{about}")

    def announce(self, line: str) -> None:
        """Write a line that stays."""
        self._write(line)

    def _print(self, line: str) -> None:
        style = "dim" if self._drawn else ""
        self._console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the bar away; lines stay."""
        if self._drawn:
            self._bar.stop()
