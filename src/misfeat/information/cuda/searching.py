"""Sums of listed subsets of many cells, in tables of hashes on a CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.information.cuda.blocks import APART, DIFFERENCE, LEAST_COUNTED, kernel_of
from misfeat.information.logs import logs_of
from misfeat.machine.devices import cuda_for, failures, memory_of_groups, say_failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.information.prepared import PreparedRows

    Members = NDArray[np.int16]
    Sizes = NDArray[np.int64]
    Sums = NDArray[np.float64]
    Search = Callable[[Members, Sizes, Sums], None]

SLOTS_A_ROW = 1.25
"""Slots of a table of hashes, at least; the fewer, the longer rows look for theirs."""
GROUPS = 8192
"""Groups of threads, each of which takes every so many subsets."""
THREADS = 1024


def search_on_cuda(
    rows: PreparedRows, n_kinds: int, n_subsets: int, device: str, otherwise: Search
) -> Search | None:
    """What fills sums for listed subsets; None where a device is not there or does not pay.

    `n_kinds` is 1 for differences, 2 to keep both sums apart; others are left to the processor, as
    is what is asked `otherwise` where the device fails.
    """
    cupy = cuda_for(device)
    if cupy is None or n_kinds > 2 or rows.lacks_values or not rows.counts_rows:
        return None
    slot_bits = int(max(rows.n_rows * SLOTS_A_ROW, 2)).bit_length()
    shared = 4 * (1 + -(-rows.n_classes // 2)) << slot_bits
    bits = _bits_of(rows)
    fits = rows.total < 2**16 and sum(bits) <= 64 and shared <= memory_of_groups()
    if not fits or n_subsets * rows.n_rows < LEAST_COUNTED:
        return None
    try:
        there = _RowsByKey(cupy, rows, bits, slot_bits, shared)
    except failures() as error:
        say_failed(error)
        return None

    def search(members: Members, sizes: Sizes, sums: Sums) -> None:
        try:
            sums[:] = there.sums(members, sizes, n_kinds)
        except failures() as error:
            say_failed(error)
            otherwise(members, sizes, sums)

    return search


def _bits_of(rows: PreparedRows) -> list[int]:
    """How many bits of a key the codes of each feature take."""
    return [int(count - 1).bit_length() for count in rows.cardinalities]


class _RowsByKey:
    """Rows on a device, all codes of a row in one key."""

    def __init__(
        self, cupy: Any, rows: PreparedRows, bits: list[int], slot_bits: int, shared: int
    ) -> None:
        shifts = np.cumsum([0, *bits])[:-1].tolist()
        owned = [((1 << width) - 1) << shift for width, shift in zip(bits, shifts, strict=True)]
        self._owned = np.array([*owned, 0], dtype=np.uint64)
        keys = np.zeros(rows.n_rows, dtype=np.uint64)
        for line, shift in zip(rows.codes, shifts, strict=True):
            keys |= line.astype(np.uint64) << np.uint64(shift)
        code_type: type = np.uint8 if rows.n_classes <= 2**8 else np.uint16
        plain = bool((rows.weights == 1).all())
        logs = logs_of(rows, 0)
        self._cupy, self._shared = cupy, shared
        self._rows = (
            cupy.asarray(keys),
            cupy.asarray(rows.target.astype(code_type)),
            0 if plain else cupy.asarray(rows.weights.astype(np.uint32)),
            np.int32(rows.n_rows),
            np.int32(rows.n_classes),
        )
        self._looked_up = np.int32(slot_bits), cupy.asarray(logs.f), cupy.asarray(logs.g)
        self._kernel = kernel_of("score_listed", code_type)
        self._kernel.max_dynamic_shared_size_bytes = shared

    def sums(self, members: Members, sizes: Sizes, n_kinds: int) -> Sums:
        """The sums of subsets, of shape (n_kinds, n_subsets)."""
        cupy = self._cupy
        masks = np.zeros(len(sizes), dtype=np.uint64)
        for place in range(int(sizes.max(initial=0))):
            masks |= self._owned[np.where(place < sizes, members[:, place], -1)]
        found = cupy.empty((n_kinds, len(sizes)))
        subsets = cupy.asarray(masks), np.int32(len(sizes))
        kind = np.int32(DIFFERENCE if n_kinds == 1 else APART)
        arguments = (*self._rows, *subsets, *self._looked_up, kind, found)
        groups = min(len(sizes), GROUPS)
        self._kernel((groups,), (THREADS,), arguments, shared_mem=self._shared)
        sums: Sums = found.get()
        return sums
