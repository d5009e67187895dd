from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from misfeat import SubgroupSelector
from misfeat.information.measures import adjusted_correlation, squared_correlation
from misfeat.lattice import level, ranks_below
from tests.reading.holders import as_rows


def products_of(columns: np.ndarray) -> np.ndarray:
    centred = columns - columns.mean(axis=1, keepdims=True)
    return centred @ centred.T


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_scores_equal_those_of_a_linear_regression(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, 60)) * 10.0 ** rng.integers(-1, 2, size=(5, 1))
    y = x[0] / np.abs(x[0]).max() + rng.normal(size=60)
    products = products_of(np.vstack([x, y]))
    for size in range(1, 6):
        subsets = level(5, size)
        expected = [LinearRegression().fit(x[s].T, y).score(x[s].T, y) for s in subsets]
        assert squared_correlation(products, subsets) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_a_larger_set_never_explains_less(seed):
    rng = np.random.default_rng(seed)
    products = products_of(rng.normal(size=(7, 30)))
    smaller = squared_correlation(products, level(6, 2))
    larger = squared_correlation(products, level(6, 3))
    assert (smaller[ranks_below(level(6, 3))] <= larger[:, None] + 1e-12).all()


def test_copies_and_constants_do_no_harm():
    rng = np.random.default_rng(0)
    a, y = rng.normal(size=(2, 50))
    products = products_of(np.vstack([a, 3 * a, np.ones(50), y]))
    alone, *others = squared_correlation(products, np.array([[0], [1], [2]]))
    assert others == pytest.approx([alone, 0.0])
    assert squared_correlation(products, np.array([[0, 1], [0, 2]])) == pytest.approx([alone] * 2)
    assert squared_correlation(products, np.zeros((0, 2), dtype=int)).shape == (0,)


def test_above_chance_r2_is_adjusted_for_the_number_of_features():
    rng = np.random.default_rng(0)
    products = products_of(rng.normal(size=(6, 20)))
    for size in range(1, 6):
        r2 = squared_correlation(products, level(5, size))
        expected = 1 - (1 - r2) * 19 / (19 - size)
        assert adjusted_correlation(products, level(5, size), 20) == pytest.approx(expected)


def test_features_that_tell_nothing_explain_nothing_above_chance_on_the_mean():
    rng = np.random.default_rng(0)
    found = [
        adjusted_correlation(products_of(rng.normal(size=(4, 12))), level(3, 3), 12)[0]
        for _ in range(2000)
    ]
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(len(found))


def test_as_many_features_as_rows_explain_nothing_above_chance():
    products = products_of(np.random.default_rng(0).normal(size=(4, 4)))
    assert squared_correlation(products, level(3, 3)) == pytest.approx([1.0])
    assert adjusted_correlation(products, level(3, 3), 4).tolist() == [0.0]


@pytest.mark.parametrize("estimate", ["sample", "above_chance", "population"])
def test_the_selector_ranks_by_correlation_and_predicts_what_was_never_recorded(estimate):
    rng = np.random.default_rng(1)
    n = 600
    site = np.repeat(np.array(["p", "q"], dtype=object), n // 2)
    a, b, c = rng.normal(size=(3, n))
    y = a + 0.5 * b + rng.normal(size=n)
    table = {"site": site, "a": a, "b": np.where(site == "q", np.nan, b), "c": c, "y": y}
    selector = SubgroupSelector(groups="site", size=2, k=3, measure="r2", estimate=estimate)
    best = as_rows(selector.fit(table, "y").top_k())
    assert [row["features"] for row in best if row["rank"] == 1] == [["a", "b"], ["a", "b"]]
    assert [row["source"] for row in best if row["rank"] == 1] == ["recorded", "predicted"]
    inside = site == "p"
    x = np.column_stack([a, b])[inside]
    expected = LinearRegression().fit(x, y[inside]).score(x, y[inside])
    assert best[0]["observed"] == pytest.approx(expected)
    assert best[0]["score"] == pytest.approx(expected, abs=1e-9 if estimate == "sample" else 0.03)
    assert all(row["low"] <= row["score"] <= row["high"] <= 1.0 for row in best)
