"""Sums that every score is made of, for all subsets of some sizes or for listed ones.

Small subsets are read off counted blocks, large ones are searched for depth-first, whichever costs
less. Blocks and stretches of a search are independent tasks for threads; each subset is summed by
one of them in one order, so results are the same for any number.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from misfeat.exceptions import MisfeatError
from misfeat.information.kernels import cube, depth_first, depth_first_packed
from misfeat.information.kernels.depth_first import list_in_search_order
from misfeat.information.logs import logs_of
from misfeat.information.plan import (
    block_size_for,
    buffer_words,
    cube_plan,
    lanes_of,
    largest_dense_size,
)
from misfeat.lattice.levels import binomials, rank, unrank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows
    from misfeat.runtime.threads import Task, Work

    Members = NDArray[np.int16]
    Search = Callable[[Members, NDArray[np.int64], "Sums"], None]

Sums: TypeAlias = "NDArray[np.float64]"
"""Sums of f, a row a kind, a column a subset."""

WHOLE_LEVEL_SHARE = 0.1
"""Where this share of a level is asked for, scoring all of it costs less than searching."""
LISTED_AT_ONCE = 22
"""Up to so many features, all sizes are searched together, for they share their beginnings."""
TASKS_A_THREAD = 8
SEARCHES_A_THREAD = 32
"""Stretches of a search differ in length, so there are many."""
LONGEST_SEARCH = 100_000
"""Subsets of a level that are listed at once."""
FEWEST_VISITS = 200_000
"""Rows times subsets of a stretch: a fraction of a millisecond."""


def listed_tasks(
    rows: PreparedRows, members: Members, sizes: NDArray[np.int64], sums: Sums, work: Work
) -> list[Task]:
    """Tasks that fill `sums` for listed subsets; common beginnings must follow each other."""
    search = _search(rows, int(sizes.max(initial=0)), len(sums))

    def task(first: int, last: int) -> Task:
        return lambda: search(members[first:last], sizes[first:last], sums[:, first:last])

    parts = work.stretches(len(sizes), SEARCHES_A_THREAD, shortest=_shortest(rows))
    return [task(*part) for part in parts]


def level_tasks(rows: PreparedRows, size: int, sums: Sums, work: Work) -> list[Task]:
    """Tasks that fill `sums` for every subset of one size, by rank, listing a stretch at a time."""
    search = _search(rows, size, len(sums))

    def task(first: int, last: int) -> Task:
        def score() -> None:
            # Ranks that follow each other share their largest members, so those come first.
            subsets = unrank(np.arange(first, last), size)[:, ::-1]
            members = np.ascontiguousarray(subsets, dtype=np.int16)
            search(members, np.full(last - first, size, dtype=np.int64), sums[:, first:last])

        return score

    count = comb(rows.n_features, size)
    parts = work.stretches(count, SEARCHES_A_THREAD, LONGEST_SEARCH, _shortest(rows))
    return [task(*part) for part in parts]


def _shortest(rows: PreparedRows) -> int:
    """How many subsets a stretch has at least."""
    return max(1, FEWEST_VISITS // max(rows.n_rows, 1))


def list_levels(
    n_features: int, sizes: Sequence[int]
) -> tuple[Members, NDArray[np.int64], NDArray[np.int64]]:
    """All subsets of successive sizes so that common beginnings follow each other.

    Returns the members, padded; the sizes; and the place of each subset, size by size, by rank.
    """
    low, high = min(sizes), max(sizes)
    total = sum(comb(n_features, m) for m in sizes)
    members = np.empty((total, high), dtype=np.int16)
    lengths, places = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
    table = binomials(n_features, high)
    list_in_search_order(n_features, low, high, table, members, lengths, places)
    return members, lengths, places


def _search(rows: PreparedRows, largest: int, n_kinds: int) -> Search:
    """The kernel for these rows: four classes packed into a word, or any number of them."""
    packed = (
        n_kinds == 1
        and rows.counts_rows
        and rows.n_classes <= depth_first_packed.PACKED_CLASSES
        and rows.total < 2**depth_first_packed.PACKED_BITS
    )
    if packed:
        shift = rows.target.astype(np.uint64) * np.uint64(depth_first_packed.PACKED_BITS)
        packed_rows = depth_first_packed.PackedRows(
            codes=rows.codes,
            cardinalities=rows.cardinalities,
            counts=rows.weights.astype(np.uint64) << shift,
            drop_pure=not rows.above_chance,
            logs=logs_of(rows, depth_first_packed.PACKED_CLASSES),
        )

        def search_packed(members: Members, sizes: NDArray[np.int64], sums: Sums) -> None:
            depth_first_packed.score_listed_packed(members, sizes, packed_rows, sums[0])

        return search_packed
    searched_rows = depth_first.SearchedRows(
        codes=rows.codes,
        cardinalities=rows.cardinalities,
        target=rows.target,
        weights=rows.weights,
        n_classes=rows.n_classes,
        n_cells=_cells(rows, largest),
        drop_pure=n_kinds == 1 and not rows.above_chance,
        negligible=1 if n_kinds == 1 else 0,
        lacks_values=rows.lacks_values,
        logs=logs_of(rows, 0),
    )

    def search(members: Members, sizes: NDArray[np.int64], sums: Sums) -> None:
        found = np.zeros((n_kinds, len(sizes)))
        depth_first.score_listed(members, sizes, searched_rows, found)
        sums[:] = found

    return search


def _cells(rows: PreparedRows, size: int) -> int:
    """Cells that a split may touch: the groups that can exist, times the largest cardinality."""
    largest = np.sort(rows.cardinalities)[::-1]
    groups = min(float(rows.n_rows), float(np.prod(largest[: max(size - 1, 0)], dtype=float)))
    return int(max(groups, 1.0) * largest[:1].max(initial=1))


@dataclass(frozen=True, eq=False)
class _Part:
    """Successive sizes whose sums are found together; `places` tells where columns belong."""

    sizes: Sequence[int]
    sums: Sums
    places: NDArray[np.int64] | None = None

    def by_size(self, n_features: int) -> dict[int, Sums]:
        sums = self.sums
        if self.places is not None:
            sums = np.empty_like(self.sums)
            sums[:, self.places] = self.sums
        bounds = np.cumsum([0, *(comb(n_features, m) for m in self.sizes)])
        return {
            m: sums[:, start:stop]
            for m, start, stop in zip(self.sizes, bounds[:-1], bounds[1:], strict=True)
        }


def sums_of_levels(rows: PreparedRows, low: int, high: int, n_kinds: int, work: Work) -> list[Sums]:
    """Sums for every subset of sizes low to high, in the order of ranks, a list entry a size.

    `n_kinds` is 1 for differences, 2 to keep both sums apart; rows that lack values make it 4.
    """
    n = rows.n_features
    n_kinds = 4 if rows.lacks_values else n_kinds
    parts: list[_Part] = []
    tasks: list[Task] = []
    if low == 0:
        parts.append(_Part([0], np.full((n_kinds, 1), np.nan)))
        tasks += level_tasks(rows, 0, parts[-1].sums, work)
    smallest = max(low, 1)
    dense = largest_dense_size(rows, smallest, high)
    if dense >= smallest:
        sizes = range(smallest, dense + 1)
        n_sets = sum(comb(n, m) for m in sizes)
        parts.append(_Part(sizes, np.full((n_kinds, n_sets), np.nan)))
        tasks += counting_tasks(rows, smallest, dense, parts[-1].sums, work)
    sparse = range(max(dense + 1, smallest), high + 1)
    if sparse and n <= LISTED_AT_ONCE:
        members, lengths, places = list_levels(n, sparse)
        parts.append(_Part(sparse, np.full((n_kinds, len(lengths)), np.nan), places))
        tasks += listed_tasks(rows, members, lengths, parts[-1].sums, work)
    else:
        for m in sparse:
            parts.append(_Part([m], np.full((n_kinds, comb(n, m)), np.nan)))
            tasks += level_tasks(rows, m, parts[-1].sums, work)
    work.run(tasks)
    found: dict[int, Sums] = {}
    for part in parts:
        found |= part.by_size(n)
    return [found[m] for m in range(low, high + 1)]


def sums_of_subsets(
    rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int, work: Work
) -> Sums:
    """Sums for listed subsets of one size; NaN where a feature was never recorded."""
    subsets = np.asarray(subsets)
    size = subsets.shape[1]
    if (np.diff(subsets, axis=1) <= 0).any():
        raise MisfeatError("The features of a subset must be distinct and ascend along its row.")
    own = rows.positions[subsets]
    computable = np.flatnonzero((own >= 0).all(axis=1))
    found = np.full((4 if rows.lacks_values else n_kinds, len(subsets)), np.nan)
    if not len(computable):
        return found
    if not rows.lacks_values and len(computable) >= WHOLE_LEVEL_SHARE * comb(rows.n_features, size):
        (whole,) = sums_of_levels(rows, size, size, n_kinds, work)
        found[:, computable] = whole[:, rank(own[computable])]
    else:
        found[:, computable] = _sums_of_listed(rows, own[computable], len(found), work)
    return found


def _sums_of_listed(
    rows: PreparedRows, subsets: NDArray[np.integer], n_kinds: int, work: Work
) -> Sums:
    """Sums for subsets whose members are numbered among the features of `rows`."""
    order = np.lexsort(subsets.T[::-1]) if subsets.shape[1] else np.arange(len(subsets))
    members = np.ascontiguousarray(subsets[order], dtype=np.int16)
    sizes = np.full(len(members), members.shape[1], dtype=np.int64)
    listed = np.zeros((n_kinds, len(members)))
    work.run(listed_tasks(rows, members, sizes, listed, work))
    restored = np.empty_like(listed)
    restored[:, order] = listed
    return restored


def counting_tasks(
    rows: PreparedRows, low: int, high: int, sums: NDArray[np.float64], work: Work
) -> list[Task]:
    """Tasks that fill `sums` for every subset of sizes low to high, numbered as by `cube_plan`."""
    lanes, lane_type, word_type = lanes_of(rows.n_classes, rows.total, counts_rows=rows.counts_rows)
    lane_bytes = np.dtype(lane_type).itemsize
    plan = cube_plan(rows.n_features, low, high, block_size_for(rows, high, lanes, lane_bytes))
    words_a_cell = lanes * lane_bytes / np.dtype(word_type).itemsize
    capacity = buffer_words(rows.cardinalities, plan.blocks.shape[1], words_a_cell)
    logs = logs_of(rows, lanes if lane_bytes == 2 else 0)
    all_ones = bool((rows.weights == 1).all())
    counted = cube.CountedRows(
        codes=rows.codes,
        target=rows.target,
        weights=(rows.weights[:0] if all_ones else rows.weights).astype(lane_type),
        cardinalities=rows.cardinalities,
        n_classes=rows.n_classes,
        lanes=lanes,
    )
    own = threading.local()  # every thread keeps its memory from task to task

    def task(first: int, last: int) -> Task:
        def score() -> None:
            if not hasattr(own, "memory"):
                words: NDArray[Any] = np.empty(capacity, dtype=word_type)
                keys = np.empty((2, cube.CHUNK), dtype=np.uint16)
                own.memory = cube.Memory(words, words.view(lane_type), keys)
            cube.score_blocks(first, last, counted, plan, own.memory, logs, sums)

        return score

    return [task(*part) for part in work.stretches(len(plan.blocks), TASKS_A_THREAD)]
