from __future__ import annotations

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen.feature_map import feature_map


@pytest.fixture(scope="module")
def selection():
    data = make_cohorts(n_cohorts=6, n_rows=400, n_features=5, hide=0.3, random_state=4)
    return (
        SubgroupSelector(data.groups, size=2, random_state=0)
        .fit(data.columns, data.target)
        .selection_
    )


def test_shares_are_those_of_single_features(selection):
    found = feature_map(selection)
    for cohort, name in enumerate(selection.cohorts.names):
        for feature, column in enumerate(selection.feature_names):
            expected = selection.score_of(name, [column]) / selection.book.measure.whole[cohort]
            assert found.share[cohort, feature] == pytest.approx(expected)


def test_features_that_tell_more_come_first(selection):
    found = feature_map(selection)
    means = found.share.mean(axis=0)[list(found.features)]
    assert (np.diff(means) <= 0).all()


def test_every_subgroup_is_there_once(selection):
    assert sorted(feature_map(selection).subgroups) == list(range(6))


def test_subgroups_that_are_the_same_are_neighbours():
    rng = np.random.default_rng(0)
    n = 2400
    group = np.arange(n) % 4
    table = {"a": rng.integers(0, 2, n), "b": rng.integers(0, 2, n), "g": group}
    truth = np.where(group % 2 == 0, table["a"], table["b"])
    y = np.where(rng.random(n) < 0.15, 1 - truth, truth)
    selector = SubgroupSelector("g", size=1, estimate="above_chance").fit(table, y)
    order = feature_map(selector.selection_).subgroups
    assert {order[0] % 2, order[1] % 2} in ({0}, {1})


def test_recorded_cells_are_pale_by_their_p_value(selection):
    single, tests = selection.significances(1), selection.significances()
    found = feature_map(selection, single, tests)
    recorded = ~found.predicted
    nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
    expected = (single.p_values[1] > 0.05) | nothing
    assert np.array_equal(found.faded[recorded], expected[recorded])
