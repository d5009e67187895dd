"""Ctrl-C during long work: raised as KeyboardInterrupt once, and never lost.

Python drops an interrupt that comes within a callback of C code (ctypes, as while kernels are
compiled; weak references; `__del__`), and engines answer with an error of their own. While a block
of `interrupts_kept` runs, each one is noted, and raised at the next chance if it was dropped.
"""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class _Kept:
    """Whether an interrupt came that nobody has answered yet."""

    def __init__(self) -> None:
        self.noted = False
        self.raises_at_once = False

    def interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Handle the signal."""
        self.noted = True
        if self.raises_at_once:
            raise KeyboardInterrupt


_kept: _Kept | None = None
"""Of the main thread, which is the one that signals come to; None outside of blocks."""


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Have every Ctrl-C within a block end it with KeyboardInterrupt, also where one was dropped.

    Other threads than the main one, and programs with a handler of their own for the signal, are
    left as they are.

    Examples
    --------
    >>> import signal
    >>> try:
    ...     with interrupts_kept():
    ...         try:
    ...             signal.raise_signal(signal.SIGINT)
    ...         except KeyboardInterrupt:
    ...             print("dropped")
    ... except KeyboardInterrupt:
    ...     print("and raised all the same")
    dropped
    and raised all the same
    """
    global _kept
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    kept = _kept = _Kept()
    told_before = sys.unraisablehook
    ended_by: BaseException | None = None

    def tell(dropped: Any) -> None:
        if not (kept.noted and issubclass(dropped.exc_type, KeyboardInterrupt)):
            told_before(dropped)

    try:
        sys.unraisablehook = tell
        signal.signal(signal.SIGINT, kept.interrupt)
        kept.raises_at_once = True
        yield
    except BaseException as error:
        ended_by = error
        raise
    finally:
        # From here on an interrupt is only noted, so that none gets in the way of tidying up.
        kept.raises_at_once = False
        _kept = None
        sys.unraisablehook = told_before
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if kept.noted and not isinstance(ended_by, KeyboardInterrupt | GeneratorExit):
            raise KeyboardInterrupt from ended_by


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if one came that was dropped or put off."""
    if _kept is not None and _kept.noted and _is_main():
        raise KeyboardInterrupt


def answer_interrupt() -> None:
    """Say that an interrupt was answered, where something else than ending was the answer."""
    if _kept is not None and _is_main():
        _kept.noted = False


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """Leave interrupts to `check_interrupt` while a block runs that must not stop half-way.

    An exception in the midst of the locks of a pool of threads can leave one locked for ever.
    """
    kept = _kept if _is_main() else None
    before = kept is not None and kept.raises_at_once
    if kept is not None:
        kept.raises_at_once = False
    try:
        yield
    finally:
        if kept is not None:
            kept.raises_at_once = before


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
