"""Tasks on threads: how many, how far along, and how to stop.

How many threads is joblib's to say (`joblib.parallel_config` included). The threads themselves are
those of the standard library: a fit runs about a hundred short lists of tasks, and joblib's pool
takes some 12 ms to start and stop for each of them, these take 0.2 ms. The thread that asks works,
too, and the others wait a moment before they join it: threads that hand Python back and forth take
longer over short lists than one does. Tasks that go to other processes and machines are those of
`misfeat.machine.spreading`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np

from misfeat.machine.interrupts import check_interrupt, interrupts_put_off
from misfeat.machine.spreading import threads_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Task = Callable[[], None]

HEAD_START = 0.01
"""Seconds that the asking thread works alone."""


@dataclass(frozen=True)
class Work:
    """How many threads work, and who is told how far along they are."""

    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None
    """Called as ``progress(done, total)`` after every task. What it raises stops the work."""
    share: tuple[int, int] = (0, 1)
    """Of every list of tasks only those are carried out whose turn it is: the number of the turn,
    and how many turns there are. Workers elsewhere take one each."""

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
        threads = threads_here(self.n_jobs) if self.share[1] == 1 else self.share[1]
        n_tasks = max(min(a_thread * threads, count // shortest), -(-count // longest))
        bounds = np.linspace(0, count, max(1, min(count, n_tasks)) + 1).astype(np.int64).tolist()
        return list(pairwise(bounds))

    def run(self, tasks: Sequence[Task]) -> None:
        """Carry out tasks on threads. An error or an interrupt stops those not yet begun."""
        turn, turns = self.share
        tasks = tasks[turn::turns]
        n_threads = min(threads_here(self.n_jobs), len(tasks))
        if n_threads <= 1:
            for done, task in enumerate(tasks, start=1):
                task()
                self._tell(done, len(tasks))
            return
        crew = _Crew(tasks)
        with interrupts_put_off(), ThreadPoolExecutor(n_threads - 1) as pool:
            try:
                others = [pool.submit(crew.join) for _ in range(n_threads - 1)]
                for done in crew.work():
                    self._tell(done, len(tasks))
            finally:
                crew.stop()
            for other in others:
                other.result()
        for done in crew.told():
            self._tell(done, len(tasks))

    def _tell(self, done: int, total: int) -> None:
        check_interrupt()
        if self.progress is not None:
            self.progress(done, total)


class _Crew:
    """Threads that share a list of tasks."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._left, self._lock, self._stopped = iter(tasks), Lock(), Event()
        self._done = self._told = 0

    def work(self) -> Iterator[int]:
        """Take tasks until none is left, and count those that all threads have done."""
        while self._do_one():
            yield from self.told()

    def join(self) -> None:
        """Take tasks as well, unless the asking thread is done with all of them by then."""
        self._stopped.wait(HEAD_START)
        try:
            while self._do_one():
                pass
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Begin no more tasks."""
        self._stopped.set()

    def told(self) -> Iterator[int]:
        """Count the tasks done since the last time."""
        while self._told < self._done:
            self._told += 1
            yield self._told

    def _do_one(self) -> bool:
        with self._lock:
            task = None if self._stopped.is_set() else next(self._left, None)
        if task is None:
            return False
        task()
        with self._lock:
            self._done += 1
        return True
