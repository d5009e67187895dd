from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import Coding, build_cohorts, build_product_sums
from misfeat.information.measures import MutualInformation, SquaredCorrelation
from misfeat.lattice import level


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
def test_whole_levels_and_listed_sets_have_the_same_scores(make):
    measure = make()
    for cohort in range(2):
        for size, scores in enumerate(measure.of_levels(cohort, 1, 3, None), start=1):
            listed = measure.of_subsets(cohort, level(3, size), None)
            assert scores == pytest.approx(listed, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("make", [mutual_information, squared_correlation])
def test_sets_with_an_unrecorded_feature_have_no_score_and_others_stay_below_the_ceiling(make):
    measure = make()
    assert measure.missing.tolist() == [[False, False, True], [False, False, False]]
    pairs = measure.of_levels(0, 2, 2, None)[0]
    assert np.isnan(pairs).tolist() == [False, True, True]
    for cohort in range(2):
        scores = np.concatenate(measure.of_levels(cohort, 1, 3, None))
        assert np.nanmax(scores) <= measure.ceiling[cohort] + 1e-12


@pytest.mark.parametrize("make", [mutual_information, squared_correlation])
def test_progress_is_told_to_the_end(make):
    told = []
    make().of_levels(1, 1, 3, 1, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]


def test_where_sets_rest_on_different_rows_a_larger_set_may_score_lower():
    assert mutual_information().closed
    measure = mutual_information(Coding(sporadic="available"))
    assert not measure.closed
    assert measure.ceiling == pytest.approx(np.log(4))


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


def test_above_chance_the_ceiling_is_the_log_of_the_classes_where_rows_differ_between_sets():
    cohorts = build_cohorts(
        table(gaps=True), "y", groups="site", coding=Coding(sporadic="available")
    )
    assert MutualInformation(cohorts, above_chance=True).ceiling == pytest.approx(np.log(4))


@pytest.mark.filterwarnings("ignore::misfeat.exceptions.MisfeatWarning")
@pytest.mark.parametrize("n_rows", range(3, 60))
def test_no_score_of_the_rows_is_above_the_entropy_of_the_target(n_rows):
    rows = np.arange(n_rows)
    site = np.repeat(["constant", "telling"], n_rows)
    columns = {"a": np.tile(rows % 7, 2), "b": np.tile(rows % 3, 2), "site": site}
    columns["y"] = np.where(site == "constant", 0, columns["b"])
    measure = MutualInformation(build_cohorts(columns, "y", groups="site"))
    for cohort, whole in enumerate(measure.whole):
        for scores in measure.of_levels(cohort, 1, 2, None):
            assert (scores <= whole).all()
