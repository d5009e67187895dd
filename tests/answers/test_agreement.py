from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat.answers.stability import stability_index

SELECTIONS = st.tuples(st.integers(2, 8), st.integers(2, 7)).flatmap(
    lambda shape: arrays(np.bool_, shape)
)


def by_the_formula(selected):
    """Definition 4 and the variance of Nogueira, Sechidis and Brown (2018), sum by sum."""
    z = [[int(held) for held in line] for line in selected]
    n, d = len(z), len(z[0])
    p = [sum(line[f] for line in z) / n for f in range(d)]
    k = [sum(line) for line in z]
    k_mean = sum(k) / n
    chance = k_mean / d * (1 - k_mean / d)
    index = 1 - sum(n / (n - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / chance
    parts = []
    for i in range(n):
        agreed = sum(z[i][f] * p[f] for f in range(d)) / d - k[i] * k_mean / d**2
        share = 2 * k_mean * k[i] / d**2 - k[i] / d - k_mean / d + 1
        parts.append((agreed + index / 2 * share) / chance)
    mean = sum(parts) / n
    return index, 4 / n**2 * sum((part - mean) ** 2 for part in parts)


@given(SELECTIONS)
def test_it_is_the_formula_of_the_paper(selected):
    found = stability_index(selected)
    if selected.all() or not selected.any():
        assert np.isnan(found).all()
        return
    index, variance = by_the_formula(selected)
    away = 1.959964 * sqrt(variance)
    assert found == pytest.approx((index, index - away, min(index + away, 1)), abs=1e-6)


def test_random_selections_agree_no_more_than_chance():
    rng = np.random.default_rng(0)
    _, low, high = stability_index(rng.permuted(np.tile(np.arange(10) < 3, (2000, 1)), axis=1))
    assert low < 0 < high < low + 0.01


def test_the_interval_holds_what_very_many_selections_give():
    """Features enter independently, each with a share of its own, so that the truth is known."""
    shares = np.array([0.9, 0.8, 0.3, 0.2, 0.1, 0.05])
    k = shares.sum() / len(shares)
    truth = 1 - (shares * (1 - shares)).mean() / (k * (1 - k))
    rng = np.random.default_rng(1)
    drawn = (stability_index(rng.random((100, 6)) < shares, 0.9) for _ in range(400))
    held = np.mean([low <= truth <= high for _, low, high in drawn])
    assert 0.85 < held < 0.95
