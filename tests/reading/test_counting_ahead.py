"""Columns of long tables are counted together, and the counts are those of each by itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from misfeat.cohorts import Coding, build_cohorts
from misfeat.reading import engine_table
from misfeat.reading.engine_table import counted_together
from tests.reading.holders import HOLDERS


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Tables of any length count as long; a number for every query."""
    made: list[int] = []
    usual = engine_table.DataFrameTable._collected

    def collected(self, rows):
        made.append(len(made))
        return usual(self, rows)

    monkeypatch.setattr(engine_table.DataFrameTable, "_collected", collected)
    monkeypatch.setattr(engine_table, "LONG", 0)
    return made


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    n = 3000
    few = {f"f{i}": rng.choice(["a", "b", "c", None], n).tolist() for i in range(6)}
    level = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n) / 4)
    return pl.DataFrame(
        {
            **few,
            "level": level,
            "many": rng.normal(size=n),
            "site": rng.choice(["x", "y"], n),
            "ill": rng.random(n) < 0.4,
            "times": rng.integers(0, 3, n),
        }
    )


def test_few_queries_count_many_columns(table: pl.DataFrame, queries: list[int]) -> None:
    rows = table.drop("times")
    found = build_cohorts(HOLDERS["duckdb"](rows), "ill", groups="site")
    looks = len(rows.columns)
    assert len(queries) <= looks + 5  # rows, two lots, one column of many values, codes
    assert found.equals(build_cohorts(rows, "ill", groups="site"))


@pytest.mark.usefixtures("queries")
def test_frequencies_and_codes_of_missing_values_count_as_usual(table: pl.DataFrame) -> None:
    asked = {
        "groups": "site",
        "sample_weight": "times",
        "weights": "frequency",
        "coding": Coding(missing_values={"f0": ["a"]}),
    }
    assert build_cohorts(table.lazy(), "ill", **asked).equals(build_cohorts(table, "ill", **asked))


@pytest.mark.usefixtures("queries")
def test_columns_with_more_combinations_than_it_seemed_are_counted_alone(
    table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_table, "FEWER_COMBINATIONS", 5)
    rows = table.drop("times")
    found = build_cohorts(HOLDERS["duckdb"](rows), "ill", groups="site")
    assert found.equals(build_cohorts(rows, "ill", groups="site"))


@pytest.mark.usefixtures("queries")
def test_columns_with_too_many_values_are_seen_in_the_first_rows(
    table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = build_cohorts(table, "ill", groups="site")
    for module in ("coding", "profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 20)
    monkeypatch.setattr(engine_table, "LOOKED_AT", 100)
    found = build_cohorts(HOLDERS["duckdb"](table), "ill", groups="site")
    edges = [{one.column: one.edges for one in held.columns}["many"] for held in (found, expected)]
    assert edges[0] == edges[1]


def test_lots_have_few_combinations() -> None:
    lots = counted_together({f"f{i}": 9 for i in range(10)})
    assert [len(lot) for lot in lots] == [4, 4, 2]
