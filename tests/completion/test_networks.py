from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from misfeat import MisfeatError
from misfeat.completion import ExactScores, Known, MLPCompleter, PaperCompleter
from misfeat.completion.networks.paper import Labels, MLPNetwork, ModelShape, train
from misfeat.completion.neural import NeuralCompleter
from misfeat.completion.registry import COMPLETERS, completer_class
from misfeat.lattice import contains, level
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
