"""The neighbours of every subset in a lattice graph, as sums on tensors, without a stored edge.

Who neighbours whom, and the sum D h + U (h + D h) - m h that has them all, with D over the
supersets one larger and U over the subsets one smaller, is in docs/explanation/paper_model.md (no
edges). The sum is symmetric, so it is its own gradient: nothing but the result is kept for the way
back. Values are tensors whose first axis is the row of a node; further axes are carried along.
"""

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from misfeat.lattice.levels import contains, level, ranks_above, ranks_below
from misfeat.runtime.array_types import Integers


class Neighbours:
    """The lattice graph of the subsets of sizes low to high, level after level."""

    def __init__(self, n_features: int, low: int, high: int) -> None:
        self.n_features, self.low, self.high = n_features, low, high
        counts = [comb(n_features, size) for size in range(low, high + 1)]
        self._start = dict(zip(range(low, high + 1), np.cumsum([0, *counts]), strict=False))
        sizes = np.repeat(np.arange(low, high + 1), counts)
        self.n_rows = len(sizes)
        # Sums over supersets are taken at the sizes below some node: those from `lowest` to
        # high - 1. Where low >= 2, the first of these is not a level of the graph itself.
        lowest = max(low - 1, 1)
        between = range(lowest, high)
        self._extra = comb(n_features, lowest) if lowest < min(low, high) else 0
        self._shared = sum(counts[:-1])
        above = [ranks_above(level(n_features, m), n_features) for m in between]
        self._above = _Bags([a + self._start[m + 1] for m, a in zip(between, above, strict=True)])
        offsets = np.cumsum([0, *[comb(n_features, m) for m in between]])
        below = [ranks_below(level(n_features, m + 1)) for m in between]
        below = [ranks + offset for ranks, offset in zip(below, offsets, strict=False)]
        none = [np.empty((n_features, 0), dtype=np.int64)] if low == 1 else []
        self._below = _Bags([*none, *below])
        n_above = np.where(sizes < high, n_features - sizes, 0)
        n_below = np.where(sizes > low, sizes, 0)
        beside = np.where(sizes >= 2, sizes * (n_features - sizes), 0)
        self.degree = torch.from_numpy(n_above + n_below + beside)
        self._n_above, self._n_below = torch.from_numpy(n_above), torch.from_numpy(n_below)
        # U(D h) visits a node of size m >= 2 itself m times; subtract it.
        self._returns = torch.from_numpy(np.where(sizes >= 2, sizes, 0)).float()

    def rows(self, size: int) -> Integers:
        """The rows of the subsets of one size, in the order of their ranks."""
        start = self._start[size]
        return np.arange(start, start + comb(self.n_features, size))

    def bits(self) -> Tensor:
        """Which features each row's subset holds, of shape (n_rows, n_features)."""
        levels = [level(self.n_features, size) for size in range(self.low, self.high + 1)]
        held = [contains(subsets, self.n_features) for subsets in levels]
        return torch.from_numpy(np.concatenate(held).astype(np.float32))

    def sum(self, values: Tensor) -> Tensor:
        """The sum of the values of each node's neighbours."""
        return _Linear.apply(values, self._sum, self._sum)

    def mean(self, values: Tensor) -> Tensor:
        """The mean of the values of each node's neighbours, 0 for a node without any."""
        return _mean(self.sum(values), self.degree)

    def mean_above(self, values: Tensor) -> Tensor:
        """The mean over the supersets one larger, 0 for the largest sets."""
        return _mean(_Linear.apply(values, self._sum_above, self._sum_below), self._n_above)

    def mean_below(self, values: Tensor) -> Tensor:
        """The mean over the subsets one smaller, 0 for the smallest sets."""
        return _mean(_Linear.apply(values, self._sum_below, self._sum_above), self._n_below)

    def _sum_above(self, values: Tensor) -> Tensor:
        total = torch.zeros_like(values)
        total[: self._shared] = self._above.sum(values)[self._extra :]
        return total

    def _sum_below(self, values: Tensor) -> Tensor:
        smaller = values.new_zeros(self._extra + self._shared, values.shape[1])
        smaller[self._extra :] = values[: self._shared]
        return self._below.sum(smaller)

    def _sum(self, values: Tensor) -> Tensor:
        above = self._above.sum(values)
        through = above.clone()
        through[self._extra :] += values[: self._shared]
        total = self._below.sum(through)
        total[: self._shared] += above[self._extra :]
        return total.addcmul_(values, self._returns.to(values.dtype)[:, None], value=-1)

    def to(self, device: torch.device | str) -> "Neighbours":
        """Move what is kept to a device; returns itself."""
        for name, kept in vars(self).items():
            if isinstance(kept, torch.Tensor | _Bags):
                setattr(self, name, kept.to(device))
        return self


class _Bags:
    """For every node a bag of rows; the sums of values over each bag."""

    def __init__(self, bags: Sequence[Integers]) -> None:
        lengths = [np.full(len(rows), rows.shape[1]) for rows in bags]
        ends = np.cumsum(np.concatenate([[0], *lengths]))
        rows = np.concatenate([np.empty(0), *[rows.ravel() for rows in bags]])
        width = np.int32 if ends[-1] < 2**31 else np.int64  # 32 bits halve what is read
        self._rows = torch.from_numpy(rows.astype(width))
        self._ends = torch.from_numpy(ends.astype(width))

    def sum(self, values: Tensor) -> Tensor:
        if not len(self._rows):
            return values.new_zeros(len(self._ends) - 1, values.shape[1])
        return embedding_bag(self._rows, values, self._ends, mode="sum", include_last_offset=True)

    def to(self, device: torch.device | str) -> "_Bags":
        self._rows, self._ends = self._rows.to(device), self._ends.to(device)
        return self


class _Linear(torch.autograd.Function):
    """A linear map of values of shape (n_rows, width), whose gradient is its transpose."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, linear: Any, transposed: Any) -> Tensor:
        ctx.maps = transposed, linear
        return linear(values.reshape(len(values), -1).contiguous()).reshape(values.shape)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return _Linear.apply(gradient, *ctx.maps), None, None


def _mean(sums: Tensor, counts: Tensor) -> Tensor:
    """Sums over so many; 0 where there are none."""
    share = 1 / counts.clamp(min=1).to(sums.dtype)
    return sums * share.reshape(-1, *[1] * (sums.ndim - 1))
