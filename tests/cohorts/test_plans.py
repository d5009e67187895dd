"""DuckDB's own plans: every query is one aggregate, so that nothing but counts leaves it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from misfeat.cohorts import Coding, build_cohorts
from tests.cohorts.plans import collected_queries


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 2000
    place = tmp_path_factory.mktemp("plans") / "rows.parquet"
    pl.DataFrame(
        {
            "site": rng.choice(["a", "b"], n),
            "few": rng.integers(4, size=n),
            "text": rng.choice(["u", "v", "w"], n),
            "many": rng.normal(size=n),
            "age": rng.integers(20, 90, n),
            "w": rng.gamma(2.0, size=n),
            "y": rng.integers(2, size=n),
        }
    ).write_parquet(place)
    return place


@pytest.mark.parametrize("weight", [None, "w"])
def test_every_query_of_a_file_is_one_aggregate(file, weight, monkeypatch):
    groups = ["site", {"old": "age > 60 and few in [1, 2]"}]
    with collected_queries(monkeypatch) as queries:
        build_cohorts(file, "y", groups=groups, sample_weight=weight, coding=Coding(max_rows=1000))
    # A single number, such as how many rows there are, may come from the footer of the file.
    tables = [query for query in queries if query.columns != ["one"]]
    assert [query.aggregates for query in tables] == [1] * len(tables)
    *_, codes = queries
    expected = ["key_0", "n_rows"] if weight is None else ["key_0", "n_rows", "mass", "square"]
    assert codes.columns == expected
