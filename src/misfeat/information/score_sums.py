"""Sums that every score is made of, for all subsets of some sizes or for listed ones.

Small subsets are read off counted blocks, large ones are searched for depth-first, whichever costs
less (docs/explanation/scores.md). Blocks and stretches of a search are tasks for threads; each
subset is summed by one of them in one order, so results are the same for any number.

A covering design, found greedily, puts every subset of the largest wanted size into some block. For
each block a tree says which subsets to visit: a node drops one feature of its parent, behind those
that were dropped before, so each subset has one parent. Subsets that an earlier block has claimed
are visited only where they lead to new ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import comb, log2
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from misfeat.information.kernels import dense_blocks, depth_first_search
from misfeat.information.kernels.dense_blocks import ALIGNED_WORDS, CHUNK, BlockPlan
from misfeat.information.null_expectation import logs_of
from misfeat.lattice.levels import binomials, level, rank, unrank
from misfeat.runtime.array_types import Floats, Indices, Integers
from misfeat.runtime.threads import Task, Work

if TYPE_CHECKING:
    from misfeat.information.mutual_info import CompactRows

Members = NDArray[np.int16]
Sums: TypeAlias = Floats  # Sums of f, a row a kind, a column a subset
Search = Callable[[Members, Integers, Sums], None]

WHOLE_LEVEL_SHARE = 0.1  # Of a larger share, scoring the whole level costs less than searching
LISTED_AT_ONCE = 22  # Up to so many features, all sizes are searched together and share beginnings
TASKS_A_THREAD = 8
SEARCHES_A_THREAD = 32  # stretches of a search differ in length, so there are many
LONGEST_SEARCH = 100_000  # subsets of a level that are listed at once
FEWEST_VISITS = 200_000  # rows times subsets of a stretch: a fraction of a millisecond
DENSE_LANES_A_ROW = 5  # tables with more lanes than this a row are searched depth-first instead
FEW_LANES = 1024  # tables with at most so many lanes are always counted
SMALL = 5_000_000  # rows times subsets up to which one kernel does: others take longer to compile
ROWS_A_FEATURE = 30  # With fewer, searching takes less time than making a plan for counting
LARGEST_PLAN = 2_000_000  # Levels of more subsets are searched: a plan would take too long to make
LARGEST_TABLE = 2**22  # Lanes of a block: more would not fit two 16-bit keys, nor the caches
COVER_SURPLUS = 0.3  # So many more blocks than the least has a greedy cover, by further feature
NEAR_BYTES = 2**16  # tables of up to so many bytes stay in the first-level cache
LARGEST_BLOCK = 24  # Members of a block are bits of an integer; no larger table would fit


def listed_tasks(
    rows: CompactRows, members: Members, sizes: Integers, sums: Sums, work: Work, times: int = 1
) -> list[Task]:
    """Tasks that fill `sums` for listed subsets; common beginnings must follow each other."""
    search = _search(rows, int(sizes.max(initial=0)), times * len(sizes))
    shortest = max(1, FEWEST_VISITS // max(rows.n_rows, 1))
    parts = work.stretches(len(sizes), SEARCHES_A_THREAD, shortest=shortest)
    return [
        partial(search, members[first:last], sizes[first:last], sums[:, first:last])
        for first, last in parts
    ]


def level_tasks(rows: CompactRows, size: int, sums: Sums, work: Work, times: int = 1) -> list[Task]:
    """Tasks that fill `sums` for every subset of one size, by rank, listing a stretch at a time."""
    count, shortest = comb(rows.n_features, size), max(1, FEWEST_VISITS // max(rows.n_rows, 1))
    search = _search(rows, size, times * count)

    def score(first: int, last: int) -> None:
        # Ranks that follow each other share their largest members, so those come first.
        subsets = unrank(np.arange(first, last), size)[:, ::-1]
        members = np.ascontiguousarray(subsets, dtype=np.int16)
        search(members, np.full(last - first, size, dtype=np.int64), sums[:, first:last])

    parts = work.stretches(count, SEARCHES_A_THREAD, LONGEST_SEARCH, shortest)
    return [partial(score, *part) for part in parts]


def list_levels(n_features: int, sizes: Sequence[int]) -> tuple[Members, Integers, Integers]:
    """Subsets with common beginnings in a row: members, sizes, place by size and rank."""
    counts = [comb(n_features, size) for size in sizes]
    members = np.zeros((sum(counts), max(sizes)), dtype=np.int16)
    masks, start = np.empty(len(members), dtype=np.int64), 0
    for size, count in zip(sizes, counts, strict=True):
        subsets = level(n_features, size)
        own = slice(start, start + count)
        members[own, :size] = subsets
        # Bit masks whose highest bit is feature 0, counted down.
        masks[own] = (1 << (n_features - 1 - subsets.astype(np.int64))).sum(axis=1)
        start += count
    places = np.argsort(-masks)
    return members[places], np.repeat(np.array(sizes), counts)[places], places


def _search(rows: CompactRows, largest: int, n_sets: int) -> Search:
    """The kernel for these rows: four classes packed into a word, or any number of them."""
    packed = (
        not rows.lacks_values
        and rows.counts_rows
        and rows.n_classes <= depth_first_search.PACKED_CLASSES
        and rows.total < 2**depth_first_search.PACKED_BITS
        and rows.n_rows * n_sets > SMALL
    )
    if packed:
        shift = rows.target.astype(np.uint64) * np.uint64(depth_first_search.PACKED_BITS)
        counts = rows.weights.astype(np.uint64) << shift
        logs = logs_of(rows, depth_first_search.PACKED_CLASSES)
        of_rows = rows.codes, rows.cardinalities, counts, not rows.above_chance, logs
        packed_rows = depth_first_search.PackedRows(*of_rows)
        return lambda members, sizes, sums: depth_first_search.score_listed_packed(
            members, sizes, packed_rows, sums[0]
        )
    by_size = np.sort(rows.cardinalities)[::-1]
    groups = min(float(rows.n_rows), float(np.prod(by_size[: max(largest - 1, 0)], dtype=float)))
    searched_rows = depth_first_search.SearchedRows(
        codes=rows.codes,
        cardinalities=rows.cardinalities,
        target=rows.target,
        weights=rows.weights,
        n_classes=rows.n_classes,
        # The groups that can exist, times the largest cardinality.
        n_cells=int(max(groups, 1.0) * by_size[:1].max(initial=1)),
        drop_pure=not rows.lacks_values and not rows.above_chance,
        negligible=0 if rows.lacks_values else 1,
        lacks_values=rows.lacks_values,
        logs=logs_of(rows, 0),
    )

    def search(members: Members, sizes: Integers, sums: Sums) -> None:
        found = np.zeros((len(sums), len(sizes)))
        depth_first_search.score_listed(members, sizes, searched_rows, found)
        sums[:] = found

    return search


def sums_of_levels(
    rows: CompactRows, low: int, high: int, work: Work, times: int = 1
) -> list[Sums]:
    """Sums for every subset of sizes low to high, in the order of ranks, a list entry per size."""
    n, n_kinds = rows.n_features, 4 if rows.lacks_values else 1
    sizes = range(low, high + 1)
    bounds = np.cumsum([0, *(comb(n, size) for size in sizes)])
    sums = np.full((n_kinds, bounds[-1]), np.nan)
    by_size = {size: sums[:, bounds[i] : bounds[i + 1]] for i, size in enumerate(sizes)}
    tasks = level_tasks(rows, 0, by_size[0], work) if low == 0 else []
    smallest = max(low, 1)
    dense = largest_dense_size(rows, smallest, high, times)
    if dense >= smallest:
        counted = sums[0, bounds[smallest - low] : bounds[dense + 1 - low]]
        tasks += counting_tasks(rows, smallest, dense, counted, work)
    sparse = range(max(dense + 1, smallest), high + 1)
    if not sparse or n > LISTED_AT_ONCE:
        for size in sparse:
            tasks += level_tasks(rows, size, by_size[size], work, times)
        work.run(tasks)
        return list(by_size.values())
    members, lengths, places = list_levels(n, sparse)
    searched = np.full((n_kinds, len(lengths)), np.nan)
    work.run(tasks + listed_tasks(rows, members, lengths, searched, work, times))
    sums[:, bounds[sparse.start - low] + places] = searched
    return list(by_size.values())


def sums_of_subsets(
    rows: CompactRows, subsets: Indices, work: Work, times: int = 1, held: Sequence[int] = ()
) -> Sums:
    """Sums for listed subsets of one size, members ascending, asked for so many times."""
    # NaN where a feature was never recorded. Features that all subsets hold are looked at once.
    subsets = np.asarray(subsets)
    size = subsets.shape[1]
    own = rows.positions[subsets]
    computable = np.flatnonzero((own >= 0).all(axis=1))
    found = np.full((4 if rows.lacks_values else 1, len(subsets)), np.nan)
    if not len(computable):
        return found
    own = own[computable]
    few = held and rows.n_rows * len(own) * times > SMALL  # of those that share most of their work
    many = len(own) >= WHOLE_LEVEL_SHARE * comb(rows.n_features, size)
    if many and not few and not rows.lacks_values:
        (whole,) = sums_of_levels(rows, size, size, work, times)
        found[:, computable] = whole[:, rank(own)]
        return found
    if held:
        free = np.ones(rows.n_features, dtype=bool)
        free[rows.positions[list(held)]] = False
        own = np.take_along_axis(own, np.argsort(free[own], axis=1, kind="stable"), axis=1)
    order = np.lexsort(own.T[::-1]) if size else np.arange(len(own))
    members = np.ascontiguousarray(own[order], dtype=np.int16)
    listed = np.zeros((len(found), len(own)))
    sizes = np.full(len(own), size, dtype=np.int64)
    work.run(listed_tasks(rows, members, sizes, listed, work, times))
    found[:, computable[order]] = listed
    return found


def counting_tasks(rows: CompactRows, low: int, high: int, sums: Floats, work: Work) -> list[Task]:
    """Tasks that fill `sums` for every subset of sizes low to high, numbered as by `block_plan`."""
    lanes, lane_type, word_type = lanes_of(rows)
    lane_bytes = np.dtype(lane_type).itemsize
    plan = block_plan(rows.n_features, low, high, block_size_for(rows, high, lanes, lane_bytes))
    words_a_cell = lanes * lane_bytes / np.dtype(word_type).itemsize
    capacity = buffer_words(rows.cardinalities, plan.blocks.shape[1], words_a_cell)
    logs = logs_of(rows, lanes if lane_bytes == 2 else 0)
    all_ones = bool((rows.weights == 1).all())
    counted = dense_blocks.CountedRows(
        codes=rows.codes,
        target=rows.target,
        weights=(rows.weights[:0] if all_ones else rows.weights).astype(lane_type),
        cardinalities=rows.cardinalities,
        n_classes=rows.n_classes,
        lanes=lanes,
    )
    own = threading.local()  # every thread keeps its memory from task to task

    def score(first: int, last: int) -> None:
        if not hasattr(own, "memory"):
            words: NDArray[Any] = np.empty(capacity, dtype=word_type)
            keys, long_keys = np.empty(CHUNK, np.uint16), np.empty(CHUNK, np.uint32)
            own.memory = dense_blocks.Memory(words, words.view(lane_type), keys, long_keys)
        dense_blocks.score_blocks(first, last, counted, plan, own.memory, logs, sums)

    return [partial(score, *part) for part in work.stretches(len(plan.blocks), TASKS_A_THREAD)]


@lru_cache(maxsize=64)
def block_plan(n_features: int, low: int, high: int, block_size: int) -> BlockPlan:
    """Plan the scores of all subsets of sizes low to high, numbered size by size, by rank."""
    table = binomials(n_features, high)
    blocks = dense_blocks.greedy_cover(n_features, high, block_size, table)
    offsets = np.zeros(high + 2, dtype=np.int64)
    for size in range(low, high + 1):
        offsets[size + 1] = offsets[size] + table[n_features, size]
    starts, kept, outputs = dense_blocks.drop_trees(blocks, low, high, table, offsets)
    return BlockPlan(blocks, starts, kept, outputs)


def lanes_of(rows: CompactRows) -> tuple[int, type[np.unsignedinteger], type]:
    """How a cell is laid out: lanes, their type, and the type of the words they are summed in."""
    # Two 16-bit lanes fill a 32-bit word, four a 64-bit word; more classes take several words. What
    # cells weigh, where rows have weights, is never in 16-bit lanes, for which all is looked up.
    if rows.total < 2**16 and rows.counts_rows:
        if rows.n_classes <= 2:
            return 2, np.uint16, np.uint32
        return -(-rows.n_classes // 4) * 4, np.uint16, np.uint64
    if rows.total < 2**32:
        return -(-rows.n_classes // 2) * 2, np.uint32, np.uint64
    return rows.n_classes, np.uint64, np.uint64


def buffer_words(cardinalities: Integers, block_size: int, words_a_cell: float) -> int:
    """Words that hold a block's table and those on the way down its tree, at worst."""
    largest = np.sort(cardinalities)[::-1][:block_size]
    cells = [int(np.prod(largest[:kept])) for kept in range(block_size + 1)]
    return int(sum(cells) * words_a_cell) + (block_size + 2) * ALIGNED_WORDS


def largest_dense_size(rows: CompactRows, low: int, high: int, times: int = 1) -> int:
    """The largest size whose tables are worth counting; below `low` where none is."""
    few = rows.n_rows * comb(rows.n_features, high) * times <= SMALL
    if few or rows.lacks_values or rows.n_rows < ROWS_A_FEATURE * rows.n_features:
        return low - 1
    lanes = lanes_of(rows)[0]
    mean_cells = mean_cells_of(rows.cardinalities, high)
    largest = np.sort(rows.cardinalities)[::-1]
    most = max(DENSE_LANES_A_ROW * rows.n_rows, FEW_LANES)
    size = low - 1
    while (
        size < high
        and mean_cells[size + 1] * lanes <= most
        and np.prod(largest[: size + 1], dtype=float) * lanes <= LARGEST_TABLE
        and comb(rows.n_features, size + 1) <= LARGEST_PLAN
    ):
        size += 1
    return size


def mean_cells_of(cardinalities: Integers, high: int) -> list[float]:
    """The mean number of cells of a subset's table, by size."""
    totals = np.zeros(high + 1)
    totals[0] = 1.0
    for cardinality in cardinalities:
        totals[1:] += totals[:-1] * float(cardinality)
    return [totals[m] / comb(len(cardinalities), m) for m in range(high + 1)]


def block_size_for(
    rows: CompactRows, high: int, lanes: int, lane_bytes: int, additions: float = 1.0
) -> int:
    """The block size that should cost least, if counting a row takes so many additions."""
    n = rows.n_features
    largest = np.sort(rows.cardinalities)[::-1]
    mean = mean_cells_of(rows.cardinalities, min(n, LARGEST_BLOCK))
    best, least = high, np.inf
    for size in range(high, min(n, LARGEST_BLOCK) + 1):
        if np.prod(largest[:size], dtype=float) * lanes > LARGEST_TABLE and size > high:
            break
        surplus = 1.0 + COVER_SURPLUS * (size - high)
        n_blocks = surplus * comb(n, high) / comb(size, high) if size < n else 1.0
        in_bytes = mean[size] * lanes * lane_bytes
        # The farther its cache is, the longer it takes to count a row into a table.
        count_row = 0.7 + 0.1 * max(log2(in_bytes / (NEAR_BYTES / 2)), 0.0) + in_bytes / 1.5e6
        sum_byte = 0.1 if in_bytes <= NEAR_BYTES else 0.2
        cost = n_blocks * (rows.n_rows * additions * count_row + in_bytes * sum_byte)
        if cost < least:
            best, least = size, cost
    return best
