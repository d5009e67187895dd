from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts.coders import collapse
from misfeat.cohorts.merging import by_frequency, by_target, cross_fitted, dealt_out, table_of

GROUPS = 5


def drawn(n: int, n_values: int, spread: float, seed: int):
    """Rows of one feature, a column with many values and a target; shares differ by `spread`."""
    rng = np.random.default_rng(seed)
    values = rng.choice(n_values, n, p=rng.dirichlet(np.full(n_values, 0.7)))
    odds = rng.normal(0, spread, n_values)[values] - 1.0
    target = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    other = rng.integers(3, size=n)
    bases = [4, n_values + 2, 3]
    return collapse([other, values, target], np.ones(n, dtype=np.int64), bases), bases


def above_chance(table: np.ndarray) -> float:
    joint = table / table.sum()
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    told = (joint[joint > 0] * np.log2((joint / np.maximum(expected, 1e-300))[joint > 0])).sum()
    filled = (table.sum(axis=1) > 0).sum()
    return float(told - (filled - 1) * (table.shape[1] - 1) / (2 * table.sum() * np.log(2)))


def scored(n: int, n_values: int, spread: float, seed: int) -> tuple[float, float]:
    """What cross-fitted groups score, and what they would if they were learned from all rows."""
    rows, bases = drawn(n, n_values, spread, seed)
    counts = table_of(rows.codes[1], rows.codes[-1], rows.weights, (n_values, 2))
    merger = by_target(counts, GROUPS)
    found = cross_fitted(rows, 1, bases, n_values, merger)
    fitted = table_of(found.codes[1], found.codes[-1], found.weights, (GROUPS + 1, 2))
    naive = np.zeros((GROUPS + 1, 2), dtype=np.int64)
    np.add.at(naive, merger.learn(counts), counts)
    return above_chance(fitted), above_chance(naive)


def test_five_hundred_values_that_tell_nothing_score_nothing_above_chance():
    scores = np.array([scored(5000, 500, 0.0, seed)[0] for seed in range(30)])
    error = scores.std(ddof=1) / np.sqrt(len(scores))
    assert abs(scores.mean()) < 3 * error + 1e-4
    assert np.abs(scores).max() < 0.005


def test_groups_that_were_learned_from_the_rows_that_they_score_would_be_off():
    fitted, naive = scored(5000, 300, 0.7, 0)
    assert fitted < 0.8 * naive


def test_values_that_tell_are_worth_more_merged_by_what_they_tell():
    rows, _ = drawn(20_000, 300, 1.0, 0)
    counts = table_of(rows.codes[1], rows.codes[-1], rows.weights, (300, 2))
    assert by_target(counts, GROUPS).told > 3 * by_frequency(counts, 9).told > 0


def test_noise_is_worth_nothing_out_of_sample():
    for seed in range(5):
        rows, _ = drawn(5000, 300, 0.0, seed)
        counts = table_of(rows.codes[1], rows.codes[-1], rows.weights, (300, 2))
        assert by_target(counts, GROUPS).told < 0.001
        assert by_frequency(counts, 9).told < 0.001


def test_groups_lie_in_the_order_of_their_targets():
    counts = np.array([[90, 10], [10, 90], [50, 50], [88, 12], [12, 88]])
    assert by_target(counts, 3).learn(counts).tolist() == [0, 2, 1, 0, 2]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_are_kept_and_other_lines_are_untouched(n_classes):
    rng = np.random.default_rng(0)
    lines = [
        rng.integers(3, size=400),
        rng.integers(32, size=400),
        rng.integers(n_classes, size=400),
    ]
    bases = [4, 32, n_classes + 1]
    rows = collapse(lines, np.ones(400, dtype=np.int64), bases)
    counts = table_of(rows.codes[1], rows.codes[-1], rows.weights, (30, n_classes))
    found = cross_fitted(rows, 1, bases, 30, by_target(counts, GROUPS))
    for line in (0, 2):
        assert (
            np.bincount(found.codes[line], weights=found.weights)
            == np.bincount(rows.codes[line], weights=rows.weights)
        ).all()
    missing = rows.weights[rows.codes[1] == 31].sum()
    assert found.weights[found.codes[1] == GROUPS + 1].sum() == missing


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_every_row_is_dealt_out_once_and_folds_are_equally_large(weights):
    folds = dealt_out(np.array(weights))
    assert sum(folds).tolist() == weights
    sizes = [fold.sum() for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_very_many_rows_are_dealt_out_without_writing_them_down():
    folds = dealt_out(np.array([10**12, 3, 10**9]))
    assert sum(folds).tolist() == [10**12, 3, 10**9]
    assert all(abs(fold[0] / (10**12 / 5) - 1) < 1e-3 for fold in folds)
