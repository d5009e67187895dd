from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import AddCompleter, InteractionsCompleter
from tests.completion.coded import known_of, random_cohorts


def test_it_is_the_contributions_of_single_features_alone():
    known = known_of(random_cohorts(2), 3)
    added = AddCompleter().guess(known, 3)
    singles = InteractionsCompleter(largest=1).guess(known, 3)
    for ours, theirs in zip(added.by_size, singles.by_size, strict=True):
        assert np.array_equal(ours, theirs)
    every = InteractionsCompleter().guess(known, 3)
    assert np.abs(added.by_size[3] - every.by_size[3]).max() > 0.01


def test_the_size_of_contributions_is_no_setting_of_it():
    assert "largest" not in AddCompleter().get_params()
    with pytest.raises(TypeError):
        AddCompleter(largest=2)
