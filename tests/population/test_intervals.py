from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat.lattice import level, ranks_below
from misfeat.population.intervals import Intervals, closed, intervals_of
from misfeat.population.posterior import Posterior


def posterior(mean, variance):
    mean = np.array(mean)
    return Posterior(mean, np.array(variance), mean, np.ones(mean.shape), np.ones(len(mean)), 0.0)


def test_bounds_lie_as_many_deviations_off_as_the_confidence_asks_for():
    found = intervals_of(posterior([[0.3]], [[0.01]]), 0.9, [1.0])
    assert found.low[0, 0] == pytest.approx(0.3 - 0.1644854, abs=1e-6)
    assert found.high[0, 0] == pytest.approx(0.3 + 0.1644854, abs=1e-6)


def test_nothing_is_below_zero_or_above_the_entropy_of_the_target():
    found = intervals_of(posterior([[-0.02, 0.6], [0.1, 0.6]], [[0.01] * 2] * 2), 0.95, [0.5, 0.7])
    assert found.low.min() == 0.0
    assert found.score[0].tolist() == [0.0, 0.5]
    assert found.high.max(axis=1).tolist() == [0.5, 0.7]


def test_what_is_not_known_stays_so():
    found = intervals_of(posterior([[np.nan, 0.1]], [[np.nan, 0.01]]), 0.9, [0.5])
    for values in (found.score, found.low, found.high):
        assert np.isnan(values).tolist() == [[True, False]]


@given(st.integers(0, 1000))
def test_no_set_tells_less_than_a_part_of_it(seed):
    rng = np.random.default_rng(seed)
    by_size = []
    for size in (1, 2, 3):
        ordered = np.sort(rng.random((3, 2, len(level(5, size)))), axis=0)
        ordered[:, rng.random(ordered.shape[1:]) < 0.2] = np.nan
        by_size.append(Intervals(score=ordered[1], low=ordered[0], high=ordered[2]))
    found = closed(by_size, n_features=5)
    for size in (2, 3):
        for name in ("score", "low", "high"):
            own, below = getattr(found[size - 1], name), getattr(found[size - 2], name)
            for part in ranks_below(level(5, size)).T:
                assert not (own < below[:, part]).any()
            assert not (own < getattr(by_size[size - 1], name)).any()
        assert not (found[size - 1].low > found[size - 1].score).any()
        assert not (found[size - 1].score > found[size - 1].high).any()
        for own, shown in zip(by_size[size - 1].score, found[size - 1].score, strict=True):
            known = ~np.isnan(own)
            assert np.argsort(own[known]).tolist() == np.argsort(shown[known]).tolist()


def test_sets_above_their_parts_stay_as_they_are():
    singles = Intervals(*np.array([[[0.1, 0.2]], [[0.0, 0.1]], [[0.2, 0.3]]]))
    pair = Intervals(*np.array([[[0.3]], [[0.2]], [[0.4]]]))
    found = closed([singles, pair], 2)
    assert found[0] is singles
    assert (found[1].score, found[1].low, found[1].high) == (0.3, 0.2, 0.4)


def test_sets_that_look_the_same_are_raised_alike_in_any_order_of_columns():
    singles = np.array([[0.0, 0.3, 0.0, 0.0]])
    pairs = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    found = closed([Intervals(*[singles] * 3), Intervals(*[pairs] * 3)], n_features=4)[1].score[0]
    holds = (level(4, 2) == 1).any(axis=1)
    assert (found[holds] == 0.3).all()
    assert (found[~holds] == 0.0).all()
