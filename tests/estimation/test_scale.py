from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.estimation.variance_to_information import CorrelationScale, InformationScale

SHARES = st.lists(st.floats(0.02, 1.0), min_size=2, max_size=6).map(
    lambda weights: np.array(weights) / sum(weights)
)


def entropy(shares):
    return -(shares * np.log(shares)).sum()


@given(SHARES, st.lists(st.floats(-0.1, 15.0), min_size=2, max_size=20))
def test_more_explained_variance_is_more_information_up_to_the_entropy(shares, additive):
    scores = InformationScale(shares).score(np.sort(additive))
    assert (np.diff(scores) >= -1e-9).all()
    assert (scores <= entropy(shares) + 1e-9).all()


@given(SHARES)
def test_weak_features_inform_as_the_gaussian_formula_says(shares):
    additive = np.array([1e-5, 1e-3])
    assert InformationScale(shares).score(additive) == pytest.approx(additive, rel=0.05)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("precision", [1.0, 5.0, 50.0])
def test_the_scale_is_that_of_dirichlet_class_probabilities(shares, precision):
    rng = np.random.default_rng(1)
    shares = np.array(shares)
    drawn = rng.dirichlet(precision * shares, size=400_000)
    pointwise = np.log(np.maximum(drawn, 1e-300) / shares)
    information = (drawn * pointwise).sum(axis=1).mean()
    spread = (drawn * pointwise**2).sum(axis=1).mean() - information**2
    additive = -0.5 * (len(shares) - 1) * np.log1p(-1.0 / (precision + 1.0))
    scale = InformationScale(shares)
    found = scale.score(np.array([additive]))
    assert found[0] == pytest.approx(information, rel=0.02)
    assert scale.row_variance(found)[0] == pytest.approx(spread, rel=0.05)


def test_one_class_has_no_information():
    scale = InformationScale(np.array([1.0, 0.0]))
    assert not scale.score(np.array([0.3])).any()
    assert not scale.row_variance(np.array([0.3])).any()


def test_squared_correlations_come_back():
    r2 = np.array([0.0, 0.2, 0.9])
    assert CorrelationScale().score(-0.5 * np.log1p(-r2)) == pytest.approx(r2)
