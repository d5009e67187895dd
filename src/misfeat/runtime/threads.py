"""Tasks on threads: how many, how far along, and how to stop.

How many threads is joblib's to say (`joblib.parallel_config` included). The threads themselves are
those of the standard library, which start in 0.2 ms rather than 12: a fit runs about a hundred
short lists of tasks. The calling thread works, too, and others wait a moment before they join it:
threads that hand Python back and forth take longer over short lists than one does. Few large tasks,
such as refits, go through `joblib.Parallel` and with it to wherever a joblib context sends them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from misfeat.runtime.interrupts import check_interrupt, interrupts_put_off

_LIMITING, _n_limiting = Lock(), 0
_limit: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep linear algebra from starting threads of its own, which cost more than they save."""
    # Matrices here have some hundred columns. The first to enter sets the limit for the process,
    # the last to leave takes it back.
    global _n_limiting, _limit
    from threadpoolctl import threadpool_limits

    with _LIMITING:
        if not _n_limiting:
            _limit = threadpool_limits(1, "blas")
        _n_limiting += 1
    try:
        yield
    finally:
        with _LIMITING:
            _n_limiting -= 1
            if not _n_limiting:
                _limit.restore_original_limits()


Task = Callable[[], None]
Counting = Callable[[int, int], None]  # Told how many are done, and of how many
Item = TypeVar("Item")
Result = TypeVar("Result")

HEAD_START = 0.01  # Seconds that the calling thread works alone


@dataclass(frozen=True)
class Work:
    """How many threads work, and who is told how far along they are."""

    n_jobs: int | None = None
    progress: Counting | None = None
    """Called as ``progress(done, total)`` after every task. What it raises stops the work."""

    def stretches(
        self, count: int, a_thread: int, longest: int = 2**62, shortest: int = 1
    ) -> list[tuple[int, int]]:
        """Cut a range into `a_thread` tasks a thread, of at most `longest`, few of < `shortest`."""
        n_tasks = max(min(a_thread * self._n_threads, count // shortest), -(-count // longest))
        bounds = np.linspace(0, count, max(1, min(count, n_tasks)) + 1).astype(np.int64).tolist()
        return list(pairwise(bounds))

    def run(self, tasks: Sequence[Task]) -> None:
        """Carry out tasks on threads. An error or an interrupt stops those not yet begun."""
        n_threads = min(self._n_threads, len(tasks))
        if n_threads <= 1:
            for done, task in enumerate(tasks, start=1):
                task()
                self._report(done, len(tasks))
            return
        left, lock, stopped = iter(tasks), Lock(), Event()
        done = reported = 0

        def run_next() -> bool:
            nonlocal done
            with lock:
                task = None if stopped.is_set() else next(left, None)
            if task is None:
                return False
            task()
            with lock:
                done += 1
            return True

        def join() -> None:
            stopped.wait(HEAD_START)
            try:
                while run_next():
                    pass
            except BaseException:
                stopped.set()
                raise

        def report() -> None:
            nonlocal reported
            while reported < done:
                reported += 1
                self._report(reported, len(tasks))

        with interrupts_put_off(), ThreadPoolExecutor(n_threads - 1) as pool:
            try:
                others = [pool.submit(join) for _ in range(n_threads - 1)]
                while run_next():
                    report()
            finally:
                stopped.set()
            for other in others:
                other.result()
        report()

    @cached_property
    def _n_threads(self) -> int:
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))

    def _report(self, done: int, total: int) -> None:
        check_interrupt()
        if self.progress is not None:
            self.progress(done, total)


def mapped(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    report: Callable[[int], None],
    n_jobs: int | None = None,
) -> list[Result]:
    """What a function gives for each item; `report` is told before each how many were begun."""
    from joblib import Parallel, delayed

    def begun() -> Iterator[Item]:
        for number, item in enumerate(items):
            check_interrupt()
            report(number)
            yield item

    with one_blas_thread():
        parallel = Parallel(n_jobs, prefer="threads")
        found: list[Result] = parallel(delayed(function)(item) for item in begun())
    return found
