from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from misfeat import SubgroupSelector
from misfeat.cohorts import Coding, build_cohorts
from misfeat.information import null_expectation
from misfeat.information.count_tables import scores_of_tables
from misfeat.information.measures import (
    GridInformation,
    MutualInformation,
    SquaredCorrelation,
    TableInformation,
    adjusted_correlation,
    information_of,
)
from misfeat.information.measures import squared_correlation as r2_of
from misfeat.lattice.levels import level, ranks_below
from tests.cohorts.tables import build_product_sums
from tests.estimation.generated import counted
from tests.information import generated
from tests.reading.holders import as_rows


def table(n=60, gaps=False):
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(3, size=n).astype(float) for name in "abc"}
    columns["y"] = columns["a"] + rng.integers(2, size=n)
    columns["site"] = np.repeat([0, 1], n // 2)
    columns["c"][: n // 2] = np.nan
    if gaps:
        columns["b"][::7] = np.nan
    return columns


@pytest.mark.parametrize(
    ("kind", "build"),
    [(MutualInformation, build_cohorts), (SquaredCorrelation, build_product_sums)],
)
def test_scores_stay_below_the_ceiling_and_those_above_chance_are_lower(kind, build):
    source, told = build(table(), "y", groups="site"), []
    plain, above = kind(source), kind(source, above_chance=True)
    assert plain.missing.tolist() == [[False, False, True], [False, False, False]]
    assert np.isnan(plain.of_levels(0, 2, 2, None)[0]).tolist() == [False, True, True]
    assert (above.name, above.words) == (plain.name, plain.words)
    assert plain.closed
    assert not above.closed
    assert np.array_equal(above.ceiling, plain.ceiling)
    for cohort in range(2):
        scores = plain.of_levels(cohort, 1, 3, 1, lambda *said: told.append(said))
        assert told[-1][0] == told[-1][1]
        assert np.nanmax(np.concatenate(scores)) <= plain.ceiling[cohort] + 1e-12
        for size, found in enumerate(above.of_levels(cohort, 1, 3, None), start=1):
            assert np.array_equal(np.isnan(found), np.isnan(scores[size - 1]))
            assert (found <= scores[size - 1])[~np.isnan(found)].all()
            for measure, whole in ((plain, scores[size - 1]), (above, found)):
                listed = measure.of_subsets(cohort, level(3, size), None)
                assert whole == pytest.approx(listed, abs=1e-12, nan_ok=True)


def test_where_sets_rest_on_different_rows_a_larger_set_may_score_lower():
    coding = Coding(sporadic="available")
    measure = MutualInformation(build_cohorts(table(gaps=True), "y", groups="site", coding=coding))
    assert not measure.closed
    assert measure.ceiling == pytest.approx(np.log(4))
    above = MutualInformation(measure.rows, above_chance=True)
    assert above.ceiling == pytest.approx(np.log(4))


@pytest.mark.filterwarnings("ignore::misfeat.exceptions.MisfeatWarning")
def test_no_score_of_the_rows_is_above_the_entropy_of_the_target():
    for n_rows in range(3, 60, 2):
        rows = np.arange(n_rows)
        site = np.repeat(["constant", "telling"], n_rows)
        columns = {"a": np.tile(rows % 7, 2), "b": np.tile(rows % 3, 2), "site": site}
        columns["y"] = np.where(site == "constant", 0, columns["b"])
        measure = MutualInformation(build_cohorts(columns, "y", groups="site"))
        for cohort, whole in enumerate(measure.whole):
            for scores in measure.of_levels(cohort, 1, 2, None):
                assert (scores <= whole).all()


SETS = np.array([[0], [1], [2]])


def numbers(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n_rows))
    return {"a": a, "b": b, "c": c, "y": a + rng.normal(size=n_rows)}


def test_scores_are_means_over_the_grids():
    cohorts = build_cohorts(numbers(), "y")
    for above_chance in (False, True):
        measure = GridInformation(cohorts, above_chance=above_chance)
        own = [MutualInformation(grid, above_chance=above_chance) for grid in cohorts.by_grid()]
        assert len(own) == 4
        listed = np.mean([one.of_subsets(0, SETS, None) for one in own], axis=0)
        np.testing.assert_array_equal(measure.of_subsets(0, SETS, None), listed)
        np.testing.assert_allclose(measure.of_levels(0, 1, 1, None)[0], listed)
        assert measure.whole == pytest.approx(np.mean([one.whole for one in own]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), power=st.sampled_from([0.1, 1.0, 3.0]))
def test_scores_do_not_change_when_the_target_is_stretched(seed, power):
    plain = numbers(seed, 80)
    stretched = {**plain, "y": np.sign(plain["y"]) * np.abs(plain["y"]) ** power}
    first, second = (
        information_of(build_cohorts(held, "y"), above_chance=True).of_subsets(0, SETS, None)
        for held in (plain, stretched)
    )
    np.testing.assert_array_equal(first, second)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_no_score_exceeds_the_mean_entropy_of_the_grids(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 60, 150)
    measure = information_of(build_cohorts({"a": y // 7, "b": rng.permutation(y), "y": y}, "y"))
    single, pair = measure.of_levels(0, 1, 2, None)
    assert (single <= measure.ceiling[0]).all()
    assert single.max() <= pair[0] <= measure.ceiling[0] + 1e-12


@pytest.fixture(scope="module")
def two_sites():
    rng = np.random.default_rng(4)
    table = {name: rng.integers(0, 3, 300) for name in "abcd"}
    table["site"] = rng.choice(["x", "y"], 300)
    table["d"] = np.where(table["site"] == "x", np.nan, table["d"])
    table["t"] = (table["a"] + table["b"] + rng.integers(0, 3, 300)) > 3
    return build_cohorts(table, "t", groups="site")


@pytest.mark.parametrize("above_chance", [False, True])
def test_scores_of_tables_are_those_of_the_rows(two_sites, above_chance):
    rows = MutualInformation(two_sites, above_chance=above_chance)
    tables = TableInformation(counted(two_sites), above_chance=above_chance)
    assert np.allclose(rows.whole, tables.whole)
    for cohort in range(2):
        found = [measure.of_levels(cohort, 0, 3, 1) for measure in (rows, tables)]
        for left, right in zip(*found, strict=True):
            assert np.allclose(left, right, rtol=0, atol=1e-12, equal_nan=True)
    assert np.isnan(tables.of_levels(0, 4, 4, None)[0]).all()  # there are no tables so large


def test_scores_of_counts_that_were_made_less_exact_are_rid_of_their_bias(two_sites):
    tables = counted(two_sites)
    rows = tables.by_class.sum(axis=1)
    off = np.zeros((len(rows), 3, 2))
    off[:, 2] = [0.5, 2.0]
    fewer = replace(tables, effective=np.outer(rows, [0.9, 0.5, 0.2]), bias=off)
    assert fewer.effective_rows_of(3) == pytest.approx(0.2 * rows)
    full, less = (TableInformation(one, above_chance=True) for one in (tables, fewer))
    for size in (1, 2):
        ours, theirs = (one.of_levels(1, size, size, None)[0] for one in (full, less))
        assert ours == pytest.approx(theirs, abs=1e-12)
    ours, theirs = (one.of_levels(1, 3, 3, None)[0] for one in (full, less))
    chance = full.plug_in.of_levels(1, 3, 3, None)[0] - ours
    assert theirs == pytest.approx(ours - 0.5 * chance - 2.0 * chance**2, abs=1e-9)


def test_tables_end_to_end_score_as_each_alone():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 9, (4, 2)).astype(float)
    whole = first.sum(axis=0)
    second = np.array([[whole[0], 3.0], [0.0, whole[1] - 3.0]])
    found = scores_of_tables(np.vstack([first, second]), whole, np.array([0, 4, 6]))
    for place, table in enumerate((first, second)):
        assert found.above_chance[place] == pytest.approx(generated.above_chance(table))
        assert found.chance[place] == pytest.approx(
            null_expectation.expected_information(table.sum(axis=1).astype(int), whole)
        )


def products_of(columns: np.ndarray) -> np.ndarray:
    centred = columns - columns.mean(axis=1, keepdims=True)
    return centred @ centred.T


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_r2_is_that_of_a_linear_regression_and_never_falls_when_a_set_grows(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(5, 60)) * 10.0 ** rng.integers(-1, 2, size=(5, 1))
    y = x[0] / np.abs(x[0]).max() + rng.normal(size=60)
    products, smaller = products_of(np.vstack([x, y])), np.zeros(1)
    for size in range(1, 6):
        subsets = level(5, size)
        found = r2_of(products, subsets)
        expected = [LinearRegression().fit(x[s].T, y).score(x[s].T, y) for s in subsets]
        assert found == pytest.approx(expected, abs=1e-9)
        assert (smaller[ranks_below(subsets)] <= found[:, None] + 1e-12).all()
        adjusted = 1 - (1 - found) * 59 / (59 - size)
        assert adjusted_correlation(products, subsets, 60) == pytest.approx(adjusted)
        smaller = found


def test_copies_and_constants_do_no_harm(rng):
    a, y = rng.normal(size=(2, 50))
    products = products_of(np.vstack([a, 3 * a, np.ones(50), y]))
    alone, *others = r2_of(products, np.array([[0], [1], [2]]))
    assert others == pytest.approx([alone, 0.0])
    assert r2_of(products, np.array([[0, 1], [0, 2]])) == pytest.approx([alone] * 2)
    assert r2_of(products, np.zeros((0, 2), dtype=int)).shape == (0,)


def test_as_many_features_as_rows_explain_everything_and_nothing_above_chance():
    products = products_of(np.random.default_rng(0).normal(size=(4, 4)))  # as many as rows
    assert r2_of(products, level(3, 3)) == pytest.approx([1.0])
    assert adjusted_correlation(products, level(3, 3), 4).tolist() == [0.0]


@pytest.mark.parametrize("estimate", ["sample", "above_chance", "population"])
def test_the_selector_ranks_by_correlation_and_predicts_what_was_never_recorded(estimate):
    rng = np.random.default_rng(1)
    n = 600
    site = np.repeat(np.array(["p", "q"], dtype=object), n // 2)
    a, b, c = rng.normal(size=(3, n))
    y = a + 0.5 * b + rng.normal(size=n)
    rows = {"site": site, "a": a, "b": np.where(site == "q", np.nan, b), "c": c, "y": y}
    selector = SubgroupSelector(groups="site", size=2, k=3, measure="r2", estimate=estimate)
    best = as_rows(selector.fit(rows, "y").top_k())
    assert [row["features"] for row in best if row["rank"] == 1] == [["a", "b"], ["a", "b"]]
    assert [row["source"] for row in best if row["rank"] == 1] == ["recorded", "predicted"]
    inside = site == "p"
    x = np.column_stack([a, b])[inside]
    expected = LinearRegression().fit(x, y[inside]).score(x, y[inside])
    assert best[0]["observed"] == pytest.approx(expected)
    assert best[0]["score"] == pytest.approx(expected, abs=1e-9 if estimate == "sample" else 0.03)
    assert all(row["low"] <= row["score"] <= row["high"] <= 1.0 for row in best)
