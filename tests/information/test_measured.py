from __future__ import annotations

import numpy as np
import pytest

from misfeat import Coding, MisfeatError
from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.information import CountMeasure, GiniExplained
from misfeat.information.measured import CountedMeasure
from misfeat.information.measures import MutualInformation
from misfeat.lattice import level
from tests.information.own import Information


@pytest.fixture(scope="module")
def cohorts():
    data = make_cohorts(n_rows=300, n_features=5, n_classes=3, random_state=2)
    return build_cohorts(data.columns, data.target, groups=data.groups)


@pytest.fixture(scope="module")
def weighted():
    data = make_cohorts(n_rows=300, n_features=4, random_state=3)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, data.n_rows)
    table = {**data.columns, "weight": weights}
    return build_cohorts(table, data.target, groups=data.groups, sample_weight="weight")


def test_information_scores_as_the_kernels_do(cohorts):
    own, ours = CountedMeasure(Information(), cohorts), MutualInformation(cohorts)
    assert own.whole == pytest.approx(ours.whole, abs=1e-12)
    for cohort in range(len(cohorts)):
        for mine, others in zip(
            own.of_levels(cohort, 1, 3, None), ours.of_levels(cohort, 1, 3, None), strict=True
        ):
            assert mine == pytest.approx(others, abs=1e-12, nan_ok=True)


def test_with_weights_too(weighted):
    own, ours = CountedMeasure(Information(), weighted), MutualInformation(weighted)
    pairs = own.of_levels(0, 2, 2, None)[0]
    assert pairs == pytest.approx(ours.of_levels(0, 2, 2, None)[0], abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("rows", ["cohorts", "weighted"])
def test_above_chance_is_near_the_exact_expectation_over_deals(rows, request):
    rows = request.getfixturevalue(rows)
    own = CountedMeasure(Information(), rows, above_chance=True)
    ours = MutualInformation(rows, above_chance=True)
    off = own.of_levels(0, 2, 2, None)[0] - ours.of_levels(0, 2, 2, None)[0]
    chance = ours.plug_in.of_levels(0, 2, 2, None)[0] - ours.of_levels(0, 2, 2, None)[0]
    assert abs(np.nanmean(off)) < 0.15 * np.nanmean(chance)


def test_levels_and_listed_sets_score_the_same_whatever_the_threads(cohorts):
    measure = CountedMeasure(GiniExplained(), cohorts, above_chance=True)
    (pairs,) = measure.of_levels(1, 2, 2, 1)
    assert np.array_equal(pairs, measure.of_levels(1, 2, 2, 2)[0], equal_nan=True)
    assert np.array_equal(pairs, measure.of_subsets(1, level(5, 2), 2), equal_nan=True)
    lacking = cohorts.missing[1][level(5, 2)].any(axis=1)
    assert np.array_equal(np.isnan(pairs), lacking)


def test_progress_is_told_to_the_end(cohorts):
    told = []
    measure = CountedMeasure(GiniExplained(), cohorts)
    measure.of_levels(0, 1, 3, 1, lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1]


def test_noise_of_information_is_what_theory_says(cohorts):
    noise = CountedMeasure(Information(), cohorts, above_chance=True).noise(2)
    n_rows = noise.n_rows[:, None]
    theory = (3**2 - 1) * (3 - 1) / (2 * n_rows**2)
    assert np.isfinite(noise.null).all()
    assert np.mean(noise.null / theory) == pytest.approx(1.0, abs=0.25)
    assert noise.curve(np.array([0.02]))[0] == pytest.approx(2 * 0.02, rel=0.15)


def test_noise_of_a_size_needs_no_scores_of_it_before(cohorts):
    first, second = (CountedMeasure(GiniExplained(), cohorts, above_chance=True) for _ in range(2))
    for cohort in range(len(cohorts)):
        first.of_levels(cohort, 1, 2, None)
    assert np.array_equal(first.noise(2).null, second.noise(2).null)


def test_a_numeric_target_is_scored_by_grids():
    from misfeat.information.measured import CountedGrids

    rng = np.random.default_rng(0)
    a = rng.integers(3, size=200)
    cohorts = build_cohorts({"a": a, "b": a % 2, "y": a + rng.normal(size=200)}, "y")
    measure = CountedGrids(GiniExplained(), cohorts, above_chance=True)
    (singles,) = measure.of_levels(0, 1, 1, None)
    means = np.mean([part.of_levels(0, 1, 1, None)[0] for part in measure.parts], axis=0)
    assert np.array_equal(singles, means)
    assert singles[0] > singles[1]


def test_gaps_are_refused_by_name():
    table = {"a": [0.0, 1.0, np.nan] * 20, "b": [0, 1] * 30, "y": [0, 1, 1, 0] * 15}
    cohorts = build_cohorts(table, "y", coding=Coding(sporadic="available"))
    with pytest.raises(MisfeatError, match=r"'a' is missing.*sporadic='category'"):
        CountedMeasure(GiniExplained(), cohorts)


class Wrong(CountMeasure):
    name, unit, words = "wrong", "units", "wrong"

    def __init__(self, what="shape"):
        self.what = what

    def of_counts(self, counts):
        return np.zeros(3) if self.what == "shape" else np.full(len(counts), np.nan)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Wrong(), r"Wrong\(\): of_counts gave float64 of shape \(3,\)"),
        (Wrong("nan"), "of_counts gave nan for the counts"),
        (type("Nameless", (Wrong,), {"unit": ""})(), "has no unit"),
        (type("Taken", (Wrong,), {"name": "r2"})(), "'r2', which is misfeat's own"),
    ],
)
def test_what_a_measure_gives_is_checked(measure, message, cohorts):
    with pytest.raises(MisfeatError, match=message):
        CountedMeasure(measure, cohorts)
