from __future__ import annotations

import numpy as np
import pytest

from misfeat.bench.hiding import exact_scores
from misfeat.cohorts import build_cohorts
from misfeat.cohorts.hiding import hide_features
from misfeat.completion.transfer.model import TransferModel
from misfeat.completion.transfer.rows import CodedRows
from misfeat.datasets.hiding import random_mask
from misfeat.lattice import level
from misfeat.machine.threads import Work
from tests.completion.coded import drawn_cohorts
from tests.completion.transfer.reference import Reference


def predicted(cohorts, mask, size, **settings):
    return TransferModel(CodedRows.of(cohorts), mask, Work(1), **settings).predict(size)


@pytest.mark.parametrize("proxies", [False, True])
@pytest.mark.parametrize(
    ("seed", "share", "shape"),
    [
        (0, 0.2, {}),
        (1, 0.5, {"n_classes": 3}),
        (2, 0.5, {"n_values": 4, "n_cohorts": 2}),
        (3, 0.4, {"n_rows": 60, "n_cohorts": 4}),
    ],
)
def test_predictions_are_those_of_the_formulas(seed, share, shape, proxies):
    cohorts = drawn_cohorts(seed, **shape)
    mask = random_mask(*cohorts.missing.shape, share, np.random.default_rng(seed))
    reference = Reference(cohorts, mask, proxies)
    for size in (1, 2, 3):
        subsets = level(len(cohorts.features), size)
        ours = predicted(cohorts, mask, size, proxies=proxies).score
        lacking = mask[:, subsets].any(axis=2)
        assert np.array_equal(np.isnan(ours), ~lacking)
        for i, s in zip(*np.nonzero(lacking), strict=True):
            # E[n log n] is tabulated here and summed there.
            assert ours[i, s] == pytest.approx(reference.score(i, tuple(subsets[s])), abs=2e-6)


def test_nothing_of_a_hidden_feature_is_read():
    cohorts = drawn_cohorts()
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(1))
    plain = predicted(cohorts, mask, 3)
    gone = predicted(hide_features(cohorts, mask), mask, 3)
    assert np.array_equal(plain.score, gone.score, equal_nan=True)
    assert np.array_equal(plain.variance, gone.variance, equal_nan=True)


def test_threads_change_nothing():
    cohorts = drawn_cohorts(n_features=7)
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(1))
    one, three = (TransferModel(CodedRows.of(cohorts), mask, Work(n)).predict(4) for n in (1, 3))
    assert np.array_equal(one.score, three.score, equal_nan=True)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("table_size", [2, 3])
def test_a_prediction_is_at_least_the_recorded_part_and_at_most_the_entropy(size, table_size):
    cohorts = drawn_cohorts(n_features=6, n_rows=900)
    mask = random_mask(*cohorts.missing.shape, 0.4, np.random.default_rng(2))
    exact = exact_scores(cohorts, size).hidden(mask)
    ours = predicted(cohorts, mask, size, table_size=table_size)
    low, high = exact.bounds(size)
    lacking = ~np.isnan(ours.score)
    assert (ours.score >= low - 2e-3)[lacking].all()
    assert (ours.score <= high + 1e-9)[lacking].all()
    assert (ours.variance[lacking] >= 0).all()


def test_where_cohorts_are_copies_the_prediction_is_near_the_truth():
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(3, size=30_000) for i in range(5)}
    columns["y"] = (columns["f0"] + columns["f1"] + (rng.random(30_000) < 0.2)) % 2
    columns["site"] = np.arange(30_000) % 3
    cohorts = build_cohorts(columns, "y", groups="site")
    mask = np.zeros((3, 5), dtype=bool)
    mask[0, 1] = mask[1, 0] = True
    for size in (2, 3, 4):
        truth = exact_scores(cohorts, size).by_size[size]
        ours = predicted(cohorts, mask, size).score
        lacking = ~np.isnan(ours)
        assert np.abs(ours - truth)[lacking].max() < 0.01


def test_a_feature_that_no_cohort_recorded_adds_nothing():
    cohorts = drawn_cohorts()
    mask = np.zeros(cohorts.missing.shape, dtype=bool)
    mask[:, 2] = True
    subsets = level(5, 2)
    floor, _ = exact_scores(cohorts, 2).hidden(mask).bounds(2)
    ours = predicted(cohorts, mask, 2).score
    with_it = (subsets == 2).any(axis=1)
    bias = 0.05  # a feature of pure noise raises a plug-in score of 80 rows
    assert (np.abs(ours - floor)[:, with_it] < bias).all()
