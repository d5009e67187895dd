from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from misfeat import MisfeatError
from misfeat.completion import PaperCompleter
from misfeat.completion.networks.paper import ModelShape
from misfeat.completion.networks.training import Labels, train
from misfeat.completion.neural import NeuralCompleter
from misfeat.completion.registry import completer_class, completer_names

NEURAL = [name for name in completer_names() if issubclass(completer_class(name), NeuralCompleter)]


@pytest.mark.parametrize("name", NEURAL)
def test_every_network_asks_for_pytorch_before_anything_is_computed(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MisfeatError, match=r"misfeat\[neural\]"):
        completer_class(name)().reach(2, 5)


def test_a_device_of_its_own_wins_and_is_checked():
    completer = completer_class(NEURAL[0])(device="cpu")
    assert completer._torch_device().type == "cpu"
    assert completer_class(NEURAL[0])()._device_name == "auto"
    with pytest.raises(MisfeatError, match="device='tpu' is unknown"):
        completer.set_params(device="tpu").reach(2, 5)


def test_too_few_labels_are_both_learned_and_chosen_by():
    labels = Labels(np.arange(2), np.ones(2))
    for share in (0.0, 0.1):
        assert labels.split(share, np.random.default_rng(0)) == (labels, labels)


def test_models_trained_one_by_one_equal_models_trained_side_by_side():
    shape = ModelShape(6, 1, 4, 3, 2, 16, 0.0, "leaky_relu")
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
    graph_shape = ModelShape(5, 1, 3, 1, 2, 8, 0.0, "relu")
    graph = graph_shape.graph(torch.device("cpu"))
    torch.manual_seed(0)
    network = graph_shape.network(graph, range(1))
    rng = np.random.default_rng(0)
    labels = Labels(np.arange(graph.n_rows), rng.normal(size=graph.n_rows))
    settings = PaperCompleter(epochs=5000, learning_rate=0.05, patience=40)
    history = train(network, [labels], settings, rng)
    assert history.epochs < 5000
    assert history.epochs - history.best_epoch[0] >= 40
