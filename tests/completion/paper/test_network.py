import numpy as np
import pytest
import torch

from misfeat.completion.paper.network import PaperNetwork
from misfeat.lattice import to_pyg
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
    from tests.completion.paper.pyg_twin import gradient_pairs, twin_of

    n_features, low, high = shape
    names = [f"g{i}" for i in range(n_lattices)]
    data = to_pyg(n_features, names, low, high)
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
