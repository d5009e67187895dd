from __future__ import annotations

import numpy as np
import pytest
import torch

from misfeat import MisfeatError
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


def test_a_cohort_without_a_known_score_gets_the_mean_of_the_others():
    exact = known_scores().hidden(np.array([[True] * 7, [False] * 7, [False] * 7]))
    found = guesses(exact)
    assert found[3][0] == pytest.approx(found[3][1:].mean(axis=0))


def test_seeds_differ_and_the_global_generator_is_left_alone():
    exact = known_scores()
    before = torch.random.get_rng_state()
    first = guesses(exact, random_state=1)[3]
    assert torch.equal(before, torch.random.get_rng_state())
    assert not np.array_equal(first, guesses(exact, random_state=2)[3])


def test_progress_is_told_epoch_by_epoch():
    seen = []
    known = Known(known_scores(), progress=lambda *told: seen.append(told))
    MLPCompleter(epochs=3, device="cpu", confidence=None).complete(known, 3)
    assert seen == [("Training the networks", epoch, 9) for epoch in range(1, 10)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": 0}, "hidden=0"),
        ({"epochs": 1.5}, "epochs=1.5"),
        ({"learning_rate": -1}, "learning_rate=-1; it must be a number that is not negative"),
        ({"validation_share": 1.0}, "validation_share=1.0"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(MisfeatError, match=message):
        MLPCompleter(**settings).complete(Known(known_scores()), 3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_learns_the_same():
    exact = known_scores()
    on_cuda, on_cpu = (guesses(exact, device=device)[3] for device in ("cuda", "cpu"))
    assert np.abs(on_cuda - on_cpu).max() < 0.05


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
