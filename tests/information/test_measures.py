from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.cohorts import Coding, build_cohorts
from misfeat.information import null_expectation
from misfeat.information.count_tables import scores_of_tables
from misfeat.information.measures import (
    GridInformation,
    MutualInformation,
    SquaredCorrelation,
    TableInformation,
    information_of,
)
from misfeat.lattice import level
from tests.cohorts.tables import build_product_sums
from tests.estimation.generated import counted
from tests.information import generated


def table(n=60, gaps=False):
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(3, size=n).astype(float) for name in "abc"}
    columns["y"] = columns["a"] + rng.integers(2, size=n)
    columns["site"] = np.repeat([0, 1], n // 2)
    columns["c"][: n // 2] = np.nan
    if gaps:
        columns["b"][::7] = np.nan
    return columns


def mutual_information(coding=None):
    gaps = coding is not None
    return MutualInformation(build_cohorts(table(gaps=gaps), "y", groups="site", coding=coding))


def squared_correlation():
    return SquaredCorrelation(build_product_sums(table(), "y", groups="site"))


@pytest.mark.parametrize("make", [mutual_information, squared_correlation])
def test_sets_with_an_unrecorded_feature_have_no_score_and_others_stay_below_the_ceiling(make):
    measure, told = make(), []
    assert measure.missing.tolist() == [[False, False, True], [False, False, False]]
    assert np.isnan(measure.of_levels(0, 2, 2, None)[0]).tolist() == [False, True, True]
    for cohort in range(2):
        by_size = measure.of_levels(cohort, 1, 3, 1, lambda *said: told.append(said))
        assert told[-1][0] == told[-1][1]
        assert np.nanmax(np.concatenate(by_size)) <= measure.ceiling[cohort] + 1e-12
        for size, scores in enumerate(by_size, start=1):
            listed = measure.of_subsets(cohort, level(3, size), None)
            assert scores == pytest.approx(listed, abs=1e-12, nan_ok=True)


def test_where_sets_rest_on_different_rows_a_larger_set_may_score_lower():
    assert mutual_information().closed
    measure = mutual_information(Coding(sporadic="available"))
    assert not measure.closed
    assert measure.ceiling == pytest.approx(np.log(4))
    above = MutualInformation(measure.rows, above_chance=True)
    assert above.ceiling == pytest.approx(np.log(4))


def information():
    cohorts = build_cohorts(table(), "y", groups="site")
    return MutualInformation(cohorts), MutualInformation(cohorts, above_chance=True)


def correlation():
    sums = build_product_sums(table(), "y", groups="site")
    return SquaredCorrelation(sums), SquaredCorrelation(sums, above_chance=True)


@pytest.mark.parametrize("make", [information, correlation])
def test_above_chance_scores_are_lower_and_not_closed(make):
    plain, above = make()
    assert above.name == plain.name
    assert above.words == plain.words
    assert plain.closed
    assert not above.closed
    assert np.array_equal(above.ceiling, plain.ceiling)
    for cohort in range(2):
        scores = plain.of_levels(cohort, 1, 3, None)
        for size, found in enumerate(above.of_levels(cohort, 1, 3, None), start=1):
            assert np.array_equal(np.isnan(found), np.isnan(scores[size - 1]))
            assert (found <= scores[size - 1])[~np.isnan(found)].all()
            listed = above.of_subsets(cohort, level(3, size), None)
            assert found == pytest.approx(listed, abs=1e-12, nan_ok=True)


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
def test_no_score_exceeds_what_there_is_to_tell(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 60, 150)
    measure = information_of(build_cohorts({"a": y // 7, "b": rng.permutation(y), "y": y}, "y"))
    (single,), (pair,) = measure.of_levels(0, 1, 1, None), measure.of_levels(0, 2, 2, None)
    assert (single <= measure.ceiling[0]).all()
    assert single.max() <= pair[0] <= measure.ceiling[0] + 1e-12


def test_a_permuted_number_is_explained_by_nothing_on_the_mean():
    rng, scores = np.random.default_rng(3), []
    for _ in range(60):
        rows = build_cohorts({"a": rng.normal(size=60), "y": rng.normal(size=60)}, "y")
        measure = information_of(rows, above_chance=True)
        scores.append(measure.of_subsets(0, np.array([[0]]), None)[0])
    assert abs(np.mean(scores)) < 3 * np.std(scores) / np.sqrt(len(scores))


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
        pairs = zip(
            rows.of_levels(cohort, 0, 3, 1), tables.of_levels(cohort, 0, 3, None), strict=True
        )
        for left, right in pairs:
            assert np.allclose(left, right, rtol=0, atol=1e-12, equal_nan=True)


def test_larger_sets_than_there_are_tables_of_have_no_score(two_sites):
    measure = TableInformation(counted(two_sites))
    assert np.isnan(measure.of_levels(0, 4, 4, None)[0]).all()


def test_scores_of_counts_that_were_made_less_exact_are_rid_of_their_bias(two_sites):
    tables = counted(two_sites)
    rows = tables.by_class.sum(axis=1)
    off = np.zeros((len(rows), 3, 2))
    off[:, 2] = [0.5, 2.0]
    fewer = replace(tables, effective=np.outer(rows, [0.9, 0.5, 0.2]), bias=off)
    assert fewer.rows_worth(3) == pytest.approx(0.2 * rows)
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
