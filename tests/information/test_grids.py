from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from misfeat.cohorts import Coding, build_cohorts
from misfeat.information.grids import GridInformation, information_of, target_entropies
from misfeat.information.measures import MutualInformation

SETS = np.array([[0], [1], [2]])


def table(seed=0, n_rows=200):
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n_rows))
    return {"a": a, "b": b, "c": c, "y": a + rng.normal(size=n_rows)}


def test_scores_are_means_over_the_grids():
    cohorts = build_cohorts(table(), "y")
    for above_chance in (False, True):
        measure = GridInformation(cohorts, above_chance=above_chance)
        own = [MutualInformation(grid, above_chance=above_chance) for grid in cohorts.by_grid()]
        assert len(own) == 4
        listed = np.mean([one.of_subsets(0, SETS, None) for one in own], axis=0)
        np.testing.assert_array_equal(measure.of_subsets(0, SETS, None), listed)
        np.testing.assert_allclose(measure.of_levels(0, 1, 1, None)[0], listed)
        assert measure.whole == pytest.approx(np.mean([one.whole for one in own]))


def test_classes_have_one_grid_their_own():
    held = build_cohorts(table(), "y", coding=Coding(target="classes"))
    assert isinstance(information_of(held), MutualInformation)
    assert held.by_grid() == (held,)
    assert target_entropies(held)[0] == pytest.approx(np.log(5))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), power=st.sampled_from([0.1, 1.0, 3.0]))
def test_scores_do_not_change_when_the_target_is_stretched(seed, power):
    plain = table(seed, 80)
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


def test_a_number_that_is_dealt_out_tells_nothing_on_the_mean():
    rng = np.random.default_rng(3)
    scores = [
        information_of(
            build_cohorts({"a": rng.normal(size=60), "y": rng.normal(size=60)}, "y"),
            above_chance=True,
        ).of_subsets(0, np.array([[0]]), None)[0]
        for _ in range(60)
    ]
    assert abs(np.mean(scores)) < 3 * np.std(scores) / np.sqrt(len(scores))
