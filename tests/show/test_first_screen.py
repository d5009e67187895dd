from __future__ import annotations

import numpy as np
import pytest

from misfeat import SubgroupSelector
from misfeat.answers.significance import significance_tests
from misfeat.datasets import make_cohorts
from misfeat.show.first_screen import feature_map


@pytest.fixture(scope="module")
def selection():
    data = make_cohorts(n_cohorts=6, n_rows=400, n_features=5, hide=0.3, random_state=4)
    selector = SubgroupSelector(data.groups, size=2, random_state=0)
    return selector.fit(data.columns, data.target).selection_


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


def test_the_map_has_shares_of_single_features_the_best_first_and_pale_by_p_value(selection):
    found, whole = feature_map(selection), selection.set_scores.measure.whole
    for cohort, name in enumerate(selection.cohorts.names):
        for feature, column in enumerate(selection.feature_names):
            expected = selection.score_of(name, [column]) / whole[cohort]
            assert found.share[cohort, feature] == pytest.approx(expected)
    means = found.share.mean(axis=0)[list(found.features)]
    assert (np.diff(means) <= 0).all()
    assert sorted(found.subgroups) == list(range(6))
    single, tests = significance_tests(selection, 1), significance_tests(selection)
    found = feature_map(selection, single, tests)
    recorded = ~found.predicted
    nothing = np.array([[not one.more_than_chance] for one in tests.subgroups])
    expected = (single.p_values[1] > 0.05) | nothing
    assert np.array_equal(found.faded[recorded], expected[recorded])
