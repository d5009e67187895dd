"""Progress of long work, for people: a bar in a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
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
ENOUGH_TO_TELL = 0.2
"""The share of a step that must be done before it tells how long the rest takes."""
LONG_ENOUGH_TO_TELL = 10.0
"""Seconds of a step after which less of it will do: its first parts may have waited for others."""
LEAST_TO_TELL = 0.05
"""The share that even then must be done."""

_shown: ContextVar[Progress | None] = ContextVar("shown", default=None)


@contextmanager
def progress_shown(wanted: bool) -> Iterator[Progress | None]:
    """Show how far work is, and how long it will take, on standard error while the block runs.

    A bar in a terminal or a notebook; elsewhere plain lines, for work that takes longer than a few
    seconds. Within another such block the outer one shows it. The environment variable
    ``MISFEAT_PROGRESS=off`` hides it everywhere.

    Parameters
    ----------
    wanted : bool
        Whether to show anything.

    Examples
    --------
    >>> with progress_shown(False) as progress:
    ...     progress is None
    True
    """
    if not wanted or _is_turned_off():
        yield None
        return
    outer = _shown.get()
    if outer is not None:
        yield outer
        return
    display = _display()
    token = _shown.set(display)
    try:
        yield display
    finally:
        _shown.reset(token)
        display.close()


def _is_turned_off() -> bool:
    chosen = os.environ.get(PROGRESS_VARIABLE, "").strip().lower()
    if chosen not in ("", "auto", "off"):
        raise MisfeatError(f"{PROGRESS_VARIABLE}={chosen!r}; use 'auto' or 'off'.")
    return chosen == "off"


def _display() -> Bar | Lines:
    from rich.console import Console

    console = Console(stderr=True)
    if (console.is_terminal and not console.is_dumb_terminal) or console.is_jupyter:
        return Bar(console)
    return Lines()


class Bar:
    """A bar for every step; nothing is drawn before the first one."""

    def __init__(self, console: Any) -> None:
        self._console: Any = console
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how far a step is."""
        bar = self._started()
        if what not in self._tasks:
            self._tasks[what] = bar.add_task(what, total=total)
        elif done < self._done(what):
            bar.reset(self._tasks[what], total=total)  # the same work once more
        bar.update(self._tasks[what], completed=done)

    def close(self) -> None:
        """Take the bars away."""
        if self._bar is not None:
            self._bar.stop()

    def _done(self, what: str) -> float:
        return float(self._started().tasks[self._tasks[what]].completed)

    def _started(self) -> Any:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
            from rich.table import Column

            name = Column(no_wrap=True, overflow="ellipsis", ratio=2)
            self._bar = Progress(
                TextColumn("{task.description}", markup=False, table_column=name),
                BarColumn(bar_width=None, table_column=Column(ratio=1)),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeRemainingColumn(elapsed_when_finished=True),
                console=self._console,
                transient=True,
                redirect_stdout=False,
                expand=self._console.width < 80,
            )
            self._bar.start()
        return self._bar


class Lines:
    """Lines such as ``Scoring feature sets: 40 %, about 20 s left``, a few seconds apart.

    Parameters
    ----------
    write : callable, default=None
        Takes a line; None writes to standard error.
    clock : callable
        Tells the seconds.

    Examples
    --------
    >>> clock = iter([0.0, 0.0, 6.0, 7.0, 12.0]).__next__
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
        self._write, self._clock = write or _to_standard_error, clock
        self._next_line = clock() + FIRST_LINE_AFTER
        self._steps: dict[str, tuple[float, int, int]] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say how far a step is, unless something was said a moment ago."""
        now = self._clock()
        began, first, last = self._steps.get(what, (now, done, done))
        if done < last:
            began, first = now, done  # the same work once more
        self._steps[what] = began, first, done
        if now < self._next_line or done >= total:
            return
        self._next_line = now + LINE_EVERY
        share, past = (done - first) / total, now - began
        enough = share >= (ENOUGH_TO_TELL if past < LONG_ENOUGH_TO_TELL else LEAST_TO_TELL)
        left = past * (total - done) / (done - first) if enough else None
        about = "" if left is None else f", about {in_words(left)} left"
        self._write(f"{what}: {100 * done // total} %{about}")

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
