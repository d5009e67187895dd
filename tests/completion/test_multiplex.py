import numpy as np
import pytest
import torch

from benchmarks.completion.hiding import Truth
from misfeat.completion import InteractionsCompleter, Known, MultiplexCompleter
from misfeat.completion.networks.multiplex import Lessons, MultiplexNetwork, masks_of
from misfeat.datasets.population import random_mask
from misfeat.lattice.neighbour_sums import Neighbours
from tests.completion.coded import drawn_cohorts


@pytest.fixture(scope="module")
def known():
    """What is known of a small table from which features are hidden."""
    truth = Truth.of(drawn_cohorts(n_features=6, n_rows=900), 3)
    return truth.hidden(random_mask(3, 6, 0.3, np.random.default_rng(0)))


def inputs_of(exact, unit):
    known = Known(exact)
    return Lessons(known, 3, [InteractionsCompleter()], unit, torch.device("cpu")).inputs(known)


def quick(**settings):
    small = {"steps": 20, "masks": 4, "hidden": 8, "confidence": None, "device": "cpu"}
    return MultiplexCompleter(**{**small, **settings})


def test_a_seed_repeats_it_and_the_global_generator_is_left_alone(known):
    before = torch.random.get_rng_state()
    first = quick(random_state=3).complete(known, 3).score
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(first, quick(random_state=3).complete(known, 3).score)


def test_without_rows_only_scores_are_read(known):
    alone = quick().complete(Known(known.exact), 3)
    assert not np.array_equal(alone.score, quick().complete(known, 3).score)
    assert np.array_equal(alone.score, quick().complete(Known(known.exact), 3).score)


def test_training_learns_from_hidden_features(known):
    progress = []
    with_progress = Known(known.exact, progress=lambda *told: progress.append(told))
    trained = quick(steps=60).complete(with_progress, 3)
    untrained = quick(steps=0).complete(Known(known.exact), 3)
    assert not np.array_equal(trained.score, untrained.score)
    assert progress[-1] == ("Training the multiplex network", 60, 60)


def test_an_untrained_network_is_near_its_first_guess(known):
    first = InteractionsCompleter(confidence=None).complete(Known(known.exact), 3)
    untrained = quick(steps=0).complete(Known(known.exact), 3)
    hidden = first.predicted
    distance = np.abs(untrained.score - first.score)[hidden].mean()
    assert distance < 0.3 * (first.score - first.low)[hidden].mean()


def test_weights_are_shared_so_that_the_order_of_cohorts_does_not_matter(known):
    torch.manual_seed(0)
    network = MultiplexNetwork(Neighbours(6, 1, 3), 1, layers=2, hidden=8, dropout=0.0).eval()
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    order = [2, 0, 1]
    exact = known.exact
    turned = type(exact)(
        tuple(scores[order] for scores in exact.by_size), exact.missing[order], exact.ceiling[order]
    )
    plain, other = (network(inputs_of(e, 0.1)) for e in (exact, turned))
    torch.testing.assert_close(plain[:, order], other)


def test_masks_hide_allowed_features_only_and_leave_each_somewhere():
    rng = np.random.default_rng(0)
    missing = rng.random((4, 7)) < 0.3
    allowed = np.array([True, True, True, True, False, False, False])
    for mask in masks_of(missing, allowed, 30, (0.2, 0.9), rng):
        assert not mask[:, ~allowed].any()
        assert not (mask & missing).any()
        left = ~missing & ~mask
        assert left.any(axis=0)[(~missing).any(axis=0)].all()
        assert left.any(axis=1)[(~missing).any(axis=1)].all()
