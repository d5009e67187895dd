from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.selection.leaks import leaks
from misfeat.selection.ordering import orders_classes

ROWS = st.lists(st.integers(20, 90), min_size=2, max_size=5)


def binned(values, target, bins):
    edges = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    table = np.zeros((bins, target.max() + 1))
    np.add.at(table, (np.searchsorted(edges, values), target), 1)
    return table


@given(ROWS, st.integers(2, 9), st.randoms(use_true_random=False))
def test_classes_in_order_are_seen_through_any_bins(rows, bins, chance):
    names = chance.sample(range(len(rows)), len(rows))
    target = np.repeat(names, rows)
    assert orders_classes(binned(np.arange(len(target)), target, bins))


@given(ROWS, st.integers(2, 9), st.integers(0, 99))
def test_classes_in_no_order_are_not(rows, bins, seed):
    target = np.repeat(np.arange(len(rows)), rows)
    values = np.random.default_rng(seed).permutation(len(target))
    assert not orders_classes(binned(values, target, bins))


@pytest.mark.parametrize(("cases", "bins"), [(0.11, 5), (0.2, 3), (0.16, 5)])
def test_a_number_that_orders_rare_cases_is_a_leak(cases, bins):
    rng = np.random.default_rng(0)
    target = (rng.random(1000) < cases).astype(int)
    number = 100.0 * target + rng.random(1000)
    good = 1.5 * target + rng.normal(size=1000)
    table = {"number": number, "good": good, "y": target}
    found = leaks(build_cohorts(table, "y", coding=Coding(bins=bins)))
    assert [caution.columns for caution in found] == [("number",)]


def test_a_number_that_is_high_in_all_of_few_cases_is_no_leak():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 95, 4000)
    table = {"age": age, "y": (age > 80) & (rng.random(4000) < 0.25)}
    assert not list(leaks(build_cohorts(table, "y")))


def test_a_value_that_all_cases_have_is_no_leak():
    rng = np.random.default_rng(0)
    woman = rng.integers(0, 2, 2000)
    table = {"woman": woman, "y": woman * (rng.random(2000) < 0.2)}
    assert not list(leaks(build_cohorts(table, "y")))
