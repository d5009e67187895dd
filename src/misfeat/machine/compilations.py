"""When kernels are compiled, which ones, and how long that takes."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVENT = "numba:compile"
"""Numba tells of every kernel that it compiles; of one that it finds on disk it does not."""


class TimedCompilations(event.Listener):
    """Times compilations, those within others once; Numba makes one at a time.

    `took` is told the seconds since the outermost kernel, or the last one within it, was told of.
    """

    def __init__(self, took: Callable[[float], None]) -> None:
        self._took, self._began, self._depth = took, 0.0, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """A kernel begins to be compiled."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """A kernel is compiled."""
        self._depth -= 1
        now = time.monotonic()
        self._took(now - self._began)
        self._began = now


class CollectorPaused(event.Listener):
    """Pauses Python's search for unreachable objects while kernels are compiled.

    Compiling makes very many objects, nearly all of which live until it is done: looking through
    them again and again takes a sixth of the time and finds nothing.
    """

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """A kernel begins to be compiled."""
        if not self._depth:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """A kernel is compiled."""
        self._depth -= 1
        if not self._depth and self._was_on:
            gc.enable()


class Compilations(TimedCompilations):
    """Counts the kernels that are compiled, and the seconds that all of them take.

    Kernels that others call are counted, too, but their seconds only once. `tell` is told the name
    of every kernel when it begins to be compiled.
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        super().__init__(self._add)
        self.count, self.seconds, self._tell = 0, 0.0, tell

    def on_start(self, event: Any) -> None:
        """A kernel begins to be compiled."""
        super().on_start(event)
        if self._tell is not None:
            self._tell(event.data["dispatcher"].__name__)

    def _add(self, seconds: float) -> None:
        self.count += 1
        self.seconds += seconds


@contextmanager
def compilations_counted(tell: Callable[[str], None] | None = None) -> Iterator[Compilations]:
    """Count what is compiled while the block runs.

    Examples
    --------
    >>> from misfeat.machine.compiling import compiled
    >>> one_more = compiled(lambda x: x + 1)
    >>> with compilations_counted() as found:
    ...     one_more(1)
    2
    >>> found.count <= 1
    True
    """
    found = Compilations(tell)
    event.register(EVENT, found)  # type: ignore[no-untyped-call]
    try:
        yield found
    finally:
        event.unregister(EVENT, found)  # type: ignore[no-untyped-call]
