"""The multiplex lattice graph with its edges written out, for graph libraries.

misfeat itself never stores an edge; these are for people who want to try another model on the
graph, or to draw it.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, check_count
from misfeat.lattice.levels import (
    contains,
    count_edges_beside,
    count_edges_between,
    level,
    ranks_above,
    ranks_below,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import networkx as nx
    from numpy.typing import NDArray
    from torch_geometric.data import HeteroData

    Edges = NDArray[np.int64]

MOST_EDGES = {"networkx": 1_000_000, "torch_geometric": 500_000_000}
"""More edges than this are refused: they would not fit a memory, or take hours."""


def edges_between(n_features: int, low: int, high: int) -> Edges:
    """Inter-level edges, a column each: a subset and one of its supersets one larger.

    Nodes are numbered level after level from size low to size high, each in the order of ranks.

    Examples
    --------
    >>> edges_between(2, 1, 2).tolist()
    [[1, 0], [2, 2]]
    """
    found = [np.empty((2, 0), dtype=np.int64)]
    start = 0
    for size in range(low + 1, high + 1):
        below = ranks_below(level(n_features, size))
        smaller = comb(n_features, size - 1)
        larger = np.repeat(np.arange(len(below)), size)
        found.append(np.stack([start + below.ravel(), start + smaller + larger]))
        start += smaller
    return np.concatenate(found, axis=1)


def edges_beside(n_features: int, low: int, high: int) -> Edges:
    """Intra-level edges, a column each: two subsets of a size >= 2 that differ in one feature.

    Examples
    --------
    >>> edges_beside(3, 2, 2).tolist()
    [[0, 0, 1], [1, 2, 2]]
    """
    found = [np.empty((2, 0), dtype=np.int64)]
    start = 0
    for size in range(low, high + 1):
        if size >= 2:
            # The supersets of one smaller subset are all neighbours of each other.
            families = ranks_above(level(n_features, size - 1), n_features)
            first, second = np.triu_indices(families.shape[1], k=1)
            pairs = np.stack([families[:, first].ravel(), families[:, second].ravel()])
            pairs = np.sort(pairs, axis=0)
            found.append(start + pairs[:, np.lexsort(pairs[::-1])])
        start += comb(n_features, size)
    return np.concatenate(found, axis=1)


def to_pyg(
    n_features: int,
    cohorts: Sequence[str],
    low: int = 1,
    high: int | None = None,
    *,
    scores: Mapping[int, NDArray[np.float64]] | None = None,
) -> HeteroData:
    """The multiplex lattice graph as a `HeteroData` of PyTorch Geometric.

    Parameters
    ----------
    n_features : int
        How many features subsets are made of.
    cohorts : sequence of str
        The names of subgroups, one lattice each; the name is the node type.
    low, high : int
        Sizes of the subsets that are nodes; all where not given.
    scores : mapping of int to ndarray of shape (n_cohorts, n_subsets), default=None
        Scores by size and rank, NaN where unknown; sizes may be left out.

    Returns
    -------
    torch_geometric.data.HeteroData
        Nodes have ``x`` (which features the subset holds, as the paper's model sees it), ``y`` (the
        score, NaN where unknown) and ``size``. Edge types are ``(a, "in_lattice", a)``, inter-level
        and intra-level edges in both directions, and ``(a, "across", b)`` for every ordered pair of
        subgroups.

    Examples
    --------
    >>> graph = to_pyg(4, ["north", "south"], 1, 3)
    >>> graph["north"].num_nodes
    14
    >>> graph["north", "in_lattice", "north"].num_edges
    84
    """
    try:
        import torch
        from torch_geometric.data import HeteroData
    except ImportError as error:
        raise MisfeatError("to_pyg needs PyTorch Geometric: pip install 'misfeat[pyg]'.") from error
    cohorts = _names(cohorts, "cohorts")
    high = _checked_high(n_features, len(cohorts), low, high, "torch_geometric")
    by_size = _labels_by_size(n_features, len(cohorts), scores or {})
    subsets = [level(n_features, size) for size in range(low, high + 1)]
    held = torch.from_numpy(np.concatenate([contains(s, n_features) for s in subsets])).float()
    sizes = torch.from_numpy(np.concatenate([np.full(len(s), s.shape[1]) for s in subsets]))
    one_way = np.concatenate(
        [edges_between(n_features, low, high), edges_beside(n_features, low, high)], axis=1
    )
    both_ways = torch.from_numpy(np.concatenate([one_way, one_way[::-1]], axis=1))
    same = torch.arange(len(held)).repeat(2, 1)
    graph = HeteroData()
    for place, name in enumerate(cohorts):
        graph[name].x = held.clone()
        graph[name].size = sizes
        graph[name].y = torch.from_numpy(_labels(subsets, by_size, place)).float()
        graph[name, "in_lattice", name].edge_index = both_ways
    for source in cohorts:
        for target in cohorts:
            if source != target:
                graph[source, "across", target].edge_index = same
    return graph


def to_networkx(
    features: int | Sequence[str],
    cohorts: Sequence[str] | None = None,
    low: int = 1,
    high: int | None = None,
) -> nx.Graph:
    """A small lattice graph, or a multiplex of them, as a graph of networkx.

    Parameters
    ----------
    features : int or sequence of str
        How many features there are, or their names.
    cohorts : sequence of str, default=None
        The names of subgroups, one lattice each; None gives a single lattice.
    low, high : int
        Sizes of the subsets that are nodes; all where not given.

    Returns
    -------
    networkx.Graph
        A node is the tuple of its features, or ``(subgroup, tuple)``. An edge has a ``kind``:
        ``"between"`` levels, ``"beside"`` within one, ``"across"`` lattices.

    Examples
    --------
    >>> graph = to_networkx(["age", "bmi", "sex"])
    >>> sorted(graph["age", "bmi"])
    [('age',), ('age', 'bmi', 'sex'), ('age', 'sex'), ('bmi',), ('bmi', 'sex')]
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise MisfeatError(
            "to_networkx needs networkx: pip install 'misfeat[networkx]'."
        ) from error
    names: list[Any] = (
        list(range(int(features)))
        if isinstance(features, Integral)
        else _names(features, "features")
    )
    lattices = [None] if cohorts is None else _names(cohorts, "cohorts")
    high = _checked_high(len(names), len(lattices), low, high, "networkx")
    sets = [
        tuple(names[f] for f in subset)
        for size in range(low, high + 1)
        for subset in level(len(names), size)
    ]
    graph = nx.Graph()
    for cohort in lattices:
        nodes: list[Any] = sets if cohort is None else [(cohort, s) for s in sets]
        graph.add_nodes_from(nodes)
        for kind, edges in (("between", edges_between), ("beside", edges_beside)):
            pairs = edges(len(names), low, high).T
            graph.add_edges_from(((nodes[a], nodes[b]) for a, b in pairs), kind=kind)
    for one, other in combinations(lattices, 2):
        graph.add_edges_from((((one, s), (other, s)) for s in sets), kind="across")
    return graph


def _names(given: Any, what: str) -> list[str]:
    """Names as a list: each once, and not the letters of one name."""
    names = [] if isinstance(given, str | Integral) else [str(name) for name in given]
    if not names or len(set(names)) != len(names):
        raise MisfeatError(
            f"{what}={given!r}; give a list of names, at least one and each only once."
        )
    return names


def _labels_by_size(
    n_features: int, n_cohorts: int, scores: Mapping[int, Any]
) -> dict[int, NDArray[np.float64]]:
    labels = {size: np.asarray(given, dtype=np.float64) for size, given in scores.items()}
    for size, given in labels.items():
        wanted = (n_cohorts, comb(n_features, size))
        if given.shape != wanted:
            raise MisfeatError(
                f"scores[{size}] must have the shape (subgroups, sets of that size), {wanted}; it "
                f"has {given.shape}."
            )
    return labels


def _labels(
    subsets: Sequence[NDArray[np.int32]], by_size: Mapping[int, NDArray[np.float64]], place: int
) -> NDArray[np.float64]:
    """The scores of one subgroup, level after level, NaN where none were given."""
    parts = []
    for of_level in subsets:
        given = by_size.get(of_level.shape[1])
        parts.append(np.full(len(of_level), np.nan) if given is None else given[place])
    return np.concatenate(parts)


def _checked_high(
    n_features: int, n_lattices: int, low: int, high: int | None, library: str
) -> int:
    check_count(n_features, "n_features")
    high = n_features if high is None else high
    check_count(low, "low")
    check_count(high, "high")
    if not low <= high <= n_features:
        raise MisfeatError(
            f"low={low}, high={high}; they must be sizes of sets of {n_features} features, "
            f"1 <= low <= high <= {n_features}."
        )
    edges = count_edges_between(n_features, low, high) + count_edges_beside(n_features, low, high)
    if edges * n_lattices > MOST_EDGES[library]:
        raise MisfeatError(
            f"The graph has {edges * n_lattices:,} edges within lattices, too many to write out "
            f"for {library} (at most {MOST_EDGES[library]:,}); lower high or use fewer features."
        )
    return high
