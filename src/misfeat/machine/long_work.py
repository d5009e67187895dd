"""What every long piece of work has: progress, a Ctrl-C that is not lost, and full memory told."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from misfeat.exceptions import MemoryLimitError, Setting
from misfeat.machine.interrupts import interrupts_kept
from misfeat.machine.progress import progress_shown
from misfeat.machine.spreading import workers_kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from misfeat.machine.progress import Progress

NO_MEMORY_TYPES = ("OutOfMemoryException", "OutOfMemoryError")
"""What DuckDB and PyTorch raise; neither need be installed."""
NO_MEMORY_WORDS = ("can't allocate memory", "can't start new thread", "std::bad_alloc")
"""What PyTorch on a CPU, Python's threads and libraries in C++ say."""


@contextmanager
def long_work(verbose: bool) -> Iterator[Progress | None]:
    """Show progress where it is wanted, keep interrupts, and say what to do about full memory.

    Examples
    --------
    >>> with long_work(verbose=False):
    ...     raise MemoryError
    Traceback (most recent call last):
        ...
    misfeat.exceptions.MemoryLimitError: The memory is full; lower size, leave features out \
(exclude) or use budget.
    """
    with (
        interrupts_kept(),
        full_memory_told(),
        workers_kept(),
        progress_shown(verbose) as progress,
    ):
        yield progress


@contextmanager
def full_memory_told() -> Iterator[None]:
    """Turn the ways in which libraries say that memory is full into one of ours."""
    try:
        yield
    except MemoryLimitError:
        raise  # told already, within this piece of work
    except Exception as error:
        if not is_full_memory(error):
            raise
        raise _full_device() if _is_of_device(error) else _full_memory() from error


def is_full_memory(error: BaseException) -> bool:
    """Whether an error says that there was no memory left."""
    if isinstance(error, MemoryError) or type(error).__name__ in NO_MEMORY_TYPES:
        return True
    said = isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MEMORY_WORDS)
    cause = error.__cause__
    return said or (cause is not None and is_full_memory(cause))


def _is_of_device(error: BaseException) -> bool:
    return type(error).__module__.startswith("torch") and "CUDA" in str(error)


def _full_memory() -> MemoryLimitError:
    return MemoryLimitError(
        "The memory is full;",
        remedy="lower {size}, leave features out ({exclude}) or use {budget}.",
        size=Setting("size"),
        exclude=Setting("exclude"),
        budget=Setting("budget"),
    )


def _full_device() -> MemoryLimitError:
    return MemoryLimitError(
        "The memory of the CUDA device is full;",
        remedy="use {device}, lower {size} or leave features out ({exclude}).",
        device=Setting("device", "cpu"),
        size=Setting("size"),
        exclude=Setting("exclude"),
    )
