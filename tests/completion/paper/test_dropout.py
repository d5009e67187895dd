from __future__ import annotations

import pytest
import torch

from misfeat.completion.paper.dropout import Dropout


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_share_is_dropped_and_the_mean_kept(share):
    values = torch.full((1000, 301), 2.0)
    kept = Dropout(share, seed=1)(values)
    assert (kept == 0).float().mean().item() == pytest.approx(share, abs=0.005)
    assert kept.mean().item() == pytest.approx(2.0, rel=0.02)
    assert torch.equal(kept[kept != 0].unique(), torch.tensor([2 / (1 - share)]))


def test_the_gradient_is_dropped_where_the_value_was():
    values = torch.ones(1000, requires_grad=True)
    kept = Dropout(0.3, seed=1)(values)
    kept.sum().backward()
    assert torch.equal(values.grad, kept.detach())


def test_a_seed_repeats_it_and_every_call_differs():
    values = torch.ones(500)
    first = Dropout(0.5, seed=1)
    second = Dropout(0.5, seed=1)
    a, b = first(values), first(values)
    assert torch.equal(a, second(values))
    assert not torch.equal(a, b)


def test_nothing_is_dropped_outside_training_or_at_share_zero():
    values = torch.rand(50)
    assert torch.equal(Dropout(0.5, seed=1).eval()(values), values)
    assert torch.equal(Dropout(0.0, seed=1)(values), values)
