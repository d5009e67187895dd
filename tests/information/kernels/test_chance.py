from __future__ import annotations

import numpy as np
from scipy.special import digamma

from misfeat.information.kernels import chance as kernels


def test_the_series_is_as_good_as_the_sum_where_it_takes_over():
    rng = np.random.default_rng(0)
    for _ in range(500):
        n_rows = int(10 ** rng.uniform(2, 6))
        n_class = int(rng.integers(kernels.SERIES_FROM, n_rows + 1))
        mean = kernels.SERIES_FROM * 10 ** rng.uniform(0, 1)
        cell = min(n_rows, int(np.ceil(mean * n_rows / n_class)))
        mean = cell * n_class / n_rows
        if mean >= kernels.SERIES_FROM:
            a, b, n = map(float, (cell, n_class, n_rows))
            by_series = kernels._by_series(a, b, n, digamma(a) + digamma(b) - digamma(n))
            error = by_series - kernels._by_summing(a, b, n)
            # Means of all cells and classes add up to the rows, so this bounds the score's error.
            assert abs(error) / mean < 1e-13
