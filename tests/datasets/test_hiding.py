from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from misfeat.datasets.hiding import LARGEST_SHARE, random_mask


@given(
    n_cohorts=st.integers(2, 9),
    n_features=st.integers(2, 25),
    p=st.floats(0.01, 1.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_masks_keep_their_promises(n_cohorts, n_features, p, seed):
    mask = random_mask(n_cohorts, n_features, p, np.random.default_rng(seed))
    hidden = mask.sum(axis=1)
    assert hidden.min() >= 1
    assert hidden.max() <= max(1, int(LARGEST_SHARE * n_features))
    assert not mask.all(axis=0).any()


def test_nothing_is_hidden_without_a_probability_or_from_a_single_cohort():
    rng = np.random.default_rng(0)
    assert not random_mask(3, 5, 0.0, rng).any()
    assert not random_mask(1, 5, 0.9, rng).any()


def test_features_are_hidden_about_as_often_as_asked():
    rng = np.random.default_rng(0)
    share = np.mean([random_mask(4, 20, 0.3, rng).mean() for _ in range(300)])
    assert abs(share - 0.3) < 0.02
