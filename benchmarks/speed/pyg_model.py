"""The paper's model as PyTorch Geometric users would write it: the peer of graph_training.py."""

from __future__ import annotations

import torch
from torch.nn.functional import dropout, leaky_relu
from torch_geometric.nn import SAGEConv, to_hetero


class SageModel(torch.nn.Module):
    """GraphSAGE layers and a linear head, for one kind of node; `to_hetero` makes the rest."""

    def __init__(self, n_features: int, hidden: int, layers: int, p_dropout: float) -> None:
        super().__init__()
        widths = [n_features, *[hidden] * layers]
        self.convs = torch.nn.ModuleList(
            SAGEConv(before, after) for before, after in zip(widths, widths[1:], strict=False)
        )
        self.head = torch.nn.Linear(hidden, 1)
        self.p_dropout = p_dropout

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = dropout(leaky_relu(conv(x, edge_index)), self.p_dropout, self.training)
        return self.head(x).squeeze(-1)


def hetero_model(graph, hidden: int = 128, layers: int = 2, p_dropout: float = 0.1):
    n_features = next(iter(graph.x_dict.values())).shape[1]
    return to_hetero(SageModel(n_features, hidden, layers, p_dropout), graph.metadata())
