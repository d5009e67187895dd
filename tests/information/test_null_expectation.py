import numba as nb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import expected_mutual_information

from misfeat.information import null_expectation as kernels
from misfeat.information.mutual_info import compact_rows
from misfeat.information.null_expectation import (
    expected_information,
    expected_n_log_n,
    expected_n_log_n_weighted,
    logs_of,
)
from tests.information.generated import above_chance, mean_n_log_n, random_cohort


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=2, max_size=400))
def test_the_null_expectation_is_the_expected_mutual_information_of_scikit_learn(rows):
    x, y = np.array(rows).T
    table = np.zeros((13, 5), dtype=np.int64)
    np.add.at(table, (x, y), 1)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    theirs = expected_mutual_information(csr_matrix(table), len(rows))
    assert expected_information(table.sum(axis=1), table.sum(axis=0)) == pytest.approx(
        theirs, abs=1e-12
    )
    assert above_chance(table) == pytest.approx(mutual_info_score(x, y) - theirs, abs=1e-12)


def test_few_expected_rows_are_summed_over_the_hypergeometric_distribution():
    for cell, n_class, n_rows in ((5, 3, 9), (60, 7, 100), (90, 80, 100)):
        ours = expected_n_log_n([cell], [n_class, n_rows - n_class])[0]
        theirs = sum(mean_n_log_n(cell, b, n_rows) for b in (n_class, n_rows - n_class))
        assert ours == pytest.approx(theirs, rel=1e-12)


def test_a_constant_target_leaves_nothing_to_chance():
    totals = np.array([1, 2, 4])
    for by_class in ([7], [7, 0], [0, 7, 0]):
        assert expected_n_log_n(totals, by_class) == pytest.approx(totals * np.log(totals))
        assert expected_information(totals, by_class) == pytest.approx(0.0, abs=1e-15)


def test_many_classes_and_millions_of_rows_need_no_long_table():
    by_class = np.full(1000, 10_000)
    totals = np.array([2, 3_000, 5_000_000])
    found = expected_n_log_n(totals, by_class)
    # Above independence, a cell gains about (classes - 1) / 2 where many rows of each are expected.
    gain = found[2] - 1000 * (5_000 * np.log(5_000))
    assert gain == pytest.approx(999 / 2 * 0.5, rel=0.01)
    assert 0 < found[0] < found[1] < found[2]


def test_the_series_is_as_good_as_the_sum_where_it_takes_over(rng):
    for _ in range(500):
        n_rows = int(10 ** rng.uniform(2, 6))
        n_class = int(rng.integers(kernels.SERIES_FROM, n_rows + 1))
        mean = kernels.SERIES_FROM * 10 ** rng.uniform(0, 1)
        cell = min(n_rows, int(np.ceil(mean * n_rows / n_class)))
        mean = cell * n_class / n_rows
        if mean >= kernels.SERIES_FROM:
            a, b, n = map(float, (cell, n_class, n_rows))
            _, rows, digammas, factors = kernels.sum_over_classes(np.array([b]), n)
            by_series = kernels.by_series(a, 1, n, rows, digammas, factors)
            error = by_series - kernels.by_summing(a, b, n)
            # Means of all cells and classes add up to the rows, so this bounds the score's error.
            assert abs(error) / mean < 1e-13


@settings(max_examples=50)
@given(st.lists(st.integers(0, 30), min_size=2, max_size=5).filter(lambda n: sum(n) > 1))
def test_whole_counts_have_the_expectation_of_rows(by_class):
    totals = np.arange(sum(by_class) + 1)
    expected = expected_n_log_n(totals, by_class)
    np.testing.assert_allclose(expected_n_log_n_weighted(totals, by_class), expected)
    near = expected_n_log_n_weighted(totals + 1e-9, by_class)[:-1]
    np.testing.assert_allclose(near, expected[:-1], atol=1e-6)


def test_kernels_compile_once_for_scores_with_and_without_chance():
    rows = [compact_rows(random_cohort(), above_chance=above) for above in (True, False)]
    for lanes in (0, 2, 4, 8):
        with_chance, without = (logs_of(either, lanes) for either in rows)
        assert nb.typeof(with_chance) == nb.typeof(without)
    logs = logs_of(rows[0], 4)
    for table in (logs.f, logs.g, logs.small):  # many share them
        with pytest.raises(ValueError, match="read-only"):
            table[0] = np.nan
