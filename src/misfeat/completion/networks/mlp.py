"""The network of the completer `mlp`, which the paper compares its own with."""

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from misfeat.completion.networks.per_subgroup_training import drawn_weights
from misfeat.lattice.levels import contains, level
from misfeat.runtime.array_types import Floats


class MLPNetwork(nn.Module):
    """One model a subgroup, over all sets of `low` to `high` features, small ones first."""

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
        draw = partial(drawn_weights, torch.Generator().manual_seed(seed))
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
    def predict(self, size: int) -> Floats:
        """Scores of all sets of one size, of shape (n_models, n_subsets)."""
        device = self.inputs.device
        rows = torch.arange(self._starts[size], self._starts[size + 1], device=device)
        return self(rows.expand(len(self.own), -1)).double().cpu().numpy()
