from __future__ import annotations

import numpy as np
import pytest
import torch

from misfeat.completion.networks.completer import TrainingSettings
from misfeat.completion.networks.labels import Labels
from misfeat.completion.networks.training import Draw, train
from misfeat.completion.paper.models import ModelShape


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
    settings = TrainingSettings(epochs=20, validation_share=0.0)
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
    settings = TrainingSettings(epochs=5000, learning_rate=0.05, patience=40)
    history = train(network, [labels], settings, rng)
    assert history.epochs < 5000
    assert history.epochs - history.best_epoch[0] >= 40


def test_weights_are_uniform_within_one_over_the_root_of_the_inputs():
    weights = Draw(0)(16, 100, 100)
    assert weights.abs().max() <= 0.25
    assert weights.std().item() == pytest.approx(0.25 / 3**0.5, rel=0.05)


def test_a_seed_repeats_the_draws_and_leaves_the_global_generator_alone():
    before = torch.random.get_rng_state()
    first, second = Draw(1), Draw(1)
    assert torch.equal(first(4, 3), second(4, 3))
    assert not torch.equal(first(4, 3), Draw(2)(4, 3))
    assert torch.equal(before, torch.random.get_rng_state())
