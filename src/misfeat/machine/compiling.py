"""How kernels are compiled: once, kept on disk, and without holding up other threads.

Numba runs whatever its files on disk hold, so that a flipped bit in one ends the process. Here a
file carries the hash of its content: one that does not match is compiled anew and replaced, and
where nothing can be written, kernels are compiled in every process. Processes that need the same
kernel take turns: one compiles it, the others wait and load it.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba as nb
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

from misfeat.machine.compilations import EVENT, CollectorPaused, TimedCompilations
from misfeat.machine.progress import CompilingTold
from misfeat.machine.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

DIGEST_BYTES = sha256().digest_size


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
    """What a file holds; an OSError, as for a file that is not there, where it is damaged."""
    digest, held = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if sha256(held).digest() != digest:
        raise OSError("the content does not match its hash")
    return pickle.loads(held)  # noqa: S301  (Numba's own format, of the user's own folder)


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
    """A compiled kernel.

    Examples
    --------
    >>> compiled(lambda x: x + 1)(1)
    2
    """
    return _kept_on_disk(nb.njit(nogil=True)(function))


def compiled_fast(function: Callable[..., Any]) -> Any:
    """A compiled kernel whose sums may be reordered, the same way on every run."""
    return _kept_on_disk(nb.njit(nogil=True, fastmath=True)(function))
