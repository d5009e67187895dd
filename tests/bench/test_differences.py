from __future__ import annotations

import pytest

from misfeat.bench.differences import WHAT, mean_addition, trial


def test_a_trial_says_whether_every_interval_holds_and_can_be_repeated():
    held = trial(100, 200, seed=1)
    assert set(held) == set(WHAT)
    assert trial(100, 200, seed=1) == held


def test_the_mean_addition_of_three_features_is_the_shapley_value():
    scores = {"": 0.0, "a": 1.0, "b": 2.0, "c": 4.0, "ab": 3.0, "ac": 7.0, "bc": 6.0, "abc": 10.0}

    def truth(*features):
        return scores["".join(sorted(features))]

    # Orders abc, acb, bac, cab, bca, cba: what a adds in each.
    expected = (1 + 1 + 1 + 3 + 4 + 4) / 6
    assert mean_addition("a", "abc", truth) == pytest.approx(expected)
    total = sum(mean_addition(name, "abc", truth) for name in "abc")
    assert total == pytest.approx(10.0)
