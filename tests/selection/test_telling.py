from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from misfeat.cohorts import Coding, build_cohorts
from misfeat.selection.leaks import leaks
from misfeat.selection.telling import orders_classes, told_share

TABLES = arrays(
    np.int64,
    st.tuples(st.integers(1, 6), st.integers(1, 4)),
    elements=st.integers(0, 200),
)
ROWS = st.lists(st.integers(20, 90), min_size=2, max_size=5)


@given(TABLES)
def test_shares_lie_between_nothing_and_all(table):
    share, sure = told_share(table)
    assert 0 <= sure <= share <= 1


@given(TABLES, st.randoms(use_true_random=False))
def test_names_of_values_and_classes_do_not_matter(table, chance):
    rows, columns = (chance.sample(range(n), n) for n in table.shape)
    assert told_share(table[rows][:, columns]) == pytest.approx(told_share(table))


@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 30))
def test_a_value_that_has_nothing_to_do_with_classes_tells_nothing(values, classes, rows):
    assert told_share(np.full((values, classes), rows)).share == pytest.approx(0, abs=1e-12)


@given(st.integers(2, 6), st.integers(1, 300))
def test_more_rows_of_a_copy_make_it_surer(classes, rows):
    copy = np.eye(classes, dtype=int)
    assert told_share(copy * (rows + 1)).sure >= told_share(copy * rows).sure


@pytest.mark.parametrize("cases", [50, 100, 1000])
def test_a_copy_with_errors_tells_as_much_however_rare_the_cases_are(cases):
    others = 50 * cases
    table = [[0.98 * others, 0.02 * cases], [0.02 * others, 0.98 * cases]]
    assert told_share(table).share == pytest.approx(0.86, abs=0.06)


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
