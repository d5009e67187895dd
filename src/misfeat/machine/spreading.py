"""Tasks of a fit on other processes and machines, where a joblib context says so.

Kernels work on threads, which share memory and start at once, so that nothing else is taken unless
it was asked for: `joblib.parallel_config("dask")`, or "ray", "spark", "loky". Then the tasks of
`spread` go there. What all of them read is written once to a file that workers on this machine, or
with the same disk, map into their memory; a worker that does not see the file is sent the content.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
from joblib.parallel import get_active_backend

from misfeat.machine.interrupts import check_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

TRIES = 4
"""How often tasks are sent whose workers died; backends with retries of their own have more."""
FOLDER_VARIABLE = "JOBLIB_TEMP_FOLDER"
"""Where joblib puts what workers map into their memory, and so do we."""
DONE, RAISED, NOT_HERE = "done", "raised", "not here"


def is_elsewhere() -> bool:
    """Whether tasks go to other processes: a joblib context names a backend that has some.

    Examples
    --------
    >>> import joblib
    >>> is_elsewhere()
    False
    >>> with joblib.parallel_config("loky"):
    ...     is_elsewhere()
    True
    """
    backend, _ = get_active_backend(prefer="threads")
    return not getattr(backend, "supports_sharedmem", False)


def threads_here(n_jobs: int | None) -> int:
    """Threads of this process, as joblib reads a number of jobs.

    Where a context names a cluster, None and negative numbers are those of the cluster; of this
    machine all cores are taken.
    """
    if not is_elsewhere():
        return int(joblib.effective_n_jobs(n_jobs))
    return n_jobs if n_jobs is not None and n_jobs > 0 else int(joblib.cpu_count())


def workers_elsewhere() -> int:
    """How many tasks other processes take at a time; 1 where there are none."""
    return max(1, int(joblib.effective_n_jobs(-1))) if is_elsewhere() else 1


def spread(
    work: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    """Carry out tasks here, one after the other, or on workers where a joblib context says so.

    Gives the number of each task and what ``work(shared, task)`` gave, in the order in which they
    are done. `work` is a function of a module, `shared` is what all tasks read and none changes,
    and a task is small. A worker carries it out on one thread. What it gives must not depend on
    where it is carried out, nor on what others do. Tasks whose worker died are sent again.
    """
    if not is_elsewhere() or not tasks:
        for number, task in enumerate(tasks):
            yield number, work(shared, task)
        return
    left = dict(enumerate(tasks))
    with _written(shared) as file:
        held: str | bytes = file
        for turn in range(TRIES):
            unseen = False
            try:
                for number, (outcome, found) in _sent(work, held, left):
                    check_interrupt()
                    if outcome == RAISED:
                        raise _TaskError from found
                    if outcome == NOT_HERE:
                        unseen = True
                        continue
                    del left[number]
                    yield number, found
            except _TaskError as error:
                raise error.__cause__ from None  # type: ignore[misc]
            except Exception:
                if turn == TRIES - 1 or not is_elsewhere():
                    raise
            if not left:
                return
            if unseen:
                held = pickle.dumps(shared)
    raise RuntimeError("The workers give nothing back.")


def in_order(found: Iterable[tuple[int, Result]]) -> list[Result]:
    """What tasks gave, by their numbers, in whichever order they were done."""
    return [result for _, result in sorted(found, key=itemgetter(0))]


class _TaskError(Exception):
    """Carries what a task raised past the handling of workers that died."""


def _sent(
    work: Callable[[Any, Any], Any], held: str | bytes, left: Mapping[int, Any]
) -> Iterator[tuple[int, tuple[str, Any]]]:
    backend, _ = get_active_backend(prefer="threads")
    calls = [joblib.delayed(_carried_out)(work, held, number, left[number]) for number in left]
    if getattr(backend, "supports_return_generator", False):
        yield from _parallel("generator_unordered")(calls)
        return
    kept = _workers.get()
    yield from (_parallel("list") if kept is None else kept.of(backend))(calls)


def _parallel(return_as: str) -> joblib.Parallel:
    return joblib.Parallel(n_jobs=-1, batch_size=1, pre_dispatch="all", return_as=return_as)


class _Workers:
    """The workers of a backend that starts new ones for every call, as Ray's does."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._backend: Any = None
        self._parallel: joblib.Parallel | None = None

    def of(self, backend: Any) -> joblib.Parallel:
        """Workers of a backend, those that are there where it is the same as before."""
        if self._parallel is None or backend is not self._backend:
            self.close()
            self._parallel = self._open.enter_context(_parallel("list"))
            self._backend = backend
        return self._parallel

    def close(self) -> None:
        """Let the workers go."""
        self._open.close()
        self._parallel = None


_workers: ContextVar[_Workers | None] = ContextVar("workers", default=None)


@contextmanager
def workers_kept() -> Iterator[None]:
    """Keep workers until the block ends, where a backend starts new ones for every call.

    Starting them, importing misfeat there and loading its kernels takes longer than most steps.
    """
    if _workers.get() is not None:
        yield
        return
    kept = _Workers()
    token = _workers.set(kept)
    try:
        yield
    finally:
        _workers.reset(token)
        kept.close()


def _carried_out(
    work: Callable[[Any, Any], Any], held: str | bytes, number: int, task: Any
) -> tuple[int, tuple[str, Any]]:
    """What a task gives or raises, on the worker."""
    if isinstance(held, str) and not Path(held).exists():
        return number, (NOT_HERE, None)
    try:
        with joblib.parallel_config("sequential"):
            return number, (DONE, work(_read(held), task))
    except Exception as error:
        return number, (RAISED, error)


@lru_cache(maxsize=2)
def _read(held: str | bytes) -> Any:
    """What tasks share, read once a worker. Pages of a file are copied only where written to."""
    if isinstance(held, bytes):
        return pickle.loads(held)  # noqa: S301 (from the process that asks, as all of the task is)
    return joblib.load(held, mmap_mode="c")


@contextmanager
def _written(shared: Any) -> Iterator[str]:
    """A file that holds what tasks share, gone afterwards."""
    with tempfile.TemporaryDirectory(
        prefix="misfeat-", dir=os.environ.get(FOLDER_VARIABLE) or None, ignore_cleanup_errors=True
    ) as folder:
        file = Path(folder, "shared.joblib")
        joblib.dump(shared, file)
        yield str(file)
