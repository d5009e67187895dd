from __future__ import annotations

import numpy as np
import pytest
import torch

from misfeat import MisfeatError
from misfeat.completion import ExactScores, Known, PaperCompleter
from misfeat.completion.networks.paper import BYTES_SIDE_BY_SIDE, Dropout, ModelShape, PaperNetwork
from misfeat.lattice.neighbour_sums import Neighbours
from tests.completion.coded import known_scores


def quick(**settings):
    return PaperCompleter(
        **{"epochs": 60, "hidden": 16, "device": "cpu", "random_state": 5, **settings}
    )


def test_unbounded_predictions_are_those_of_the_network():
    exact = known_scores()
    completer = quick(bounded=False, epochs=2)
    completed = completer.complete(Known(exact), 3)
    predicted = completer.models_[3].predict(3, "cpu")
    unknown = completed.predicted
    assert np.array_equal(completed.score[unknown], predicted[unknown])
    assert (completed.score[unknown] < completed.low[unknown]).any()


def test_it_learns_what_the_bits_tell():
    exact = known_scores(n_features=9, n_cohorts=2)
    completer = quick(epochs=300, hidden=32)
    completer.complete(Known(exact), 3)
    known = ~np.isnan(exact.by_size[3])
    errors = (completer.models_[3].predict(3) - exact.by_size[3])[known]
    assert np.sqrt(np.mean(errors**2)) < 0.2 * exact.by_size[3][known].std()


def test_a_seed_repeats_everything_and_leaves_the_global_generator_alone():
    exact = known_scores()
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = quick().complete(Known(exact), 3).score
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(first, quick().complete(Known(exact), 3).score)
    assert not np.array_equal(first, quick(random_state=6).complete(Known(exact), 3).score)


def test_the_levels_are_the_size_plus_and_minus_the_layers():
    assert PaperCompleter().reach(3, 15) == 5
    assert PaperCompleter(layers=3).reach(3, 15) == 6
    assert PaperCompleter().reach(3, 4) == 4
    completer = quick(layers=1, epochs=1)
    completer.complete(Known(known_scores()), 3)
    shape = completer.models_[3].shape
    assert (shape.low, shape.high) == (2, 4)


def without_scores(cohort):
    """Known scores, none of them of one cohort."""
    exact = known_scores(n_features=4, n_cohorts=3, reach=4)
    mask = np.zeros_like(exact.missing)
    mask[cohort] = True
    return Known(exact.hidden(mask))


def test_a_cohort_without_a_known_score_gets_the_mean_of_the_others():
    completer = quick(bounded=False)
    completed = completer.complete(without_scores(0), 2)
    expected = completer.models_[2].predict(2)[1:].mean(axis=0)
    assert completed.score[0] == pytest.approx(expected)


def test_nothing_missing_trains_nothing():
    exact = known_scores()
    full = ExactScores(
        tuple(np.nan_to_num(scores, nan=0.5) for scores in exact.by_size),
        np.zeros_like(exact.missing),
        exact.ceiling,
    )
    completer = quick()
    assert np.array_equal(completer.complete(Known(full), 3).score, full.by_size[3])
    assert not hasattr(completer, "models_")


def test_training_that_diverges_is_an_error():
    with pytest.raises(MisfeatError, match="diverged with learning_rate=1e\\+30"):
        quick(learning_rate=1e30).complete(Known(known_scores()), 3)


def test_a_block_without_a_known_score_is_not_trained(monkeypatch):
    monkeypatch.setitem(BYTES_SIDE_BY_SIDE, "cpu", 1)
    completer = quick()
    completed = completer.complete(without_scores(2), 2)
    assert not np.isnan(completed.score).any()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(MisfeatError, match="no such device here; use 'auto' or 'cpu'"):
        quick(device="cuda").complete(Known(known_scores()), 3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_learns_the_same():
    exact = known_scores()
    on_cuda, on_cpu = quick(device="cuda", epochs=300), quick(epochs=300)
    first = on_cuda.complete(Known(exact), 3).score
    again = quick(device="cuda", epochs=300).complete(Known(exact), 3).score
    assert np.array_equal(first, again)
    assert np.abs(first - on_cpu.complete(Known(exact), 3).score).max() < 0.05
    models = on_cuda.models_[3]
    assert models.predict(3, "cuda") == pytest.approx(models.predict(3, "cpu"), abs=1e-5)


GRAPHS = {"sizes 1-3": (6, 1, 3), "sizes 2-4": (6, 2, 4), "one size": (5, 3, 3), "whole": (5, 1, 5)}


def some_rows(graph, n_models, share, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([graph.rows(size) for size in range(graph.low, graph.high + 1)])
    many = max(1, int(share * len(rows)))
    return torch.from_numpy(np.stack([rng.permutation(rows)[:many] for _ in range(n_models)]))


@pytest.mark.parametrize(("n_lattices", "layers"), [(1, 2), (2, 3), (4, 1), (4, 2)])
@pytest.mark.parametrize("sizes", GRAPHS.values(), ids=GRAPHS.keys())
def test_outputs_and_gradients_are_those_of_pytorch_geometric(sizes, n_lattices, layers):
    # PyTorch Geometric takes seconds to import, so that only who runs this pays for it.
    from benchmarks.common.lattice_graph import lattice_graph
    from tests.completion.pyg_twin import gradient_pairs, twin_of

    n_features, low, high = sizes
    names = [f"g{i}" for i in range(n_lattices)]
    data = lattice_graph(n_features, names, low, high)
    graph = Neighbours(n_features, low, high)
    torch.manual_seed(3)
    shape = ModelShape(n_features, low, high, n_lattices, layers, 9, 0.1)
    network = PaperNetwork(shape, graph, range(n_lattices)).double()
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


def test_the_share_is_dropped_and_the_mean_kept():
    for share in (0.1, 0.5, 0.9):
        kept = Dropout(share, seed=1)(torch.full((1000, 301), 2.0))
        assert (kept == 0).float().mean().item() == pytest.approx(share, abs=0.005)
        assert kept.mean().item() == pytest.approx(2.0, rel=0.02)
        assert torch.equal(kept[kept != 0].unique(), torch.tensor([2 / (1 - share)]))
