"""Samples of the rows of a table in an engine."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, kstest

from misfeat import Coding, MisfeatError, SubgroupSelector
from misfeat.answers.top_sets import best_sets
from misfeat.cohorts import build_cohorts
from misfeat.reading.coders import CodedRows
from misfeat.reading.engine_samples import PRIME, drawn, hashes_of
from tests.reading.holders import HOLDERS

N_ROWS = 20_000


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
