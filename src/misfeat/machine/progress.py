"""Progress of long work, for people: a bar in a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MisfeatError
from misfeat.machine.course import Course

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
_latest: Bar | Lines | None = None
"""What was shown last, for threads that do not know whose work they do."""


@contextmanager
def progress_shown(wanted: bool, whole: bool = False) -> Iterator[Progress | None]:
    """Show how far work is, and how long it will take, on standard error while the block runs.

    A bar in a terminal or a notebook; elsewhere plain lines, for work that takes longer than a few
    seconds. Within another such block the outer one shows it. The environment variable
    ``MISFEAT_PROGRESS=off`` hides it everywhere.

    Where all that is done in the block is one `whole` piece of work, one bar fills once, and
    `expect` says how long its steps take.
    """
    outer = _shown.get()
    if wanted and outer is not None:
        yield outer
        return
    if not wanted or _is_turned_off():
        yield None
        return
    global _latest
    display = _display(whole)
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


def expect(seconds: Mapping[str, float]) -> None:
    """Say how long steps to come will take, by what they are called, where progress is shown."""
    display = _shown.get()
    if isinstance(display, Bar | Lines):
        display.course.expect(seconds)


def announce(line: str) -> None:
    """Write a line that stays, where progress is shown."""
    if isinstance(_latest, Bar | Lines):
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


def _display(whole: bool) -> Bar | Lines:
    from rich.console import Console

    console = Console(stderr=True)
    if (console.is_terminal and not console.is_dumb_terminal) or console.is_jupyter:
        return Bar(console, whole)
    return Lines()


class Bar:
    """One bar, with what is being done beside it; nothing is drawn before the first step.

    It fills once for all steps of a `whole`, else once for each.
    """

    def __init__(self, console: Any, whole: bool = False) -> None:
        self.course = Course(whole)
        self._console: Any = console
        self._bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far a step is."""
        self.course.tell(what, done, total)
        self._started().update(0, description=what, completed=self.course.share)

    def announce(self, line: str) -> None:
        """Write a line above the bar."""
        self._console.print(line, style="dim", markup=False, highlight=False)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _started(self) -> Any:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn
            from rich.table import Column

            course = self.course

            class Left(TextColumn):
                """The time that is left, now."""

                def render(self, task: Any) -> Any:  # noqa: ARG002
                    from rich.text import Text

                    left = course.left
                    return Text("" if left is None else f"{in_words(left)} left", style="cyan")

            name = Column(no_wrap=True, overflow="ellipsis", ratio=2)
            self._bar = Progress(
                TextColumn("{task.description}", markup=False, table_column=name),
                BarColumn(bar_width=None, table_column=Column(ratio=1)),
                TextColumn("{task.percentage:>3.0f} %"),
                Left(""),
                console=self._console,
                transient=True,
                redirect_stdout=False,
                expand=self._console.width < 80,
            )
            self._bar.add_task("", total=1.0)
            self._bar.start()
        return self._bar


class Lines:
    """Lines such as ``Scoring feature sets: 40 %, about 20 s left``, a few seconds apart.

    Examples
    --------
    >>> times = iter([0.0, 0.0, 0.0, 0.0, 6.0, 6.0, 7.0, 7.0, 12.0, 12.0])
    >>> clock = times.__next__
    >>> show = Lines(print, clock)
    >>> for done in (0, 1, 2, 3):
    ...     show("Scoring feature sets", done, 4)
    Scoring feature sets: 25 %, about 18 s left
    Scoring feature sets: 75 %, about 4 s left
    """

    def __init__(
        self,
        write: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.course = Course(clock=clock)
        self._write, self._clock = write or _to_standard_error, clock
        self._next_line = clock() + FIRST_LINE_AFTER

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say how far a step is, unless something was said a moment ago."""
        self.course.tell(what, done, total)
        now = self._clock()
        if now < self._next_line or done >= total:
            return
        self._next_line = now + LINE_EVERY
        step = self.course.step
        left = None if step is None else step.left()
        about = "" if left is None else f", about {in_words(left)} left"
        self._write(f"{what}: {100 * done // total} %{about}")

    def announce(self, line: str) -> None:
        """Write a line."""
        self._write(line)

    def close(self) -> None:
        """Lines stay."""


def _to_standard_error(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def in_words(seconds: float) -> str:
    """A stretch of time, as exact as anyone needs.

    Examples
    --------
    >>> in_words(0.2), in_words(42), in_words(200), in_words(5000)
    ('1 s', '42 s', '3 min', '1 h 23 min')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
