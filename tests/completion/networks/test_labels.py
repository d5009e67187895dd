from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.networks.labels import Labels, taught_subgroups, with_untaught_averaged

NAN = np.nan


def test_labels_are_split_into_what_is_learned_and_what_is_held_out():
    labels = Labels(np.arange(10), np.arange(10) / 10)
    train, held_out = labels.split(0.2, np.random.default_rng(0))
    assert (len(train.rows), len(held_out.rows)) == (8, 2)
    assert sorted([*train.rows, *held_out.rows]) == list(range(10))
    assert train.scores == pytest.approx(train.rows / 10)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_too_few_labels_are_both_learned_and_chosen_by(share):
    labels = Labels(np.arange(2), np.ones(2))
    assert labels.split(share, np.random.default_rng(0)) == (labels, labels)


def test_a_subgroup_is_taught_by_a_known_score_of_any_size():
    by_size = [np.array([[NAN, NAN], [0.1, NAN], [NAN, NAN]]), np.array([[NAN], [NAN], [0.3]])]
    assert taught_subgroups(by_size).tolist() == [False, True, True]


def test_an_untaught_subgroup_gets_the_mean_and_nothing_given_is_changed():
    guess = np.array([[1.0], [9.0], [3.0]])
    averaged = with_untaught_averaged(guess, np.array([True, False, True]))
    assert averaged.ravel().tolist() == [1, 2, 3]
    assert guess[1, 0] == 9
