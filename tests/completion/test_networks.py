"""The networks of the paper and a perceptron, which share how they are trained."""

import sys

import numpy as np
import pytest
import torch

from misfeat import MisfeatError
from misfeat.completion import ExactScores, Known, MLPCompleter, PaperCompleter
from misfeat.completion.networks.paper import (
    BYTES_SIDE_BY_SIDE,
    Dropout,
    MLPNetwork,
    ModelShape,
    PaperNetwork,
)
from misfeat.completion.networks.per_subgroup_training import Labels, train
from misfeat.completion.neural_completers import NeuralCompleter
from misfeat.completion.registry import COMPLETERS, completer_class
from misfeat.lattice.levels import contains, level
from misfeat.lattice.neighbour_sums import Neighbours
from tests.completion.coded import known_scores

NEURAL = [name for name in COMPLETERS if issubclass(completer_class(name), NeuralCompleter)]


@pytest.mark.parametrize("name", NEURAL)
def test_every_network_asks_for_pytorch_before_anything_is_computed(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MisfeatError, match=r"misfeat\[neural\]"):
        completer_class(name)().reach(2, 5)


def test_a_device_of_its_own_wins_and_is_checked():
    completer = completer_class(NEURAL[0])(device="cpu")
    assert completer._device_name == "cpu"
    assert completer_class(NEURAL[0])()._device_name == "auto"
    with pytest.raises(MisfeatError, match="device='tpu' is unknown"):
        completer.set_params(device="tpu").reach(2, 5)


def test_too_few_labels_are_both_learned_and_chosen_by():
    labels = Labels(np.arange(2), np.ones(2))
    for share in (0.0, 0.1):
        assert labels.split(share, np.random.default_rng(0)) == (labels, labels)


@pytest.mark.slow
def test_models_trained_one_by_one_equal_models_trained_side_by_side():
    shape = ModelShape(6, 1, 4, 3, 2, 16, 0.0)
    graph = shape.graph(torch.device("cpu"))
    together = shape.network(graph, range(3))
    alone = [shape.network(graph, range(i, i + 1)) for i in range(3)]
    for i, network in enumerate(alone):
        weights = {name: w[i : i + 1] for name, w in together.state_dict().items()}
        network.load_state_dict(weights)
    rows = np.arange(graph.n_rows)
    labels = [Labels(rows, np.random.default_rng(i).random(len(rows))) for i in range(3)]
    settings = PaperCompleter(epochs=20, validation_share=0.0)
    train(together, labels, settings, np.random.default_rng(0))
    for i, network in enumerate(alone):
        train(network, [labels[i]], settings, np.random.default_rng(0))
        for name, weight in network.state_dict().items():
            mine = together.state_dict()[name][i : i + 1]
            torch.testing.assert_close(mine, weight, rtol=1e-4, atol=1e-5)


def test_training_stops_when_patience_is_over_and_keeps_the_best_weights():
    graph_shape = ModelShape(5, 1, 3, 1, 2, 8, 0.0)
    graph = graph_shape.graph(torch.device("cpu"))
    torch.manual_seed(0)
    network = graph_shape.network(graph, range(1))
    rng = np.random.default_rng(0)
    labels = Labels(np.arange(graph.n_rows), rng.normal(size=graph.n_rows))
    settings = PaperCompleter(epochs=5000, learning_rate=0.05, patience=40)
    epochs, best_epoch = train(network, [labels], settings, rng)
    assert epochs < 5000
    assert epochs - best_epoch[0] >= 40


def guesses(exact, size=3, **settings):
    completer = MLPCompleter(**{"epochs": 30, "device": "cpu", **settings})
    return completer.guess(Known(exact), size).by_size


def test_the_mlp_learns_what_the_bits_tell():
    exact = known_scores(n_features=9, n_cohorts=2)
    found = guesses(exact, epochs=150, learning_rate=0.01)
    for size in (2, 3):
        known = ~np.isnan(exact.by_size[size])
        errors = (found[size] - exact.by_size[size])[known]
        assert np.sqrt(np.mean(errors**2)) < 0.2 * exact.by_size[size][known].std()


def test_an_mlp_learns_nothing_from_other_cohorts():
    exact = known_scores()
    changed = tuple(scores.copy() for scores in exact.by_size)
    for scores in changed[1:]:
        scores[1:] *= 0.5
    other = ExactScores(changed, exact.missing, exact.ceiling)
    assert guesses(exact)[3][0] == pytest.approx(guesses(other)[3][0])
    assert np.abs(guesses(exact)[3][1] - guesses(other)[3][1]).max() > 0.01


def test_progress_is_told_epoch_by_epoch():
    seen = []
    known = Known(known_scores(), progress=lambda *told: seen.append(told))
    MLPCompleter(epochs=3, device="cpu", confidence=None).complete(known, 3)
    assert seen == [("Training the networks", epoch, 9) for epoch in range(1, 10)]


def test_all_models_at_once_equal_models_one_by_one():
    network = MLPNetwork(3, 5, 1, 2, 8, seed=0)
    rows = torch.arange(15).expand(3, -1)
    bits = np.concatenate([contains(level(5, size), 5) for size in (1, 2)])
    assert network.inputs.numpy().astype(bool).tolist() == bits.tolist()
    together = network(rows)
    assert np.array_equal(network.predict(2), together[:, 5:].detach().double().numpy())
    for i in range(3):
        state = torch.relu(network.inputs @ network.first[i] + network.first_bias[i])
        state = torch.relu(state @ network.second[i] + network.second_bias[i])
        alone = (state @ network.head[i] + network.head_bias[i]).squeeze(1)
        torch.testing.assert_close(together[i], alone)


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
