from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.lattice_graph import edges_beside, edges_between
from misfeat.lattice.levels import level
from misfeat.lattice.neighbour_sums import Neighbours

EVERY_GRAPH = [
    (n, low, high) for n in range(1, 8) for low in range(1, n + 1) for high in range(low, n + 1)
]


@cache
def explicit_edges(n: int, low: int, high: int) -> dict[frozenset[int], list[frozenset[int]]]:
    """The definition of the paper, pair by pair."""
    nodes = [frozenset(s) for m in range(low, high + 1) for s in level(n, m).tolist()]

    def joined(a: frozenset[int], b: frozenset[int]) -> bool:
        if len(a) == len(b):
            return len(a & b) == len(a) - 1 > 0
        return abs(len(a) - len(b)) == 1 and (a < b or b < a)

    return {a: [b for b in nodes if joined(a, b)] for a in nodes}


def row_of(graph):
    return {
        frozenset(subset): int(row)
        for size in range(graph.low, graph.high + 1)
        for subset, row in zip(
            level(graph.n_features, size).tolist(), graph.rows(size), strict=True
        )
    }


def test_every_small_graph_equals_its_list_of_edges():
    for n, low, high in EVERY_GRAPH:
        edges = explicit_edges(n, low, high)
        graph = Neighbours(n, low, high)
        rows = row_of(graph)
        nodes = [rows[node] for node in edges]
        values = torch.randn(graph.n_rows, 3, dtype=torch.float64)
        adjacent, bits = torch.zeros(2, graph.n_rows, max(graph.n_rows, n)).double()
        for node, others in edges.items():
            adjacent[rows[node], [rows[other] for other in others]] = 1.0
            bits[rows[node], list(node)] = 1.0
        adjacent, degree = adjacent[nodes, : graph.n_rows], adjacent[nodes].sum(dim=1)
        total, mean = adjacent @ values, adjacent @ values / degree.clamp(min=1)[:, None]
        torch.testing.assert_close(graph.sum(values)[nodes], total)
        torch.testing.assert_close(graph.mean(values)[nodes], mean)
        assert torch.equal(graph.degree[nodes].double(), degree)
        assert torch.equal(graph.bits().double(), bits[:, :n])


def test_edges_are_those_of_the_definition_each_once():
    for shape in EVERY_GRAPH:
        edges = explicit_edges(*shape)
        nodes = list(edges)
        listed = (*edges_between(*shape).T, *edges_beside(*shape).T)
        pairs = [frozenset({nodes[a], nodes[b]}) for a, b in listed]
        assert set(pairs) == {frozenset({a, b}) for a, others in edges.items() for b in others}
        assert len(pairs) == len(set(pairs))


@given(st.sampled_from(EVERY_GRAPH), st.integers(0, 2**32 - 1))
def test_the_sum_is_linear_symmetric_and_its_own_gradient(shape, seed):
    generator = torch.Generator().manual_seed(seed)
    graph = Neighbours(*shape)
    a, b = torch.randn(2, graph.n_rows, 2, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(graph.sum(a + 2 * b), graph.sum(a) + 2 * graph.sum(b))
    torch.testing.assert_close((graph.sum(a) * b).sum(), (a * graph.sum(b)).sum())
    a.requires_grad_()
    (graph.mean(a) * b).sum().backward()
    share = 1 / graph.degree.clamp(min=1)[:, None]
    torch.testing.assert_close(a.grad, graph.sum(b * share))


def test_gradients_hold_to_numerical_ones_and_twice():
    graph = Neighbours(4, 1, 3)
    values = torch.randn(graph.n_rows, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(graph.mean, values)
    assert torch.autograd.gradgradcheck(graph.mean, values)


def test_further_axes_are_carried_along_and_float32_is_near_float64():
    graph = Neighbours(9, 1, 4)
    values = torch.randn(graph.n_rows, 2, 3, 5, dtype=torch.float64)
    total = graph.sum(values)
    assert total.shape == values.shape
    torch.testing.assert_close(total[:, 1, 2], graph.sum(values[:, 1, 2]))
    torch.testing.assert_close(graph.sum(values.float()).double(), total, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("n", "low", "high"), EVERY_GRAPH[::6])
def test_means_above_and_below_are_those_of_larger_and_smaller_neighbours(n, low, high):
    edges, graph = explicit_edges(n, low, high), Neighbours(n, low, high)
    rows = row_of(graph)
    values = torch.randn(graph.n_rows, 2, dtype=torch.float64, requires_grad=True)
    above, below = graph.mean_above(values), graph.mean_below(values)
    for node, others in edges.items():
        for mean, chosen in (
            (above, [rows[o] for o in others if len(o) > len(node)]),
            (below, [rows[o] for o in others if len(o) < len(node)]),
        ):
            expected = values[chosen].mean(dim=0) if chosen else torch.zeros(2).double()
            torch.testing.assert_close(mean[rows[node]], expected)
    assert torch.autograd.gradcheck(graph.mean_above, values)
    assert torch.autograd.gradcheck(graph.mean_below, values)
