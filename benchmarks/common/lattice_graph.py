"""The paper's graph for PyTorch Geometric, which our network never writes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from misfeat.lattice.levels import contains, count_nodes, level, ranks_above, ranks_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch_geometric.data import HeteroData

    Ranks = NDArray[np.int64]


def edges_between(n_features: int, low: int, high: int) -> Ranks:
    """Inter-level edges, a column each: a subset and a superset; nodes level after level."""
    edges = [np.empty((2, 0), dtype=np.int64)]
    for size in range(low + 1, high + 1):
        start, end = (count_nodes(n_features, low, m) for m in (size - 2, size - 1))
        below = ranks_below(level(n_features, size))
        larger = np.repeat(np.arange(len(below)), size)
        edges.append(np.stack([start + below.ravel(), end + larger]))
    return np.concatenate(edges, axis=1)


def edges_beside(n_features: int, low: int, high: int) -> Ranks:
    """Intra-level edges, a column each: two subsets of a size >= 2 that differ in one feature."""
    edges = [np.empty((2, 0), dtype=np.int64)]
    for size in range(max(low, 2), high + 1):
        # The supersets of one smaller subset are all neighbours of each other.
        families = ranks_above(level(n_features, size - 1), n_features)
        first, second = np.triu_indices(families.shape[1], k=1)
        pairs = np.stack([families[:, first].ravel(), families[:, second].ravel()])
        pairs = np.sort(pairs, axis=0)
        edges.append(count_nodes(n_features, low, size - 1) + pairs[:, np.lexsort(pairs[::-1])])
    return np.concatenate(edges, axis=1)


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
