"""The multiplex network: messages along the lattice and across cohorts, one set of weights.

Every set in every cohort has a state. In each layer it reads the mean states of the sets one larger
and one smaller, of all its neighbours in the lattice, and of the same set in the other cohorts. All
cohorts share all weights, so that a new cohort needs no new ones. The last state chooses a mixture
of the given guesses and a factor for it: an untrained network says nearly the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from misfeat.completion.multiplex.inputs import N_FACTS

if TYPE_CHECKING:
    from torch import Tensor

    from misfeat.completion.multiplex.inputs import Inputs
    from misfeat.lattice.neighbours import Levels

FIRST_GUESS_AHEAD = 2.0
"""How far ahead the first guess is before training, on the logarithmic scale of the mixture."""
LARGEST_STRETCH = 0.3
"""A mixture of guesses is stretched or shrunk by at most exp(0.3)."""


class MultiplexNetwork(nn.Module):
    """Predicts how much each set gains over its recorded part, in units of the mean score."""

    bits: Tensor

    def __init__(
        self, graph: Levels, n_guesses: int, layers: int, hidden: int, dropout: float
    ) -> None:
        super().__init__()
        self.graph = graph
        self.register_buffer("bits", graph.bits().to(graph.degree.device), persistent=False)
        self.facts = nn.Linear(N_FACTS + n_guesses, hidden)
        self.features = nn.Linear(graph.n_features, hidden, bias=False)
        self.unrecorded = nn.Linear(graph.n_features, hidden, bias=False)
        self.layers = nn.ModuleList(nn.Linear(5 * hidden, hidden) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden, n_guesses + 1)
        for untrained in (self.features, self.unrecorded, self.head):
            nn.init.zeros_(untrained.weight)
        nn.init.zeros_(self.head.bias)
        nn.init.constant_(self.head.bias[:1], FIRST_GUESS_AHEAD)

    def forward(self, inputs: Inputs) -> Tensor:
        """Gains of shape (n_sets, n_cohorts)."""
        unrecorded = self.bits[:, None] * inputs.missing[None]
        state = torch.relu(
            self.facts(inputs.facts)
            + self.features(self.bits)[:, None]
            + self.unrecorded(unrecorded)
        )
        for layer in self.layers:
            state = state + self.dropout(torch.relu(layer(self._messages(state))))
        out = self.head(state)
        mixture = (torch.softmax(out[..., :-1], dim=2) * inputs.gains).sum(dim=2)
        return mixture * torch.exp(LARGEST_STRETCH * torch.tanh(out[..., -1]))

    def _messages(self, state: Tensor) -> Tensor:
        n_others = max(state.shape[1] - 1, 1)
        elsewhere = (state.sum(dim=1, keepdim=True) - state) / n_others
        graph = self.graph
        around = [graph.mean_above(state), graph.mean_below(state), graph.mean(state)]
        return torch.cat([state, *around, elsewhere], dim=2)
