"""What an engine works out over all rows: values by their ranks, samples, and sums."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, kstest

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import build_cohorts
from misfeat.reading import engine_expressions as expressions
from misfeat.reading.coders import CodedRows, Reading
from misfeat.reading.engine_table import PRIME, EngineTable, drawn, hashes_of
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
N_ROWS = 20_000


@pytest.fixture
def few_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few that short tables are cut several times."""
    monkeypatch.setattr(expressions, "N_PARTS", 8)
    monkeypatch.setattr(expressions, "FEW_VALUES", 10)


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
    for module in ("coding", "column_profiles"):
        monkeypatch.setattr(f"misfeat.cohorts.{module}.DISTINCT_LIMIT", 20)
    found = build_cohorts(HOLDERS["duckdb"](table), "ill")
    assert found.columns[0].edges == expected.columns[0].edges


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Many different rows, a tenth of them in the subgroup b, and one row that occurs often."""
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(5, size=N_ROWS) for i in range(8)}
    often = rng.random(N_ROWS) < 0.2
    columns = {name: np.where(often, 0, values) for name, values in columns.items()}
    columns["site"] = np.where(rng.random(N_ROWS) < 0.1, "b", "a")
    columns["y"] = (columns["f0"] + columns["f1"] + rng.integers(4, size=N_ROWS) > 5).astype(int)
    columns["w"] = rng.gamma(3.0, size=N_ROWS).round(3) + 0.1
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def whole(table: pl.DataFrame):
    return build_cohorts(table.drop("w"), "y", groups="site")


def test_engines_draw_the_same_rows_and_say_so(table: pl.DataFrame, whole) -> None:
    asked = {"groups": "site", "coding": Coding(max_rows=4000)}
    rows = table.drop("w")
    found = build_cohorts(HOLDERS["duckdb"](rows), "y", **asked)
    assert found.equals(build_cohorts(rows.lazy(), "y", **asked))
    assert 2500 < len(found.weights) <= 4200
    (note,) = (note for note in found.notes if "drawn at random" in note)
    assert "more than the 4,000 that were asked for" in note
    assert "in the 1 largest subgroups" in note
    assert found["site=b"].size == whole["site=b"].size
    assert found["site=a"].size < whole["site=a"].size / 2
    # A row that occurs often is kept as often as others.
    part = found["site=a"]
    share = [one.weights.max() / one.size for one in (whole["site=a"], part)]
    assert share[1] == pytest.approx(share[0], abs=4 * np.sqrt(share[0] / part.size))


def test_tables_that_fit_are_not_drawn_from(table: pl.DataFrame, whole) -> None:
    rows = table.drop("w")
    asked = {"groups": "site", "coding": Coding(max_rows=17_000)}
    assert build_cohorts(HOLDERS["duckdb"](rows), "y", **asked).equals(whole)
    assert build_cohorts(rows, "y", groups="site", coding=Coding(max_rows=10)).equals(whole)


def test_weights_of_drawn_rows_keep_their_mean(table: pl.DataFrame) -> None:
    asked = {"groups": "site", "sample_weight": "w", "coding": Coding(max_rows=4000)}
    found = build_cohorts(HOLDERS["duckdb"](table), "y", **asked)
    assert found.equals(build_cohorts(table.lazy(), "y", **asked))
    weighted = build_cohorts(table, "y", groups="site", sample_weight="w")
    for name in weighted.names:
        kish = [one[name].effective_size / one[name].size for one in (weighted, found)]
        assert kish[1] == pytest.approx(kish[0], rel=0.1)


def test_rows_of_a_design_are_not_drawn(table: pl.DataFrame) -> None:
    rows = table.with_columns(c=pl.Series(np.arange(N_ROWS) % 50)).drop("w")
    with pytest.raises(MisfeatError, match="with a design rows cannot be drawn"):
        build_cohorts(
            HOLDERS["duckdb"](rows), "y", design={"cluster": "c"}, coding=Coding(max_rows=4000)
        )


def test_scores_of_drawn_rows_are_near_those_of_all(table: pl.DataFrame) -> None:
    rows = table.drop("w")
    asked = {"groups": "site", "size": 2, "k": 1, "random_state": 0}
    all_rows = best_sets(SubgroupSelector(**asked).fit(rows, "y").selection_)
    part = SubgroupSelector(**asked, coding=Coding(max_rows=4000)).fit(HOLDERS["duckdb"](rows), "y")
    for one, other in zip(all_rows, best_sets(part.selection_), strict=True):
        assert one.features == other.features == ("f0", "f1")
        assert other.low < one.score < other.high


def test_hashes_look_random_along_any_digit() -> None:
    for step in (1, 2, 6, 6**5, 6**20):
        hashes = hashes_of([np.arange(20_000) * step % 2**62]) / PRIME
        assert kstest(hashes, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(hashes[:-1], hashes[1:])[0, 1]) < 0.03
    assert hashes_of([np.arange(3)]).tolist() == [436567837, 1423086897, 1686130470]


def test_counts_of_drawn_rows_are_binomial() -> None:
    n = 20_000
    rows = CodedRows(np.arange(n)[None], np.full(n, 12, dtype=np.int64))
    found = drawn(rows, hashes_of([np.arange(n)]), np.full(n, 5))
    kept = np.bincount(found.weights, minlength=13)
    kept[0] = n - len(found.weights)
    expected = n * binom.pmf(np.arange(13), 12, 0.2)
    assert (np.abs(kept - expected) < 5 * np.sqrt(expected + 1)).all()
