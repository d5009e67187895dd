import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from misfeat.estimation.significance import (
    PILOTS,
    REACHED,
    false_discovery_control,
    max_test,
    p_values,
)
from misfeat.runtime.threads import Work


def besag_clifford(maxima, statistic, permutations):
    """The p-value as the paper says it, one score at a time."""
    reached = 0
    for deal, value in enumerate(maxima, start=1):
        reached += value >= statistic
        if reached == REACHED:
            return REACHED / deal
    assert len(maxima) == permutations
    return (reached + 1) / (permutations + 1)


@given(st.integers(0, 2**32 - 1), st.integers(20, 200))
def test_p_values_are_those_of_one_score_at_a_time(seed, permutations):
    rng = np.random.default_rng(seed)
    maxima = np.round(rng.standard_normal(permutations), 1)
    statistics = np.round(rng.standard_normal(9) * 2, 1)
    expected = [besag_clifford(maxima, s, permutations) for s in statistics]
    assert p_values(maxima, statistics, permutations) == pytest.approx(expected)


class Drawn:
    """Deals of normal scores of several sets, the recorded one with an effect or none."""

    def __init__(self, seed, effect=0.0, n_sets=30):
        rng = np.random.default_rng(seed)
        scale = rng.uniform(0.5, 3.0, n_sets)
        shared = rng.standard_normal((3000, 1))
        own = rng.standard_normal((3000, n_sets))
        self._scores = scale * np.square(5 + (shared + own) / 2)
        self._scores[0, 0] += effect * self._scores[:, 0].std()
        self.subsets = (np.arange(n_sets)[:, None],)
        self.asked = 0

    def scores(self, first, last, work):
        self.asked = max(self.asked, last)
        return self._scores[first:last]


def test_p_values_are_uniform_where_nothing_tells():
    tests = [max_test(Drawn(seed), Work(), permutations=199) for seed in range(400)]
    found = np.array([test.p_value for test in tests])
    for level in (0.05, 0.2, 0.5):
        low, high = binom.ppf([1e-4, 1 - 1e-4], len(found), level)
        assert low <= (found <= level).sum() <= high


def test_an_effect_is_found_and_named():
    test = max_test(Drawn(1, effect=8.0), Work(), permutations=199)
    assert test.p_value == pytest.approx(1 / 200)
    assert test.best == (0,)
    assert test.p_values_of(0)[0] == test.p_value
    assert (test.p_values_of(0)[1:] > 0.02).all()


def test_permuting_stops_where_nothing_is_to_be_found():
    deals = Drawn(3)
    test = max_test(deals, Work(), permutations=999)
    assert (test.maxima >= test.statistics[0].max()).sum() >= REACHED
    assert deals.asked == 1 + PILOTS + len(test.maxima) < 500


def test_only_sets_that_are_searched_count():
    searched = {"permutations": 199, "searched": lambda sets: sets[:, 0] > 0}
    test = max_test(Drawn(1, effect=8.0), Work(), **searched)
    assert test.p_value > 0.05
    assert (test.n_sets, test.p_values_of(0)[0]) == (29, 1.0)


def test_sets_that_cannot_vary_have_no_say():
    deals = Drawn(1)
    deals._scores[:, 4] = 0.0
    test = max_test(deals, Work(), permutations=99)
    assert test.p_values_of(0)[4] == 1.0
    deals._scores[:, 5] = np.nan  # no row has all features of the set
    test = max_test(deals, Work(), permutations=99)
    assert test.p_values_of(0)[5] == 1.0
    assert np.isfinite(test.maxima).all()
    deals._scores[:] = 0.0
    nothing = max_test(deals, Work(), permutations=99)
    assert (nothing.n_sets, nothing.p_value, len(nothing.maxima)) == (0, 1.0, 0)


def test_progress_is_told_and_can_stop_the_work():
    told = []
    max_test(Drawn(1, effect=8.0), Work(None, lambda *step: told.append(step)), permutations=99)
    assert told[-1] == (99, 99)

    def stop(done, total):
        raise InterruptedError

    with pytest.raises(InterruptedError):
        max_test(Drawn(1), Work(None, stop), permutations=99)


def test_adjusted_p_values_are_never_below_their_own_even_by_rounding():
    assert false_discovery_control([0.35] * 3).tolist() == [0.35] * 3
