"""Tasks on threads: how many, how far along, and how to stop.

How many threads is joblib's to say (`joblib.parallel_config` included). The threads themselves are
those of the standard library: a fit runs about a hundred short lists of tasks, and joblib's pool
takes some 12 ms to start and stop for each of them, these take 0.2 ms. The calling thread works,
too, and the others wait a moment before they join it: threads that hand Python back and forth take
longer over short lists than one does. Few large tasks, such as refits, go through
`joblib.Parallel` and with it to wherever a joblib context sends them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING, TypeVar

import joblib
import numpy as np

from misfeat.runtime.progress import check_interrupt, interrupts_put_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Task = Callable[[], None]

Item = TypeVar("Item")

HEAD_START = 0.01
"""Seconds that the calling thread works alone."""


@dataclass(frozen=True)
class Work:
    """How many threads work, and who is told how far along they are."""

    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None
    """Called as ``progress(done, total)`` after every task. What it raises stops the work."""

    def stretches(
        self, count: int, a_thread: int, longest: int = 2**62, shortest: int = 1
    ) -> list[tuple[int, int]]:
        """Cut a range into `a_thread` tasks a thread, none beyond `longest`, few under `shortest`.

        Examples
        --------
        >>> Work(1).stretches(100, a_thread=4)
        [(0, 25), (25, 50), (50, 75), (75, 100)]
        >>> Work(1).stretches(100, a_thread=4, shortest=40)
        [(0, 50), (50, 100)]
        """
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
        queue = _TaskQueue(tasks)
        with interrupts_put_off(), ThreadPoolExecutor(n_threads - 1) as pool:
            try:
                others = [pool.submit(queue.join) for _ in range(n_threads - 1)]
                while queue.run_next():
                    for done in queue.newly_done():
                        self._report(done, len(tasks))
            finally:
                queue.stop()
            for other in others:
                other.result()
        for done in queue.newly_done():
            self._report(done, len(tasks))

    @property
    def _n_threads(self) -> int:
        return int(joblib.effective_n_jobs(self.n_jobs))

    def _report(self, done: int, total: int) -> None:
        check_interrupt()
        if self.progress is not None:
            self.progress(done, total)


class _TaskQueue:
    """Tasks that several threads take from."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._left, self._lock, self._stopped = iter(tasks), Lock(), Event()
        self._done = self._reported = 0

    def join(self) -> None:
        """Take tasks as well, unless the calling thread is done with all of them by then."""
        self._stopped.wait(HEAD_START)
        try:
            while self.run_next():
                pass
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Begin no more tasks."""
        self._stopped.set()

    def newly_done(self) -> Iterator[int]:
        """Count the tasks done since the last time."""
        while self._reported < self._done:
            self._reported += 1
            yield self._reported

    def run_next(self) -> bool:
        """Carry out a task, if one is left."""
        with self._lock:
            task = None if self._stopped.is_set() else next(self._left, None)
        if task is None:
            return False
        task()
        with self._lock:
            self._done += 1
        return True


def counted(items: Iterable[Item], report: Callable[[int], None]) -> Iterator[Item]:
    """Items for `joblib.Parallel`; `report` is told before each how many were begun already."""
    for number, item in enumerate(items):
        check_interrupt()
        report(number)
        yield item
