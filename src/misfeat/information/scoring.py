"""Sums that every score is made of, for all subsets of some sizes or for listed ones.

Small subsets are read off counted blocks (`cube`), large ones are searched for depth-first
(`depth_first`), whichever costs less. Blocks and stretches of the list are independent tasks for
threads; each subset is summed by one of them in one order, so results are the same for any number.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs

from misfeat.information.kernels import cube, depth_first
from misfeat.information.kernels.order import list_in_search_order
from misfeat.information.plan import (
    block_size_for,
    buffer_words,
    cube_plan,
    lanes_of,
    largest_dense_size,
    small_cells,
)
from misfeat.information.prepared import PreparedRows, log_table
from misfeat.lattice.levels import binomials, level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Task = Callable[[], None]

Sums: TypeAlias = "NDArray[np.float64]"
"""Sums of f, a row a kind, a column a subset."""

TASKS_A_THREAD = 8
SEARCHES_A_THREAD = 32
"""Stretches of a search differ in length, so there are many."""
LISTED_BY_MASK = 22
"""Up to so many features, subsets are listed by counting through all bit masks."""


@dataclass(frozen=True)
class Work:
    """How scoring is carried out.

    Attributes
    ----------
    n_jobs : int or None
        Threads, as joblib reads it.
    progress : callable or None
        Called as ``progress(done, total)`` after every task. What it raises stops the work.
    """

    n_jobs: int | None = None
    progress: Callable[[int, int], None] | None = None


def sums_of_levels(rows: PreparedRows, low: int, high: int, n_kinds: int, work: Work) -> list[Sums]:
    """Sums for every subset of sizes low to high, in the order of ranks, a list entry a size.

    `n_kinds` is 1 for differences, 2 to keep both sums apart; rows that lack values make it 4.
    """
    n = rows.n_features
    if rows.lacks_values:
        n_kinds = 4
    by_size = {m: np.zeros((n_kinds, comb(n, m))) for m in range(low, high + 1)}
    lowest = max(low, 1)
    dense = largest_dense_size(rows, lowest, high)
    tasks: list[Task] = []
    if low == 0:
        by_size[0] = _listed_sums(rows, np.zeros((1, 0), dtype=np.int32), n_kinds)
    if dense >= lowest:
        found = np.zeros((n_kinds, sum(comb(n, m) for m in range(lowest, dense + 1))))
        tasks += _cube_tasks(rows, lowest, dense, found, work)
    sparse = range(max(dense + 1, lowest), high + 1)
    if sparse:
        subsets, sizes, order = _in_search_order(n, sparse)
        listed = np.zeros((n_kinds, len(sizes)))
        tasks += _search_tasks(rows, subsets, sizes, listed, work)
    _run(tasks, work)
    if dense >= lowest:
        at = 0
        for m in range(lowest, dense + 1):
            by_size[m] = found[:, at : at + comb(n, m)]
            at += comb(n, m)
    if sparse:
        restored = np.empty_like(listed)
        restored[:, order] = listed
        at = 0
        for m in sparse:
            by_size[m] = restored[:, at : at + comb(n, m)]
            at += comb(n, m)
    return [by_size[m] for m in range(low, high + 1)]


def sums_of_subsets(
    rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int, work: Work
) -> Sums:
    """Sums for listed subsets of one size, members numbered among the features of `rows`."""
    if rows.lacks_values:
        n_kinds = 4
    order = np.lexsort(subsets.T[::-1]) if subsets.shape[1] else np.arange(len(subsets))
    members = subsets[order].astype(np.int16)
    sizes = np.full(len(members), members.shape[1], dtype=np.int64)
    listed = np.zeros((n_kinds, len(members)))
    _run(_search_tasks(rows, members, sizes, listed, work), work)
    restored = np.empty_like(listed)
    restored[:, order] = listed
    return restored


def _listed_sums(rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int) -> Sums:
    return sums_of_subsets(rows, subsets, n_kinds, Work(n_jobs=1))


def _cube_tasks(rows: PreparedRows, low: int, high: int, sums: Sums, work: Work) -> list[Task]:
    lanes, lane_type, word_type = lanes_of(rows.n_classes, rows.total)
    lane_bytes = np.dtype(lane_type).itemsize
    block_size = block_size_for(rows, high, lanes, lane_bytes)
    plan = cube_plan(rows.n_features, low, high, block_size)
    words_a_cell = lanes * lane_bytes / np.dtype(word_type).itemsize
    capacity = buffer_words(rows.cardinalities, plan.blocks.shape[1], words_a_cell)
    f = log_table(rows.total)
    small = small_cells(lanes) if lane_bytes == 2 else np.empty(0)
    own = threading.local()  # every thread keeps its memory from task to task
    unit = bool((rows.weights == 1).all())
    weights = rows.weights[:0] if unit else rows.weights
    weights = weights.astype(lane_type)

    def task(first: int, last: int) -> Task:
        def score() -> None:
            if not hasattr(own, "buffer"):
                own.buffer = np.empty(capacity, dtype=word_type)
                own.keys = np.empty((2, cube.CHUNK), dtype=np.uint16)
            cube.score_blocks(
                first,
                last,
                rows.codes,
                rows.target,
                weights,
                rows.cardinalities,
                rows.n_classes,
                plan.blocks,
                plan.starts,
                plan.kept,
                plan.outputs,
                lanes,
                own.buffer,
                own.buffer.view(lane_type),
                own.keys,
                f,
                small,
                sums,
            )

        return score

    return [task(*part) for part in _stretches(len(plan.blocks), TASKS_A_THREAD, work)]


def _search_tasks(
    rows: PreparedRows,
    members: NDArray[np.int16],
    sizes: NDArray[np.int64],
    sums: Sums,
    work: Work,
) -> list[Task]:
    f = log_table(rows.total)
    packed = (
        len(sums) == 1
        and rows.n_classes <= depth_first.PACKED_CLASSES
        and rows.total < 2**depth_first.PACKED_BITS
    )
    if packed:
        small = small_cells(depth_first.PACKED_CLASSES)
        shift = rows.target.astype(np.uint64) * np.uint64(depth_first.PACKED_BITS)
        counts = rows.weights.astype(np.uint64) << shift

        def task(first: int, last: int) -> Task:
            return lambda: depth_first.score_listed_packed(
                members[first:last],
                sizes[first:last],
                rows.codes,
                rows.cardinalities,
                counts,
                f,
                small,
                sums[0, first:last],
            )

    else:
        drop_pure = len(sums) == 1
        n_cells = _search_cells(rows, int(sizes.max(initial=0)))

        def task(first: int, last: int) -> Task:
            return lambda: depth_first.score_listed(
                members[first:last],
                sizes[first:last],
                rows.codes,
                rows.cardinalities,
                rows.target,
                rows.weights,
                rows.n_classes,
                n_cells,
                f,
                drop_pure,
                sums[:, first:last],
            )

    return [task(*part) for part in _stretches(len(sizes), SEARCHES_A_THREAD, work)]


def _search_cells(rows: PreparedRows, size: int) -> int:
    """Cells that a split may touch: the groups that can exist, times the largest cardinality."""
    largest = np.sort(rows.cardinalities)[::-1]
    groups = min(float(rows.n_rows), float(np.prod(largest[: max(size - 1, 0)], dtype=float)))
    return int(max(groups, 1.0) * largest[:1].max(initial=1))


def _in_search_order(
    n: int, sizes: Sequence[int]
) -> tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]]:
    """All subsets of some sizes so that those with a common beginning follow each other.

    Returns the members, padded; the sizes; and the place of each among the sizes' ranks.
    """
    low, high = min(sizes), max(sizes)
    total = sum(comb(n, m) for m in sizes)
    if n <= LISTED_BY_MASK:
        members = np.empty((total, high), dtype=np.int16)
        lengths, places = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
        list_in_search_order(n, low, high, binomials(n, high), members, lengths, places)
        return members, lengths, places
    members = np.full((total, high), n, dtype=np.int16)
    lengths = np.repeat(np.array(sizes), [comb(n, m) for m in sizes])
    at = 0
    for m in sizes:
        members[at : at + comb(n, m), :m] = level(n, m)
        at += comb(n, m)
    order = np.lexsort(members.T[::-1])
    return members[order], lengths[order], order


def _stretches(count: int, a_thread: int, work: Work) -> list[tuple[int, int]]:
    """Cut a range into several tasks a thread, where there is enough for them."""
    n_tasks = max(1, min(count, a_thread * effective_n_jobs(work.n_jobs)))
    bounds = np.linspace(0, count, n_tasks + 1).astype(int).tolist()
    return list(pairwise(bounds))


def _run(tasks: list[Any], work: Work) -> None:
    """Carry out tasks on threads; an interrupt or an error stops those not yet begun."""
    n_threads = min(effective_n_jobs(work.n_jobs), len(tasks))
    if n_threads <= 1:
        for done, task in enumerate(tasks, start=1):
            task()
            if work.progress is not None:
                work.progress(done, len(tasks))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                if work.progress is not None:
                    work.progress(done, len(tasks))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
