"""Seconds and memory of the steps of a piece of work, from what the work itself tells."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
RESET_PEAK = "5"
"""What Linux is told to forget the most memory that a process had."""

Clocks = tuple[float, float]


def both_clocks() -> Clocks:
    """Seconds that have passed, and seconds that all threads together have worked."""
    return time.perf_counter(), time.process_time()


class StepClock:
    """Adds up the seconds of every step, as a listener of `progress_told`.

    A step lasts from when it first tells how far it is until it says that it is done, or another
    one begins. What lies between steps goes to the part of the work that is named by `part`.

    `steps` is what a step is called here, by what it tells; steps that are not in it go to the
    part. `seconds` holds those that passed and those of work, by step or part.

    Examples
    --------
    >>> times = iter([(0.0, 0.0), (1.0, 1.0), (4.0, 7.0), (5.0, 8.0)])
    >>> clock = StepClock({"Scoring feature sets": "scores"}, times.__next__)
    >>> with clock.part("fit"):
    ...     clock("Scoring feature sets", 0, 9)
    ...     clock("Scoring feature sets", 9, 9)
    >>> clock.seconds
    {'fit': (2.0, 2.0), 'scores': (3.0, 6.0)}
    """

    def __init__(
        self, steps: Mapping[str, str], clocks: Callable[[], Clocks] = both_clocks
    ) -> None:
        self.seconds: dict[str, Clocks] = {}
        self._steps, self._clocks = steps, clocks
        self._part, self._step = "", ""
        self._since: Clocks = (0.0, 0.0)

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note that a step is so far."""
        self._go_on(self._steps.get(what, "") if done < total else "")

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what no step tells to a part of the work, while the block runs."""
        self._part, self._step, self._since = name, "", self._clocks()
        yield
        self._go_on("")

    def _go_on(self, step: str) -> None:
        now, spent = self._clocks(), self._step or self._part
        wall, cpu = self.seconds.get(spent, (0.0, 0.0))
        self.seconds[spent] = (wall + now[0] - self._since[0], cpu + now[1] - self._since[1])
        self._step, self._since = step, now


def forget_peak() -> None:
    """Have `peak_memory` start anew, where the system can."""
    with suppress(OSError):
        RESET.write_text(RESET_PEAK, encoding="ascii")


def peak_memory() -> int:
    """The most bytes that this process held, since `forget_peak` where the system can tell.

    Examples
    --------
    >>> peak_memory() > 0
    True
    """
    with suppress(OSError):
        lines = STATUS.read_text(encoding="utf-8").splitlines()
        told = next((line for line in lines if line.startswith("VmHWM:")), None)
        if told is not None:
            return 1024 * int(told.split()[1])
    taken = psutil.Process().memory_info()
    return int(getattr(taken, "peak_wset", taken.rss))


def held_memory() -> int:
    """The bytes that this process holds now.

    Examples
    --------
    >>> held_memory() > 0
    True
    """
    return int(psutil.Process().memory_info().rss)
