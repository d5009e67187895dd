"""The first weights of networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Draw:
    """Draws weights as linear layers usually start: uniform within 1 / sqrt(inputs)."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, fan_in: int, *shape: int) -> Tensor:
        """Weights of a shape, for so many inputs."""
        return torch.empty(shape).uniform_(-1, 1, generator=self._generator) / fan_in**0.5
