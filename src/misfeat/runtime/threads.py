"""Tasks on threads: how many, how far along, and how to stop.

How many threads is joblib's to say (`joblib.parallel_config` included). The threads themselves are
those of the standard library: a fit runs about a hundred short lists of tasks, and joblib's pool
takes some 12 ms to start and stop for each of them, these take 0.2 ms. Few large tasks, such as
refits, go through `joblib.Parallel` and with it to wherever a joblib context sends them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import joblib
import numpy as np

from misfeat.runtime.progress import check_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Task = Callable[[], None]

Item = TypeVar("Item")


@dataclass(frozen=True)
class Work:
    """How many threads work, and who is told how far along they are."""

    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None
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
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                futures = [pool.submit(task) for task in tasks]
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    self._report(done, len(tasks))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    @property
    def _n_threads(self) -> int:
        return int(joblib.effective_n_jobs(self.n_jobs))

    def _report(self, done: int, total: int) -> None:
        check_interrupt()
        if self.progress is not None:
            self.progress(done, total)


def counted(items: Iterable[Item], report: Callable[[int], None]) -> Iterator[Item]:
    """Items for `joblib.Parallel`; `report` is told before each how many were begun already."""
    for number, item in enumerate(items):
        check_interrupt()
        report(number)
        yield item
