from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError
from misfeat.cohorts.coding import (
    BinRules,
    cut_points,
    interval_labels,
    quantile_edges,
    uniform_edges,
)


@given(values=st.lists(st.integers(-50, 50), min_size=1, max_size=200), bins=st.integers(2, 12))
def test_quantile_edges_are_the_inverted_distribution_function(values, bins):
    distinct, counts = np.unique(values, return_counts=True)
    edges = quantile_edges(distinct, counts, bins)
    wanted = np.quantile(values, [k / bins for k in range(1, bins)], method="inverted_cdf")
    assert set(edges) == {int(edge) for edge in wanted if edge != distinct[-1]}


def test_uniform_edges_are_equally_far_apart():
    assert uniform_edges(0, 1, 4) == (0.25, 0.5, 0.75)
    start = dt.datetime(2024, 1, 1)
    assert uniform_edges(start, dt.datetime(2024, 1, 3), 2) == (dt.datetime(2024, 1, 2),)


def test_labels_shorten_long_numbers_unless_they_would_clash():
    assert interval_labels([0.123456789]) == ("<=0.123457", ">0.123457")
    assert interval_labels([0.12345678, 0.12345679])[0] == "<=0.12345678"
    assert interval_labels([]) == ("any",)


def test_bins_that_make_no_sense_are_refused_by_their_column():
    for bins in (1, 0, 2.5, "5", True, None):
        with pytest.raises(MisfeatError, match="from 2 to 250"):
            BinRules.parse(bins, "quantile")
    for bins, complaint in (
        ({"chol": [240, 200]}, r"bins={'chol': \[240, 200\]} must ascend"),
        ({"chol": 1}, r"bins={'chol': 1}; it must be an integer from 2"),
        ({"*": [1, 2]}, r"bins={'\*': \[1, 2\]}; it must be an integer from 2"),
    ):
        with pytest.raises(MisfeatError, match=complaint):
            BinRules.parse(bins, "quantile")


def test_cut_points_may_be_numbers_or_dates_or_their_text():
    assert cut_points(["40", 65.5], "x") == (40, 65.5)
    assert cut_points(["2024-01-01"], "x") == (dt.datetime(2024, 1, 1),)
    assert cut_points(np.array([1, 2]), "x") == (1, 2)


def test_cut_points_that_make_no_sense_are_refused():
    for points, complaint in (
        ([], r"x=\[\]; give cut points, such as x=\[40, 65\]"),
        ("40", "give cut points"),
        (40, "give cut points"),
        ([2, 1], "ascend"),
        ([1, 1], "ascend"),
        (["soon"], "neither a number nor a date"),
        ([None], "neither a number nor a date"),
        ([1, "2024-01-01"], "mixes"),
    ):
        with pytest.raises(MisfeatError, match=complaint):
            cut_points(points, "x")
