"""How kernels are compiled: once, kept on disk, and without holding up other threads.

Numba runs whatever its files on disk hold, so that a flipped bit in one ends the process. Here a
file carries the hash of its content: one that does not match is compiled anew and replaced, and
where nothing can be written, kernels are compiled in every process. Processes that need the same
kernel take turns: one compiles it, the others wait and load it.
"""

from __future__ import annotations

import gc
import pickle
import time
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba as nb
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

from misfeat.machine.progress import CompilingTold
from misfeat.machine.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIGEST_BYTES = sha256().digest_size
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


class CheckedCacheFile(IndexDataCacheFile):
    """The files of one kernel, each with the hash of what it holds."""

    def save(self, key: Any, data: Any) -> None:
        """Save a kernel; a full or read-only disk costs compiling again, nothing else."""
        with suppress(OSError):
            super().save(key, data)

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)
        return sha256(content).digest() + content

    def _load_index(self) -> dict[Any, str]:
        """Which file holds which signature; nothing where the index is damaged or of old code."""
        version = pickle.dumps(self._version, protocol=-1)
        try:
            found = Path(self._index_path).read_bytes()
            stamp, overloads = _checked(found.removeprefix(version))
        except OSError:
            return {}
        return overloads if found.startswith(version) and stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        return _checked(Path(self._data_path(name)).read_bytes())


class SharedCache(FunctionCache):
    """The kernels of one function on disk, each compiled by one process at a time."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        file = self._cache_file
        name = file._index_name.removesuffix(".nbi")
        self._cache_file = CheckedCacheFile(file._cache_path, name, file._source_stamp)
        self._turn = Turn(Path(file._cache_path), name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is on disk, or was put there while another process had its turn."""
        found = super().load_overload(sig, target_context)
        if found is None and self._turn.take():
            found = super().load_overload(sig, target_context)
            if found is not None:
                self._turn.end()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel, and let other processes go on."""
        try:
            super().save_overload(sig, data)
        finally:
            self._turn.end()


event.register(EVENT, TimedCompilations(CompilingTold()))
event.register(EVENT, CollectorPaused())


def _checked(content: bytes) -> Any:
    """What a file holds; an OSError, as for one that is not there, where it is damaged or old."""
    digest, held = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if sha256(held).digest() != digest:
        raise OSError("the content does not match its hash")
    try:
        return pickle.loads(held)  # noqa: S301  (Numba's own format, of the user's own folder)
    except (AttributeError, ImportError) as error:
        raise OSError("the kernel is of a version with other modules") from error


def _kept_on_disk(kernel: Any) -> Any:
    """Have a kernel cached, where there is a folder to do so."""
    if not hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT leaves plain functions
        return kernel
    with suppress(RuntimeError, OSError):  # no folder can be written
        kernel._cache = SharedCache(kernel.py_func)
    return kernel


def is_kept(kernel: Any) -> bool | None:
    """Whether some form of a kernel that `compiled` made is on disk; None where none can be."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return None if file is None else bool(file._load_index())


def compiled(function: Callable[..., Any]) -> Any:
    """A compiled kernel."""
    return _kept_on_disk(nb.njit(nogil=True)(function))


def compiled_fast(function: Callable[..., Any]) -> Any:
    """A compiled kernel whose sums may be reordered, the same way on every run."""
    return _kept_on_disk(nb.njit(nogil=True, fastmath=True)(function))


@contextmanager
def compilations_counted(tell: Callable[[str], None] | None = None) -> Iterator[Compilations]:
    """Count what is compiled while the block runs."""
    found = Compilations(tell)
    event.register(EVENT, found)
    try:
        yield found
    finally:
        event.unregister(EVENT, found)
