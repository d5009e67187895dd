from __future__ import annotations

import numpy as np
import pytest

from misfeat.metrics.distances import total_variation


def test_equal_distributions_have_no_distance_and_disjoint_ones_two():
    scores = np.linspace(0, 1, 100)
    assert total_variation(scores, scores) == 0.0
    assert total_variation(np.zeros(5), np.array([0.0] * 1 + [1.0] * 999)) == pytest.approx(1.998)


def test_a_distance_computed_by_hand():
    # Two bins of the range 0 to 1: shares (3/4, 1/4) against (1/2, 1/2).
    sample = np.array([0.1, 0.2, 0.3, 0.9])
    population = np.array([0.0, 0.4, 0.6, 1.0])
    assert total_variation(sample, population, bins=2) == pytest.approx(0.5)


def test_scores_that_do_not_exist_are_left_out():
    scores = np.array([0.0, 1.0])
    assert total_variation(np.append(scores, np.nan), np.append(scores, np.nan)) == 0.0


def test_larger_samples_come_nearer():
    rng = np.random.default_rng(0)
    population = rng.gamma(2.0, size=20_000)
    small, large = (
        np.mean([total_variation(rng.choice(population, n), population) for _ in range(30)])
        for n in (50, 2000)
    )
    assert large < small / 3
