from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import InteractionsCompleter, Known
from misfeat.completion.multiplex.inputs import N_FACTS, Inputs
from misfeat.lattice import level


def test_inputs_hold_what_is_known_and_nothing_else(known):
    inputs = Inputs.of(Known(known.exact), 3, [InteractionsCompleter()], unit=0.5)
    scores = np.concatenate([known.exact.by_size[m] for m in (1, 2, 3)], axis=1).T
    facts = inputs.facts.numpy()
    assert facts.shape == (len(scores), 3, N_FACTS + 1)
    assert not np.isnan(facts).any()
    is_known = ~np.isnan(scores)
    assert np.array_equal(facts[:, :, 1] == 1, is_known)
    assert facts[:, :, 0][is_known] == pytest.approx(scores[is_known] / 0.5, rel=1e-5)
    assert (facts[:, :, 0][~is_known] == 0).all()
    sizes = np.concatenate([np.full(len(level(6, m)), m) for m in (1, 2, 3)])
    assert facts[:, 0, 8] == pytest.approx(sizes / 3)
