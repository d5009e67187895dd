from __future__ import annotations

import builtins

import networkx as nx
import numpy as np
import pytest
import torch

from misfeat import MisfeatError
from misfeat.lattice import (
    count_edges_beside,
    count_edges_between,
    edges_beside,
    edges_between,
    to_networkx,
    to_pyg,
)
from tests.lattice.test_neighbours import EVERY_GRAPH, explicit_edges


@pytest.mark.parametrize(("n", "low", "high"), EVERY_GRAPH)
def test_edges_are_those_of_the_definition_each_once(n, low, high):
    edges = explicit_edges(n, low, high)
    nodes = list(edges)
    found = np.concatenate([edges_between(n, low, high), edges_beside(n, low, high)], axis=1).T
    pairs = {frozenset({nodes[a], nodes[b]}) for a, b in found}
    assert pairs == {frozenset({a, b}) for a, others in edges.items() for b in others}
    assert len(found) == len(pairs)
    assert edges_between(n, low, high).shape[1] == count_edges_between(n, low, high)
    assert edges_beside(n, low, high).shape[1] == count_edges_beside(n, low, high)


def test_heterodata_has_a_lattice_a_cohort_and_an_edge_type_a_pair():
    graph = to_pyg(4, ["a", "b", "c"], 1, 3)
    assert graph.node_types == ["a", "b", "c"]
    assert len(graph.edge_types) == 3 + 3 * 2
    assert graph.validate()
    lattice = graph["b", "in_lattice", "b"].edge_index
    both = {tuple(edge) for edge in lattice.T.tolist()}
    assert both == {(b, a) for a, b in both}
    across = graph["a", "across", "c"].edge_index
    assert torch.equal(across[0], across[1])
    assert across.shape[1] == graph["a"].num_nodes == 14
    assert graph["a"].x.sum(dim=1).long().tolist() == graph["a"].size.tolist()


def test_scores_become_labels_and_unknown_ones_nan():
    graph = to_pyg(3, ["a", "b"], 1, 2, scores={1: np.array([[0.1, 0.2, np.nan], [1, 2, 3]])})
    assert graph["a"].y[:2].tolist() == pytest.approx([0.1, 0.2])
    assert graph["a"].y[2:].isnan().all()
    assert graph["b"].y[:3].tolist() == [1, 2, 3]
    with pytest.raises(
        MisfeatError, match=r"scores\[2\] must have the shape .*\(1, 3\); it has \(1, 4\)"
    ):
        to_pyg(3, ["a"], scores={2: np.zeros((1, 4))})


def test_networkx_names_nodes_by_features_and_edges_by_kind():
    graph = to_networkx(["age", "bmi", "sex"], ["north", "south"])
    assert graph.number_of_nodes() == 2 * 7
    kinds = nx.get_edge_attributes(graph, "kind")
    assert sorted(set(kinds.values())) == ["across", "beside", "between"]
    assert graph.edges[("north", ("age",)), ("south", ("age",))]["kind"] == "across"
    assert graph.edges[("north", ("age",)), ("north", ("age", "sex"))]["kind"] == "between"
    assert graph.edges[("south", ("age", "bmi")), ("south", ("age", "sex"))]["kind"] == "beside"
    assert not graph.has_edge(("north", ("age",)), ("north", ("bmi",)))
    assert set(to_networkx(3, low=2)) == {(0, 1), (0, 2), (1, 2), (0, 1, 2)}


@pytest.mark.parametrize("export", [to_pyg, lambda n, c, *sizes: to_networkx(n, c, *sizes)])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, ["a"], 0, 3), "low=0; it must be an integer"),
        ((4, "ab", 1, 3), "give a list of names"),
        ((4, [], 1, 3), "give a list of names"),
        ((4, ["a"], 3, 2), "low=3, high=2"),
        ((4, ["a"], 1, 5), "sizes of sets of 4 features"),
        ((4, ["a", "a"], 1, 2), "each only once"),
        ((40, ["a"], 1, 20), "too many to write out"),
    ],
)
def test_what_cannot_be_exported_is_refused(export, arguments, message):
    with pytest.raises(MisfeatError, match=message):
        export(*arguments)


def test_names_may_come_as_arrays_and_features_must_differ():
    assert to_pyg(np.int64(3), np.array(["a", "b"])).node_types == ["a", "b"]
    assert len(to_networkx(np.int64(3), np.array(["a", "b"]))) == 14
    with pytest.raises(MisfeatError, match="each only once"):
        to_networkx(["x", "x", "y"])


def test_without_pytorch_geometric_the_remedy_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("torch_geometric"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MisfeatError, match=r"pip install 'misfeat\[pyg\]'"):
        to_pyg(3, ["a"])
