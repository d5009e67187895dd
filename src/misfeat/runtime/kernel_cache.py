"""Compiled kernels on disk, and what is said while they are compiled.

Numba runs whatever its files on disk hold, so that a flipped bit in one ends the process. Here a
file carries the hash of its content: one that does not match is compiled anew and replaced, and
where nothing can be written, kernels are compiled in every process.
"""

import gc
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba as nb
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

from misfeat.runtime.file_system import FileLock
from misfeat.runtime.progress import announce

DIGEST_BYTES = sha256().digest_size
EVENT = "numba:compile"  # Reported for every kernel that is compiled, not for one found on disk
ANNOUNCED_AFTER = 1.0  # Seconds of compiling; a single kernel is not worth a line
COMPILING = "Compiling kernels, up to a minute (once; they are kept for later runs)"


class Compilations(event.Listener):
    """Counts the kernels that are compiled, and the seconds that all of them take.

    Kernels that others call are counted, too, but their seconds only once. Meanwhile Python's
    search for unreachable objects pauses: compiling makes very many objects, nearly all of which
    live until it is done, and looking through them takes a sixth of the time and finds nothing.
    """

    _lock: FileLock | None = None

    def __init__(self) -> None:
        self.count, self.seconds = 0, 0.0
        self._depth, self._began = 0, 0.0
        self._collects, self._announced = False, False

    def wait_for_others(self, source: Path) -> None:
        """Wait while another process compiles kernels of a module; those within come with it."""
        self.let_others_go_on()
        with suppress(OSError):  # where files cannot be locked, both compile
            if not self._depth and (lock := FileLock(source)).acquire():
                self._lock = lock

    def let_others_go_on(self) -> None:
        """Let processes go on that wait."""
        if self._lock is not None and not self._depth:
            self._lock.release()
            self._lock = None

    def on_start(self, event: Any) -> None:  # noqa: ARG002
        """A kernel begins to be compiled."""
        if not self._depth:
            self._began, self._collects = time.monotonic(), gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        """A kernel is compiled; where that takes long, a line says so once."""
        self._depth -= 1
        now = time.monotonic()
        self.count += 1
        self.seconds += now - self._began
        self._began = now
        if not self._depth and self._collects:
            gc.enable()
        if self.seconds >= ANNOUNCED_AFTER and not self._announced:
            self._announced = True
            announce(COMPILING)


_process = Compilations()
event.register(EVENT, _process)


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
            content = Path(self._index_path).read_bytes()
            stamp, overloads = _checked(content.removeprefix(version))
        except OSError:
            return {}
        return overloads if content.startswith(version) and stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> Any:
        return _checked(Path(self._data_path(name)).read_bytes())


class SharedCache(FunctionCache):
    """A cache that several processes fill: what one compiles, the others wait for."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel of a signature, None where it has to be compiled here."""
        # Numba's own way loads the typing of all that it can compile first, a quarter of a second.
        rtsys.initialize(target_context)
        found = self._load_overload(sig, target_context)
        if found is None:
            _process.wait_for_others(Path(self._py_func.__code__.co_filename))
            found = self._load_overload(sig, target_context)
            if found is not None:
                _process.let_others_go_on()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled."""
        super().save_overload(sig, data)
        _process.let_others_go_on()


def _checked(content: bytes) -> Any:
    """What a file holds; an OSError, as for one that is not there, where it is damaged or old."""
    digest, pickled = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    if sha256(pickled).digest() != digest:
        raise OSError("the content does not match its hash")
    try:
        return pickle.loads(pickled)  # noqa: S301  (Numba's own format, of the user's own folder)
    except (AttributeError, ImportError) as error:
        raise OSError("the kernel is of a version with other modules") from error


def dispatcher_of(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """What compiles a function for the kinds of data it meets, cached where there is a folder."""
    # Without the ways in that nobody takes, compiling takes less time.
    inner = function.__name__.startswith("_")  # called by other kernels alone
    options |= {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": inner}
    kernel: Any = nb.njit(**options)(function)
    if hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT leaves plain functions
        with suppress(RuntimeError, OSError):  # no folder can be written
            cache = kernel._cache = SharedCache(kernel.py_func)
            file, name = cache._cache_file, cache._cache_file._index_name.removesuffix(".nbi")
            cache._cache_file = CheckedCacheFile(file._cache_path, name, file._source_stamp)
    return kernel


def is_kept(kernel: Any) -> bool | None:
    """Whether some form of a kernel that `compiled` made is on disk; None where none can be."""
    file = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    return None if file is None else bool(file._load_index())
