"""Tasks that count blocks of features and read the sums of their subsets off (cover-cube)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.kernels import cube
from misfeat.information.logs import logs_of
from misfeat.information.plan import block_size_for, buffer_words, cube_plan, lanes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Task, Work

TASKS_A_THREAD = 8


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
