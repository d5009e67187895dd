"""The fully connected baseline of the paper's experiments, one network a subgroup.

score(S) = w act( W₂ act( W₁ bits(S) + b₁ ) + b₂ ) + b,    act(x) = max(0, x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from misfeat.completion.networks.training import Draw
from misfeat.lattice import contains, level

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor


class MLPNetwork(nn.Module):
    """One model a subgroup, each with weights of its own.

    Rows of the input are all sets of `low` to `high` features, small ones first, by rank. Both
    hidden layers are `hidden` wide.
    """

    inputs: Tensor

    def __init__(
        self, n_models: int, n_features: int, low: int, high: int, hidden: int, seed: int
    ) -> None:
        super().__init__()
        self.own = range(n_models)
        held = [contains(level(n_features, size), n_features) for size in range(low, high + 1)]
        self._starts = dict(enumerate(np.cumsum([0, *map(len, held)]).tolist(), start=low))
        bits = torch.from_numpy(np.concatenate(held)).float()
        self.register_buffer("inputs", bits, persistent=False)
        draw = Draw(seed)
        self.first = nn.Parameter(draw(n_features, n_models, n_features, hidden))
        self.first_bias = nn.Parameter(draw(n_features, n_models, 1, hidden))
        self.second = nn.Parameter(draw(hidden, n_models, hidden, hidden))
        self.second_bias = nn.Parameter(draw(hidden, n_models, 1, hidden))
        self.head = nn.Parameter(draw(hidden, n_models, hidden, 1))
        self.head_bias = nn.Parameter(draw(hidden, n_models, 1, 1))

    def forward(self, rows: Tensor) -> Tensor:
        """Predicted scores of the sets in these rows, both of shape (n_models, n_rows)."""
        state = torch.relu_(torch.baddbmm(self.first_bias, self.inputs[rows], self.first))
        state = torch.relu_(torch.baddbmm(self.second_bias, state, self.second))
        return torch.baddbmm(self.head_bias, state, self.head).squeeze(2)

    @torch.no_grad()
    def predict(self, size: int) -> NDArray[np.float64]:
        """Scores of all sets of one size, of shape (n_models, n_subsets)."""
        device = self.inputs.device
        rows = torch.arange(self._starts[size], self._starts[size + 1], device=device)
        return self(rows.expand(len(self.own), -1)).double().cpu().numpy()
