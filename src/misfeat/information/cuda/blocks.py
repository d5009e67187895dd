"""Rows on a CUDA device, and the sums of all subsets of some sizes for one target or many."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.plan import COVER_SURPLUS, LARGEST_BLOCK, buffer_words, cube_plan
from misfeat.machine.devices import cuda_kernel, memory_of_groups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.kernels.cube import CubePlan

    Floats = NDArray[np.float64]

LEAST_COUNTED = 3e7
"""Rows to be counted, over all blocks and targets, from which on the way to the device pays."""
LEAST_GROUPS = 128
"""Blocks times targets from which on a device has enough to do at a time."""
MEMORY_SHARE = 0.45
"""Of a processor's shared memory that a group of threads may take, so that two run beside it."""
ROWS_A_COUNT = 6
"""Summing a count out and looking it up costs as much as counting so many rows."""
MANY_CELLS = 8192
"""Tables with at least so many counts are worked on by many threads."""
MOST_SUMS = 2**26
"""Sums that are asked for at a time."""
MOST_CLASSES = 2**28
"""Classes of rows, over all targets, that are held at a time."""
DIFFERENCE, APART, JOINT = 0, 1, 2
_IN_C: dict[type, tuple[str, str]] = {
    np.uint8: ("unsigned char", "uchar4"),
    np.uint16: ("unsigned short", "ushort4"),
}


def kernel_of(name: str, code_type: type[np.unsignedinteger]) -> Any:
    """A kernel for codes and classes of a type."""
    one, four = _IN_C[code_type]
    return cuda_kernel(
        "misfeat.information.cuda", "kernels.cu", name, (("CODE", one), ("CODES", four))
    )


@dataclass(frozen=True, eq=False)
class Layout:
    """What is counted together, and how much memory it takes.

    `counts` are those that a group of threads holds at a time, at most.
    """

    plan: CubePlan
    counts: int


def layout_for(
    cardinalities: NDArray[np.int64],
    low: int,
    high: int,
    n_classes: int,
    n_rows: int,
    n_targets: int = 1,
    held: int = 1,
) -> Layout | None:
    """Blocks whose tables fit a group of threads and cost least; None where it does not pay.

    `held` are the cells of a feature that is in every block, numbered after all others.
    """
    n = len(cardinalities)
    most = int(memory_of_groups() * MEMORY_SHARE) // 4
    fitting = [
        size
        for size in range(high, min(n, LARGEST_BLOCK) + 1)
        if buffer_words(cardinalities, size, float(n_classes * held)) <= most
    ]
    if not fitting:
        return None

    def blocks_of(size: int) -> float:
        return (1.0 + COVER_SURPLUS * (size - high)) * comb(n, high) / comb(size, high)

    def cost(size: int) -> float:
        counts = buffer_words(cardinalities, size, float(n_classes * held))
        return blocks_of(size) * (n_rows + ROWS_A_COUNT * counts)

    size = min(fitting, key=cost)
    if blocks_of(size) * n_rows * n_targets < LEAST_COUNTED:
        return None
    plan = cube_plan(n, low, high, size)
    counts = buffer_words(cardinalities, size, float(n_classes * held))
    if held > 1:
        column = np.full((len(plan.blocks), 1), n)
        plan = plan._replace(
            blocks=np.hstack([plan.blocks, column]), kept=plan.kept | np.int32(1 << size)
        )
    return Layout(plan, counts)


class RowsOnDevice:
    """Coded rows on a device, and what their sums are looked up in.

    No code is lacking; without weights every row stands for one.
    """

    def __init__(
        self,
        cupy: Any,
        codes: NDArray[np.integer],
        cardinalities: NDArray[np.int64],
        n_classes: int,
        weights: NDArray[np.integer] | None = None,
    ) -> None:
        self.cupy, self.n_rows, self.n_classes = cupy, codes.shape[1], n_classes
        wide = max(int(cardinalities.max(initial=1)), n_classes) > 2**8
        self.code_type = np.uint16 if wide else np.uint8
        self.n_padded = -(-self.n_rows // 16) * 16
        self.codes = self.padded(codes)
        self.cardinalities = cupy.asarray(cardinalities.astype(np.int32))
        self.weights = None if weights is None else cupy.asarray(weights.astype(np.uint32))

    def padded(self, lines: NDArray[np.integer]) -> Any:
        """Lines of codes on the device, each of which starts at a whole word."""
        found = self.cupy.zeros((len(lines), self.n_padded), dtype=self.code_type)
        found[:, : self.n_rows] = self.cupy.asarray(lines.astype(self.code_type, copy=False))
        return found

    def kernel(self, name: str) -> Any:
        """A kernel for codes of this type."""
        return kernel_of(name, self.code_type)

    def score(
        self,
        layout: Layout,
        targets: Any,
        f: Floats,
        g: Floats,
        kind: int,
        *,
        is_chance: bool = False,
        most_beyond: int = 1,
    ) -> tuple[Floats, NDArray[np.uint64]]:
        """Sums of all subsets for every target, and totals of cells that g does not reach.

        Returns
        -------
        sums : ndarray of shape (n_targets, n_kinds, n_subsets)
        beyond : ndarray of uint64
            The number of a subset, times 2**32, and a total, in order.
        """
        cupy, plan = self.cupy, layout.plan
        n_outputs = int((plan.outputs >= 0).sum())
        kinds = 2 if kind == APART else 1
        sums = cupy.zeros((len(targets), kinds, n_outputs))
        beyond, n_beyond = cupy.zeros(most_beyond, np.uint64), cupy.zeros(1, np.uint32)
        kernel, shared = self.kernel("score_blocks"), layout.counts * 4
        kernel.max_dynamic_shared_size_bytes = shared
        threads = 1024 if layout.counts >= MANY_CELLS else 256
        lines = [cupy.asarray(a.astype(np.int32)) for a in (plan.starts, plan.kept, plan.outputs)]
        kernel(
            (len(plan.blocks), len(targets)),
            (threads,),
            (
                self.codes,
                targets,
                0 if self.weights is None else self.weights,
                np.int64(self.n_rows),
                np.int64(self.n_padded),
                cupy.asarray(plan.blocks.astype(np.int32)),
                np.int32(plan.blocks.shape[1]),
                self.cardinalities,
                np.int32(self.n_classes),
                *lines,
                np.int64(n_outputs),
                cupy.asarray(f),
                np.uint32(len(f)),
                cupy.asarray(g),
                np.uint32(len(g)),
                np.int32(is_chance),
                np.int32(kind),
                sums,
                beyond,
                n_beyond,
            ),
            shared_mem=shared,
        )
        return sums.get(), np.sort(beyond[: int(n_beyond[0])].get())
