from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.common.tables import redrawn
from misfeat import MisfeatError
from misfeat.cohorts import build_cohorts
from misfeat.datasets import make_cohorts
from misfeat.datasets.population import LARGEST_SHARE, random_mask
from misfeat.information import joint_mutual_info


@pytest.mark.slow
def test_samples_approach_the_scores_of_their_population():
    data = make_cohorts(n_cohorts=2, n_rows=200_000, n_features=4, hide=0, random_state=1)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    for cohort in cohorts:
        for subset in combinations(range(4), 2):
            names = [cohorts.features[f] for f in subset]
            found = joint_mutual_info(cohort, np.array([subset]))[0]
            assert found == pytest.approx(data.true_score(cohort.name, names), abs=2e-3)


def test_the_joint_table_of_a_population_is_a_distribution():
    (population,) = make_cohorts(n_cohorts=1, n_rows=10, random_state=0).populations.values()
    joint = population.joint([0, 3, 5])
    assert joint.shape == (27, 2)
    assert joint.sum() == pytest.approx(1)
    assert joint.sum(axis=0) == pytest.approx(population.classes)


def test_a_seed_gives_the_same_table_and_another_seed_another():
    first, again, other = (make_cohorts(n_rows=100, random_state=seed) for seed in (3, 3, 4))
    for name, column in first.columns.items():
        assert np.array_equal(column, again.columns[name], equal_nan=column.dtype.kind == "f")
    assert not np.array_equal(first.complete["f1"], other.complete["f1"])


def test_hidden_features_are_missing_and_the_complete_table_is_kept():
    data = make_cohorts(n_rows=200, hide=0.4, random_state=0)
    cohorts = build_cohorts(data.columns, data.target, groups=data.groups)
    assert cohorts.missing.any(axis=1).all()
    for name, column in data.columns.items():
        seen = column == column
        assert np.array_equal(column[seen], data.complete[name][seen])


def test_names_must_be_as_many_as_there_are_things_to_name():
    named = make_cohorts(2, 10, 2, feature_names=["a", "b"], cohort_names=["p", "q"])
    assert list(named.columns) == ["cohort", "a", "b", "target"]
    with pytest.raises(MisfeatError, match=r"feature_names=\['a'\] has 1 names for n_features=2"):
        make_cohorts(2, 10, 2, feature_names=["a"])


def test_redrawn_features_follow_the_population_and_others_stay():
    data = make_cohorts(2, 40_000, 4, hide=0.0, random_state=0)
    mask = np.array([[True, False, True, False], [False, False, False, False]])
    again = redrawn(data, mask, np.random.default_rng(1))
    first = data.complete["cohort"] == "c1"
    for name, hidden in zip(("f1", "f2", "f3", "f4"), mask[0], strict=True):
        assert np.array_equal(again[name][~first], data.complete[name][~first])
        assert np.array_equal(again[name][first], data.complete[name][first]) == (not hidden)
    cohort = build_cohorts(again, data.target, groups=data.groups)["cohort=c1"]
    for subset in ([0], [0, 1], [0, 2], [0, 1, 2], [2, 3]):
        found = joint_mutual_info(cohort, np.array([subset]))[0]
        names = [f"f{feature + 1}" for feature in subset]
        assert found == pytest.approx(data.true_score(cohort.name, names), abs=3e-3)


@given(
    n_cohorts=st.integers(2, 9),
    n_features=st.integers(2, 25),
    p=st.floats(0.01, 1.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_masks_keep_their_promises(n_cohorts, n_features, p, seed):
    mask = random_mask(n_cohorts, n_features, p, np.random.default_rng(seed))
    hidden = mask.sum(axis=1)
    assert hidden.min() >= 1
    assert hidden.max() <= max(1, int(LARGEST_SHARE * n_features))
    assert not mask.all(axis=0).any()


def test_nothing_is_hidden_without_a_probability_or_from_a_single_cohort():
    rng = np.random.default_rng(0)
    assert not random_mask(3, 5, 0.0, rng).any()
    assert not random_mask(1, 5, 0.9, rng).any()
