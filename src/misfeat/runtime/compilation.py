"""How kernels are compiled: once, kept on disk, and without holding up other threads."""

from __future__ import annotations

import gc
import pickle
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numba as nb
from numba.core import event
from numba.core.caching import FunctionCache

from misfeat.runtime.progress import announce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EVENT = "numba:compile"  # Reported for every kernel that is compiled, not for one found on disk
ANNOUNCED_AFTER = 1.0  # Seconds of compiling; a single kernel is not worth a line
UNREADABLE = (ImportError, AttributeError, EOFError, pickle.UnpicklingError)
"""What Numba raises for files that are damaged or name modules of another version."""
COMPILING = "Compiling kernels, up to a minute (once; they are kept for later runs)"


class Compilations(event.Listener):
    """Counts the kernels that are compiled, and the seconds that all of them take.

    Kernels that others call are counted, too, but their seconds only once.
    """

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self._depth, self._began = 0, 0.0

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """A kernel begins to be compiled."""
        if not self._depth:
            self._began = time.monotonic()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """A kernel is compiled."""
        self._depth -= 1
        now = time.monotonic()
        self.count += 1
        self.seconds += now - self._began
        self._began = now


class _ProcessCompilations(Compilations):
    """Says once that kernels are compiled, and pauses Python's search for unreachable objects.

    Compiling makes very many objects, nearly all of which live until it is done: looking through
    them again and again takes a sixth of the time and finds nothing.
    """

    _collects, _announced = False, False

    def on_start(self, event: Any) -> None:
        if not self._depth:
            self._collects = gc.isenabled()
            gc.disable()
        super().on_start(event)

    def on_end(self, event: Any) -> None:
        super().on_end(event)
        if not self._depth and self._collects:
            gc.enable()
        if self.seconds >= ANNOUNCED_AFTER and not self._announced:
            self._announced = True
            announce(COMPILING)


event.register(EVENT, _ProcessCompilations())


@contextmanager
def compilations_counted() -> Iterator[Compilations]:
    """Count what is compiled while the block runs."""
    compilations = Compilations()
    event.register(EVENT, compilations)
    try:
        yield compilations
    finally:
        event.unregister(EVENT, compilations)


class KernelCache(FunctionCache):
    """Numba's files of one kernel; what cannot be read or written costs compiling, nothing else."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is on disk; files that cannot be read are emptied."""
        try:
            return super().load_overload(sig, target_context)
        except UNREADABLE:
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, unless the disk is full."""
        with suppress(OSError):
            super().save_overload(sig, data)


def _kept_on_disk(kernel: Any) -> Any:
    """Have a kernel cached, where there is a folder to do so."""
    if hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT leaves plain functions
        with suppress(RuntimeError, OSError):  # no folder can be written
            kernel._cache = KernelCache(kernel.py_func)
    return kernel


def is_kept(kernel: Any) -> bool | None:
    """Whether some form of a kernel that `compiled` made is on disk; None where none can be."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if file is None:
        return None
    with suppress(*UNREADABLE):
        return bool(file._load_index())
    return False


def compiled(function: Callable[..., Any]) -> Any:
    """A compiled kernel."""
    return _kept_on_disk(nb.njit(nogil=True)(function))


def compiled_fast(function: Callable[..., Any]) -> Any:
    """A compiled kernel whose sums may be reordered, the same way on every run."""
    return _kept_on_disk(nb.njit(nogil=True, fastmath=True)(function))


# To assign an array to a part of another one, Numba compiles the words of an error as well, for
# arrays whose shapes differ, which takes longer than most kernels do. Hence value by value.


@compiled
def copy_values(source, target):
    """Copy an array to the beginning of another one."""
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def copy_lines(source, target):
    """Copy the lines of a table to the beginning of another one."""
    for i in range(len(source)):
        copy_values(source[i], target[i])
