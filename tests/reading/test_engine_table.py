"""What an engine works out over all rows: values by their ranks, and sums."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import build_cohorts
from misfeat.reading import engine_table
from misfeat.reading.coders import Reading
from misfeat.reading.engine_table import EngineTable
from misfeat.reading.table_statistics import Weighing, quantiles_of_counts
from tests.reading.holders import HOLDERS

SHARES = [0.0, Fraction(1, 5), Fraction(1, 3), 0.5, Fraction(4, 5), 1.0]
HARD = {
    "normal": lambda rng, n: rng.normal(size=n),
    "outliers": lambda rng, n: np.where(rng.random(n) < 0.01, 1e300, rng.random(n) * 1e-9),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.3, np.inf, -rng.pareto(0.1, n)),
    "both infinities": lambda rng, n: rng.choice([-np.inf, 0.0, 1.0, np.inf], n),
    "neighbours": lambda rng, n: np.nextafter(1.0, 2.0) * rng.integers(1, 3, n),
    "large integers": lambda rng, n: 2**62 + rng.integers(0, 50, n),
    "integers": lambda rng, n: rng.integers(-(10**9), 10**9, n),
}


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few that short tables are cut several times."""
    monkeypatch.setattr(engine_table, "N_PARTS", 8)
    monkeypatch.setattr(engine_table, "FEW_VALUES", 10)


@pytest.mark.usefixtures("few_parts")
@pytest.mark.parametrize("name", HARD)
def test_engines_find_the_values_that_counting_finds(name: str) -> None:
    values = HARD[name](np.random.default_rng(0), 1000)
    frame = pl.DataFrame({"x": values})
    expected = quantiles_of_counts(*np.unique(values, return_counts=True), SHARES)
    for held in (frame.lazy(), HOLDERS["duckdb"](frame)):
        assert EngineTable(held).quantiles(Reading("x"), SHARES) == expected


@pytest.mark.usefixtures("few_parts")
@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=40),
    st.lists(st.fractions(0, 1), min_size=1, max_size=4),
)
def test_any_floats_have_the_ranks_of_the_sorted_list(
    values: list[float], shares: list[Fraction]
) -> None:
    found = EngineTable(pl.LazyFrame({"x": values})).quantiles(Reading("x"), shares)
    assert found == quantiles_of_counts(*np.unique(values, return_counts=True), shares)


@pytest.mark.usefixtures("few_parts")
def test_missing_values_are_left_out_and_frequencies_counted() -> None:
    values = [None, 3.0, float("nan"), 1.0, -9.0, 2.0]
    frame = pl.LazyFrame({"x": values, "times": [5, 1, 7, 2, 100, 3]})
    table = EngineTable(frame).weighed(Weighing("times", frequency=True))
    assert table.quantiles(Reading("x", (-9.0,)), [Fraction(2, 6), 0.5, 1.0]) == [1.0, 2.0, 3.0]


def test_columns_with_too_many_values_are_seen_in_the_first_rows(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"many": rng.normal(size=3000), "ill": rng.random(3000) < 0.4})
    expected = build_cohorts(table, "ill")
    for module in ("column_coding", "column_profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 20)
    found = build_cohorts(HOLDERS["duckdb"](table), "ill")
    assert found.columns[0].edges == expected.columns[0].edges
