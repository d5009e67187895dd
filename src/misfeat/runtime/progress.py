"""What long work has: progress, a Ctrl-C that is not lost, and full memory explained."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from misfeat.exceptions import MemoryLimitError, MisfeatError
from misfeat.messages import Setting
from misfeat.runtime.interrupts import interrupts_kept
from misfeat.runtime.memory import is_full_memory
from misfeat.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    from rich.console import Console

Progress = Callable[[str, int, int], None]
PROGRESS_VARIABLE = "MISFEAT_PROGRESS"
LINE_EVERY = 10.0  # Seconds before the first plain line and between such, at least

_shown: ContextVar[Progress | None] = ContextVar("shown", default=None)
_latest: "Bar | None" = None  # Shown last, for threads that do not know whose work they do


def unreported(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@contextmanager
def long_work(verbose: bool) -> Iterator[Progress]:
    """Show progress where it is wanted, keep interrupts, and say what to do about full memory."""
    with interrupts_kept(), one_blas_thread(), progress_shown(verbose) as progress:
        try:
            yield progress
        except MemoryLimitError:
            raise  # explained already, within this piece of work
        except Exception as error:
            if not is_full_memory(error):
                raise
            full, other = "The memory is full;", Setting("budget")
            if type(error).__module__.startswith("torch") and "CUDA" in str(error):
                full, other = "The memory of the CUDA device is full;", Setting("device", "cpu")
            remedy = f"lower {Setting('size')}, leave features out ({Setting('exclude')}) or use "
            raise MemoryLimitError(full, remedy=f"{remedy}{other}.") from error


@contextmanager
def progress_shown(wanted: bool) -> Iterator[Progress]:
    """Show how far work is, and how long it will take, on standard error while the block runs."""
    # A bar in a terminal or a notebook; elsewhere plain lines, for work that takes longer than a
    # few seconds. Within another such block the outer one shows it. The environment variable
    # ``MISFEAT_PROGRESS=off`` hides it everywhere.
    outer = _shown.get()
    if wanted and outer is not None:
        yield outer
        return
    chosen = os.environ.get(PROGRESS_VARIABLE, "").strip().lower()
    if wanted and chosen not in ("", "auto", "off"):
        raise MisfeatError(f"{PROGRESS_VARIABLE}={chosen!r}; use 'auto' or 'off'.")
    if not wanted or chosen == "off":
        yield unreported
        return
    global _latest
    bar = _latest = Bar()
    try:
        with progress_told(bar):
            yield bar
    finally:
        _latest = None
        bar.close()


@contextmanager
def progress_told(listener: Progress) -> Iterator[None]:
    """Tell a function how far work is while the block runs, rather than show it to anyone."""
    token = _shown.set(listener)
    try:
        yield
    finally:
        _shown.reset(token)


def announce(line: str) -> None:
    """Write a line that stays, where progress is shown."""
    if _latest is not None:
        _latest.announce(line)


class Bar:
    """Rich's bar, which fills once for every step, or plain lines where there is no terminal.

    Lines are such as ``Scoring feature sets: 40 %, about 0:00:20 left``, a few seconds apart.
    Nothing is drawn before the first step.
    """

    def __init__(
        self, console: "Console | None" = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column

        self._console, self._clock = console or Console(stderr=True), clock
        is_terminal = self._console.is_terminal and not self._console.is_dumb_terminal
        self._drawn = is_terminal or self._console.is_jupyter
        self._next_line = clock() + LINE_EVERY
        text = Column(no_wrap=True, overflow="ellipsis", ratio=2)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False, table_column=text),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,
            expand=self._console.width < 80,
            get_time=clock,
        )
        self._bar.get_renderables = self._renderables  # type: ignore[method-assign]
        self._task: Any = None
        self._preview: Any = None

    def _renderables(self) -> Iterator[Any]:
        if self._preview is not None:
            yield self._preview
        yield self._bar.make_tasks_table(self._bar.tasks)

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
        now = self._clock()
        if self._drawn or now < self._next_line or done >= total:
            return
        self._next_line = now + LINE_EVERY
        left = self._task.time_remaining
        about = "" if left is None else f", about {timedelta(seconds=left)} left"
        self.announce(f"{what}: {100 * done // total} %{about}")

    def preview(self, lines: Sequence[str]) -> None:
        """Show lines until the bar goes; where there is no terminal, they stay."""
        if not self._drawn:
            for line in lines:
                self.announce(line)
            return
        from rich.text import Text

        self._preview = Text("\n".join(lines), style="dim")
        self._bar.refresh()

    def announce(self, line: str) -> None:
        """Write a line that stays."""
        style = "dim" if self._drawn else ""
        self._console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take the bar away; lines stay."""
        if self._drawn:
            self._bar.stop()


class StepTimes:
    """Seconds of every step of some work, which lasts until the next one is reported."""

    def __init__(self, first: str) -> None:
        self.seconds = {first: 0.0}
        self._step, self._since = first, time.monotonic()

    def step(self, what: str) -> None:
        """Begin a step, or go on with it."""
        now = time.monotonic()
        self.seconds[self._step] += now - self._since
        self._step, self._since = what, now
        self.seconds.setdefault(what, 0.0)

    @contextmanager
    def kept(self, shown: Progress) -> Iterator[None]:
        """Keep the seconds of what is reported while the block runs, and show it as before."""

        def listener(what: str, done: int, total: int) -> None:
            if done < total:
                self.step(what)
            shown(what, done, total)

        with progress_told(listener):
            yield
        self.step("Printing and saving")
