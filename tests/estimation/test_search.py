"""A search finds what scoring all sets finds, at a fraction of the sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misfeat.estimation.search import forward_path, search_sets
from misfeat.lattice.levels import level


class Counted:
    """Sums of what features are worth, and of what groups of them are worth together."""

    def __init__(self, alone, together=None):
        self.alone, self.together = np.asarray(alone, dtype=float), together or {}
        self.sets = 0

    def __call__(self, sets):
        self.sets += len(sets)
        more = [
            sum(worth for group, worth in self.together.items() if set(group) <= set(members))
            for members in sets.tolist()
        ]
        return self.alone[sets].sum(axis=1) + more


def test_the_best_sets_are_found_best_first_with_few_looked_at():
    score = Counted(np.random.default_rng(0).permutation(30) / 30)
    found = search_sets(score, range(30), 8, keep=5)
    expected = np.sort(np.argsort(-score.alone)[:8])
    assert found[0].tolist() == expected.tolist()
    assert len(found) == 5
    assert np.all(np.diff(score(found)) <= 0)
    assert score.sets < 5_000  # of 5,852,925


def test_what_is_worth_something_together_alone_is_found_where_it_is_named():
    group = (3, 11, 17)
    score = Counted(np.linspace(0, 0.1, 20), {group: 5.0})
    assert not set(group) <= set(search_sets(score, range(20), 6)[0].tolist())
    assert set(group) <= set(search_sets(score, range(20), 6, together=[group])[0].tolist())


def test_an_exchange_mends_a_greedy_start():
    """Two features are best together; the best single feature is worth nothing beside them."""
    score = Counted([0.6, 0.5, 0.5], {(0, 1): -0.5, (0, 2): -0.5})
    assert forward_path(score, range(3), 2) != [1, 2]
    assert search_sets(score, range(3), 2)[0].tolist() == [1, 2]


def test_every_set_holds_what_is_to_be_included():
    found = search_sets(Counted(np.arange(10) / 10), range(10), 3, include=[2, 0]).tolist()
    assert found[0] == [0, 2, 9]
    assert all({0, 2} <= set(members) for members in found)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_sums_of_worths_are_maximised(seed, size):
    rng = np.random.default_rng(seed)
    score = Counted(rng.random(7), {(1, 4): float(rng.random())})
    every = level(7, size)
    best = score(search_sets(score, range(7), size, together=[(1, 4)])[:1])
    assert best[0] == pytest.approx(score(every).max())
