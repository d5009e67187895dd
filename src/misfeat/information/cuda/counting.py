"""Sums of all subsets of some sizes, counted on a CUDA device where that pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.chance import chance_of_totals
from misfeat.information.cuda.blocks import (
    APART,
    DIFFERENCE,
    LEAST_GROUPS,
    RowsOnDevice,
    layout_for,
)
from misfeat.information.logs import logs_of
from misfeat.machine.devices import cuda_for, failures, say_failed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Work


def counted_on_cuda(
    rows: PreparedRows, low: int, high: int, sums: NDArray[np.float64], work: Work
) -> bool:
    """Fill `sums` as `counting_tasks` does; False where nothing was done.

    The rows have no gaps. A share of the work is left to the processor.
    """
    cupy = cuda_for(work.device) if work.share[1] == 1 else None
    if cupy is None or rows.total >= 2**32 or (rows.above_chance and not rows.counts_rows):
        return False
    layout = layout_for(rows.cardinalities, low, high, rows.n_classes, rows.n_rows)
    if layout is None or len(layout.plan.blocks) < LEAST_GROUPS:
        return False
    logs = logs_of(rows, 0)
    is_chance = rows.above_chance
    n_subsets = sums.shape[1]
    most_beyond = n_subsets * (rows.total // len(logs.g) + 1) if is_chance else 1
    weights = None if (rows.weights == 1).all() else rows.weights
    try:
        held = RowsOnDevice(cupy, rows.codes, rows.cardinalities, rows.n_classes, weights)
        found, beyond = held.score(
            layout,
            held.padded(rows.target[None]),
            logs.f,
            logs.g,
            DIFFERENCE if len(sums) == 1 else APART,
            is_chance=is_chance,
            most_beyond=most_beyond,
        )
    except failures() as error:
        say_failed(error)
        return False
    sums[:] = found[0]
    if len(beyond):
        chance = chance_of_totals((beyond & np.uint64(2**32 - 1)).astype(np.int64), logs.by_class)
        subset = (beyond >> np.uint64(32)).astype(np.int64)
        more = np.bincount(subset, weights=chance, minlength=n_subsets)
        sums[-1] += more if len(sums) == 2 else -more
    return True
