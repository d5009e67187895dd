from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, kstest

from misfeat.completion.baselines.markov_blanket.iamb import g_test


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_sum_of_likelihood_ratio_tests_of_all_strata(seed):
    rng = np.random.default_rng(seed)
    x, y, z = (rng.integers(n, size=400) for n in (3, 4, 5))
    weights = rng.integers(1, 4, size=400)
    found = g_test(x, y, z, weights)
    statistic = dof = 0
    for stratum in range(5):
        counts = np.zeros((3, 4))
        inside = z == stratum
        np.add.at(counts, (x[inside], y[inside]), weights[inside])
        test = chi2_contingency(counts, correction=False, lambda_="log-likelihood")
        statistic, dof = statistic + test.statistic, dof + test.dof
    assert found.statistic == pytest.approx(statistic)
    assert found.dof == dof


def test_values_that_do_not_occur_in_a_stratum_give_no_freedom():
    x, y = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 2])
    strata = np.array([0, 0, 0, 0, 1, 1])
    assert g_test(x, y, strata).dof == 1
    assert g_test(x, np.zeros(6, dtype=np.int64)).p_value == 1.0


def test_strata_with_too_few_rows_do_not_count():
    x, y, strata = np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    weights = np.array([10, 10, 9, 10])
    assert g_test(x, y, strata, weights, rows_per_cell=5).dof == 1
    nothing = g_test(x, y, strata, weights, rows_per_cell=6)
    assert (nothing.statistic, nothing.dof, nothing.p_value) == (0.0, 0, 1.0)


def test_no_rows_say_nothing():
    none = np.empty(0, dtype=np.int64)
    assert g_test(none, none, none).p_value == 1.0


def test_p_values_are_uniform_under_conditional_independence():
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(300):
        z = rng.integers(4, size=1000)
        x, y = ((z + rng.integers(3, size=1000)) % 3, (z + rng.integers(2, size=1000)) % 4)
        p_values.append(g_test(x, y, z, rows_per_cell=5).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
