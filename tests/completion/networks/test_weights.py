from __future__ import annotations

import pytest
import torch

from misfeat.completion.networks.weights import Draw


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
