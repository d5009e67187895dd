"""Dropout that does not take longer than the layers around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import dropout

if TYPE_CHECKING:
    from torch import Tensor

STEPS = 2**16
"""A share is rounded to one in so many."""
DRAWS_A_WORD = 4
"""A random word of 64 bits decides on so many values."""


class Dropout(nn.Module):
    """Set a share of the values to 0 while training, and scale up the others.

    On a CPU PyTorch draws one number a value, one after the other, which would take more than half
    of a training step; NumPy's bits are twenty times faster.

    The seed is that of draws on a CPU; on other devices PyTorch's own counts.

    Examples
    --------
    >>> kept = Dropout(0.25, seed=0)(torch.ones(100_000))
    >>> round(float(kept.mean()), 1), round(float((kept == 0).float().mean()), 2)
    (1.0, 0.25)
    """

    def __init__(self, share: float, seed: int) -> None:
        super().__init__()
        self.share = share
        self._bits = np.random.SFC64(seed)

    def forward(self, values: Tensor) -> Tensor:
        """The values that are left."""
        if not self.training or self.share == 0:
            return values
        if values.device.type != "cpu":
            return dropout(values, self.share)
        words = self._bits.random_raw(-(-values.numel() // DRAWS_A_WORD))
        draws = words.view(np.uint16)[: values.numel()].reshape(tuple(values.shape))
        kept = torch.from_numpy(draws >= round(self.share * STEPS))
        return values * kept.to(values.dtype).mul_(1 / (1 - self.share))
