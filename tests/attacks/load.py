"""Many fits at once, in threads and processes, and very many in one process.

Fits at once must answer as a single one does. Over many fits in one process the memory is measured,
and its slope with its standard error, which has a bound. The allocator is asked first to give back
what nobody uses: what it keeps free grows, too (benchmarks/reliability/memory.py).
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import random
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import psutil

from misfeat import SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.datasets import make_cohorts
from tests.attacks.tally import Tally, run_script

AT_ONCE = 200
PROCESSES = 8
"""At a time; each takes some 300 MB."""
TABLES = 8
ESTIMATES = ("population", "above_chance", "sample")
WARM_UP = 0.25
"""The share of the fits after which memory is measured; caches fill before."""
MEASURED = 100
"""So often is memory measured."""
REPORT_EVERY = 50
MOST_GROWTH = 1.0
"""MiB per 1,000 fits: 1 KiB a fit."""
SURE = 2.0
"""Standard errors."""


def fitted(number: int) -> SubgroupSelector:
    data = make_cohorts(n_rows=150, n_features=5, hide=0.3, random_state=number % TABLES)
    estimate = ESTIMATES[number % len(ESTIMATES)]
    return SubgroupSelector(data.groups, size=2, estimate=estimate, random_state=0).fit(
        data.columns, data.target
    )


def answer(number: int) -> str:
    return str(best_sets(fitted(number).selection_))


def _answers_in_threads(numbers: list[int]) -> list[str]:
    together = threading.Barrier(len(numbers))

    def work(number: int) -> str:
        together.wait()
        return answer(number)

    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(work, numbers))


def _answers_in_processes(numbers: list[int]) -> list[str]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        return list(pool.map(answer, numbers))


def fit_at_once(tally: Tally, n_fits: int, rng: random.Random) -> None:
    """Compare the answers of fits at once with those of single ones."""
    numbers = [rng.randrange(TABLES * len(ESTIMATES)) for _ in range(n_fits)]
    alone = {number: answer(number) for number in sorted(set(numbers))}
    for where, work in (("threads", _answers_in_threads), ("processes", _answers_in_processes)):
        for number, found in zip(numbers, work(numbers), strict=True):
            if found == alone[number]:
                tally.well(f"{where}: the same answer")
            else:
                tally.wrongly(f"{where}: another answer", f"{number}: {found[:100]}")


def slope(fits: list[int], memory: list[float]) -> tuple[float, float]:
    """The growth of memory per 1,000 fits and its standard error.

    Examples
    --------
    >>> slope([0, 1000, 2000, 3000], [1.0, 2.0, 3.0, 4.0])
    (1.0, 0.0)
    """
    x, y = np.array(fits) / 1000, np.array(memory)
    x = x - x.mean()
    growth = float(x @ y / (x @ x))
    left = y - y.mean() - growth * x
    return growth, float(np.sqrt(left @ left / (len(x) - 2) / (x @ x)))


def held() -> float:
    """MiB of memory that the process holds, without what its allocator keeps for later."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the C library of GNU alone
        if trim is not None:
            trim(0)
    return float(psutil.Process().memory_info().rss / 2**20)


def fit_for_long(tally: Tally, n_fits: int) -> str:
    """Fit over and over, with a report now and then; how memory grew, in words."""
    fits: list[int] = []
    memory: list[float] = []
    began = time.perf_counter()
    for number in range(n_fits):
        selector = fitted(number)
        selector.top_k()
        if number % REPORT_EVERY == 0:
            selector.report().html()
        del selector
        if number >= WARM_UP * n_fits and number % max(1, n_fits // MEASURED) == 0:
            fits.append(number)
            memory.append(held())
    a_day = 86400 / ((time.perf_counter() - began) / n_fits)
    growth, error = slope(fits, memory)
    said = (
        f"{n_fits:,} fits: {growth:+.3f} MiB per 1,000 fits (standard error {error:.3f}), from "
        f"{memory[0]:.1f} to {memory[-1]:.1f} MiB; a day at this rate is {a_day:,.0f} fits"
    )
    if growth - SURE * error > MOST_GROWTH:
        tally.wrongly("memory grew", said)
    else:
        tally.outcomes["memory within its bound"] += n_fits
    return said


def attack(cases: int, seed: int) -> Tally:
    """Fit as often as `cases` says in one process, then many times at once."""
    tally = Tally(
        "load",
        f"Fits at once ({PROCESSES} processes at a time) answer as one does, and memory grows by "
        f"less than {MOST_GROWTH:g} MiB per 1,000 fits.",
    )
    # First, since the memory that threads leave behind would hide what fits take.
    tally.promise += f" ({fit_for_long(tally, cases)})"
    fit_at_once(tally, min(AT_ONCE, cases), random.Random(seed))
    sys.stderr.write(tally.promise + "\n")
    return tally


if __name__ == "__main__":
    sys.exit(run_script(attack, cases=2000))
