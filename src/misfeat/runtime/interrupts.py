"""A Ctrl-C that is not lost, and one that is put off.

Python drops an interrupt that comes within a callback of C code (ctypes, as while kernels are
compiled; weak references; `__del__`), and engines answer with an error of their own. While a block
of `interrupts_kept` runs, each one is noted, and raised at the next chance if it was dropped.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED = 130  # Exit code after Ctrl-C, as shells count it: 128 and the number of the signal


class _Interrupt:
    """Whether an interrupt came that nobody has answered yet."""

    noted = False
    raises_at_once = False

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        self.noted = True
        if self.raises_at_once:
            raise KeyboardInterrupt


_interrupt: _Interrupt | None = None  # Of the main thread, where signals come to; else None


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Have every Ctrl-C within a block end it with KeyboardInterrupt, also where one was dropped.

    Other threads than the main one, and programs with a handler of their own for the signal, are
    left as they are.
    """
    global _interrupt
    if not _is_main() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupt = _interrupt = _Interrupt()
    hook_before = sys.unraisablehook
    ended_by: BaseException | None = None

    def hook(dropped: Any) -> None:
        if not (interrupt.noted and issubclass(dropped.exc_type, KeyboardInterrupt)):
            hook_before(dropped)

    try:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, interrupt.handle)
        interrupt.raises_at_once = True
        yield
    except BaseException as error:
        ended_by = error
        raise
    finally:
        # From here on an interrupt is only noted, so that none gets in the way of tidying up.
        interrupt.raises_at_once = False
        _interrupt = None
        sys.unraisablehook = hook_before
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if interrupt.noted and not isinstance(ended_by, KeyboardInterrupt | GeneratorExit):
            raise KeyboardInterrupt from ended_by


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if one came that was dropped or put off."""
    if _interrupt is not None and _interrupt.noted and _is_main():
        raise KeyboardInterrupt


def answer_interrupt() -> None:
    """Say that an interrupt was answered, where something else than ending was the answer."""
    if _interrupt is not None and _is_main():
        _interrupt.noted = False


@contextmanager
def interrupts_put_off() -> Iterator[None]:
    """Leave interrupts to `check_interrupt` while a block runs that must not stop half-way."""
    # An exception in the midst of the locks of a pool of threads can leave one locked for ever.
    interrupt = _interrupt if _is_main() else None
    if interrupt is None:
        yield
        return
    before, interrupt.raises_at_once = interrupt.raises_at_once, False
    try:
        yield
    finally:
        interrupt.raises_at_once = before


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
