"""Deals of the target on a CUDA device: orders, counts and sums, all of them there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.cuda.blocks import (
    JOINT,
    MOST_CLASSES,
    MOST_SUMS,
    Layout,
    RowsOnDevice,
    layout_for,
)
from misfeat.machine.devices import cuda_for, failures, memory_of_groups, say_failed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.kernels.dealing import DealtRows

    Floats = NDArray[np.float64]

THREADS = 256


class DealsOnDevice:
    """The sums of f of all subsets, for deals of the target.

    All rows weigh one. Sets hold up to `largest` features besides the last one, which all sets hold
    where it has more cells than one (`n_held`).
    """

    def __init__(self, rows: DealtRows, largest: int, n_held: int, f: Floats) -> None:
        self._rows, self._largest, self._n_held, self._f = rows, largest, n_held, f
        self._held: tuple[RowsOnDevice, Any, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rows, self._largest, self._n_held, self._f)

    def sums(self, seeds: NDArray[np.uint64], device: str) -> Floats | None:
        """Sums of shape (n_deals, n_subsets); None where a device is not there or does not pay."""
        cupy = cuda_for(device)
        if cupy is None or len(self._rows.weights):
            return None
        layout = self._layout(len(seeds))
        if layout is None:
            return None
        n_sets = max(int((layout.plan.outputs >= 0).sum()), 1)
        together = max(1, min(MOST_SUMS // n_sets, MOST_CLASSES // len(self._rows.classes)))
        try:
            parts = [
                self._some(cupy, layout, seeds[first : first + together])
                for first in range(0, len(seeds), together)
            ]
        except failures() as error:
            say_failed(error)
            return None
        return np.concatenate(parts)

    def _layout(self, n_deals: int) -> Layout | None:
        rows = self._rows
        free = rows.cardinalities[:-1] if self._n_held > 1 else rows.cardinalities
        size = len(rows.classes), n_deals
        return layout_for(free, 1, self._largest, rows.n_classes, *size, held=self._n_held)

    def _some(self, cupy: Any, layout: Layout, seeds: NDArray[np.uint64]) -> Floats:
        if self._held is None:
            rows = self._rows
            codes = rows.codes[:, rows.patterns]
            held = RowsOnDevice(cupy, codes, rows.cardinalities, rows.n_classes)
            self._held = held, held.padded(rows.classes[None]), cupy.asarray(rows.starts)
        held, classes, starts = self._held
        targets = cupy.empty((len(seeds), held.n_padded), held.code_type)
        needed = held.n_rows * np.dtype(held.code_type).itemsize
        shared = needed <= memory_of_groups()
        kernel = held.kernel("deal")
        if shared:
            kernel.max_dynamic_shared_size_bytes = needed
        sizes = np.int32(len(starts) - 1), np.int64(held.n_rows), np.int64(held.n_padded)
        kernel(
            (len(seeds),),
            (THREADS,),
            (classes, starts, *sizes, cupy.asarray(seeds), np.int32(shared), targets),
            shared_mem=needed if shared else 0,
        )
        sums, _ = held.score(layout, targets, self._f, np.zeros(0), JOINT)
        found: Floats = sums[:, 0]
        return found
