from __future__ import annotations

import numpy as np
import pytest
import torch

from misfeat.completion import ExactScores, Known, MLPCompleter
from misfeat.completion.networks.paper import MLPNetwork
from misfeat.lattice import contains, level
from tests.completion.coded import known_scores


def guesses(exact, size=3, **settings):
    completer = MLPCompleter(**{"epochs": 30, "device": "cpu", **settings})
    return completer.guess(Known(exact), size).by_size


def test_it_learns_what_the_bits_tell():
    exact = known_scores(n_features=9, n_cohorts=2)
    found = guesses(exact, epochs=150, learning_rate=0.01)
    for size in (2, 3):
        known = ~np.isnan(exact.by_size[size])
        errors = (found[size] - exact.by_size[size])[known]
        assert np.sqrt(np.mean(errors**2)) < 0.2 * exact.by_size[size][known].std()


def test_a_cohort_learns_nothing_from_others():
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
