from __future__ import annotations

import numpy as np
import pytest
import torch

from misfeat.completion.paper.network import Dropout, PaperNetwork
from misfeat.lattice.neighbours import neighbours

GRAPHS = {"sizes 1-3": (6, 1, 3), "sizes 2-4": (6, 2, 4), "one size": (5, 3, 3), "whole": (5, 1, 5)}


def some_rows(graph, n_models, share, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([graph.rows(size) for size in range(graph.low, graph.high + 1)])
    many = max(1, int(share * len(rows)))
    return torch.from_numpy(np.stack([rng.permutation(rows)[:many] for _ in range(n_models)]))


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("n_lattices", [1, 2, 4])
@pytest.mark.parametrize("shape", GRAPHS.values(), ids=GRAPHS.keys())
def test_outputs_and_gradients_are_those_of_pytorch_geometric(shape, n_lattices, layers):
    # PyTorch Geometric takes seconds to import, so that only who runs this pays for it.
    from tests.completion.paper.pyg_twin import gradient_pairs, lattice_graph, twin_of

    n_features, low, high = shape
    names = [f"g{i}" for i in range(n_lattices)]
    data = lattice_graph(n_features, names, low, high)
    graph = neighbours(n_features, low, high)
    torch.manual_seed(3)
    network = PaperNetwork(graph, n_lattices, range(n_lattices), layers=layers, hidden=9).double()
    network.eval()
    rows = some_rows(graph, n_lattices, 0.7)
    # The exported graph numbers nodes level by level.
    level_order = np.concatenate([graph.rows(size) for size in range(low, high + 1)])
    node = torch.full((graph.n_rows,), -1)
    node[torch.from_numpy(level_order)] = torch.arange(len(level_order))
    targets = torch.rand(rows.shape, dtype=torch.float64)
    ours = network(rows)
    ((ours - targets) ** 2).sum().backward()
    for model in range(n_lattices):
        twin = twin_of(network, model, data)
        x_dict = {name: x.double() for name, x in data.x_dict.items()}
        out = twin(x_dict, data.edge_index_dict)[names[model]][node[rows[model]]]
        torch.testing.assert_close(out, ours[model], rtol=0, atol=1e-6)
        ((out - targets[model]) ** 2).sum().backward()
        for theirs, mine in gradient_pairs(network, model, twin, names):
            torch.testing.assert_close(theirs, mine, rtol=0, atol=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_is_dropped_and_the_mean_kept(share):
    values = torch.full((1000, 301), 2.0)
    kept = Dropout(share, seed=1)(values)
    assert (kept == 0).float().mean().item() == pytest.approx(share, abs=0.005)
    assert kept.mean().item() == pytest.approx(2.0, rel=0.02)
    assert torch.equal(kept[kept != 0].unique(), torch.tensor([2 / (1 - share)]))


def test_the_gradient_is_dropped_where_the_value_was():
    values = torch.ones(1000, requires_grad=True)
    kept = Dropout(0.3, seed=1)(values)
    kept.sum().backward()
    assert torch.equal(values.grad, kept.detach())


def test_a_seed_repeats_it_and_every_call_differs():
    values = torch.ones(500)
    first = Dropout(0.5, seed=1)
    second = Dropout(0.5, seed=1)
    a, b = first(values), first(values)
    assert torch.equal(a, second(values))
    assert not torch.equal(a, b)


def test_nothing_is_dropped_outside_training_or_at_share_zero():
    values = torch.rand(50)
    assert torch.equal(Dropout(0.5, seed=1).eval()(values), values)
    assert torch.equal(Dropout(0.0, seed=1)(values), values)
