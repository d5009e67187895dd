"""The paper's graph for PyTorch Geometric, which our network never writes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from misfeat.lattice import contains, edges_beside, edges_between, level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch_geometric.data import HeteroData


def lattice_graph(n_features: int, cohorts: Sequence[str], low: int, high: int) -> HeteroData:
    """The multiplex lattice graph of the paper, every edge of it, for PyTorch Geometric."""
    from torch_geometric.data import HeteroData

    held = [contains(level(n_features, size), n_features) for size in range(low, high + 1)]
    x = torch.from_numpy(np.concatenate(held)).float()
    edges = [edges(n_features, low, high) for edges in (edges_between, edges_beside)]
    one_way = np.concatenate(edges, axis=1)
    both_ways = torch.from_numpy(np.concatenate([one_way, one_way[::-1]], axis=1))
    graph = HeteroData()
    for name in cohorts:
        graph[name].x = x.clone()
        graph[name, "in_lattice", name].edge_index = both_ways
    for source in cohorts:
        for target in cohorts:
            if source != target:
                graph[source, "across", target].edge_index = torch.arange(len(x)).repeat(2, 1)
    return graph
