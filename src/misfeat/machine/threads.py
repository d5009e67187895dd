"""Tasks on threads: how many, how far along, and how to stop.

How many threads is joblib's to say (`joblib.parallel_config` included). The threads themselves are
those of the standard library: a fit runs about a hundred short lists of tasks, and joblib's pool
takes some 12 ms to start and stop for each of them, these take 0.2 ms. Tasks that go to other
processes and machines are those of `misfeat.machine.spreading`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from misfeat.machine.deadline import check_time
from misfeat.machine.interrupts import check_interrupt, interrupts_put_off
from misfeat.machine.spreading import threads_here

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Task = Callable[[], None]


@dataclass(frozen=True)
class Work:
    """How many threads work, who is told how far along they are, and whether a device may help.

    Attributes
    ----------
    n_jobs : int or None
        Threads, as joblib reads it.
    progress : callable or None
        Called as ``progress(done, total)`` after every task. What it raises stops the work.
    device : str
        ``"auto"`` or ``"cuda"`` lets a CUDA device count where there is one and it pays.
    share : tuple of int
        Of every list of tasks only those are carried out whose turn it is: the number of the turn,
        and how many turns there are. Workers elsewhere take one each.
    """

    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None
    device: str = "auto"
    share: tuple[int, int] = (0, 1)

    def stretches(self, count: int, a_thread: int, longest: int = 2**62) -> list[tuple[int, int]]:
        """Cut a range into `a_thread` tasks per thread, or more where these exceed `longest`."""
        threads = threads_here(self.n_jobs) if self.share[1] == 1 else self.share[1]
        n_tasks = max(a_thread * threads, -(-count // longest))
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
        with interrupts_put_off(), ThreadPoolExecutor(n_threads) as pool:
            try:
                futures = [pool.submit(task) for task in tasks]
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    self._tell(done, len(tasks))
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _tell(self, done: int, total: int) -> None:
        check_interrupt()
        check_time()
        if self.progress is not None:
            self.progress(done, total)
