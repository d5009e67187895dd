from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion.baselines.markov_blanket import markov_blanket

EFFECT = 2.0
"""How far a parent's value raises the log odds of the value that it favours."""


def random_network(rng, n_variables):
    """Parents of every variable, which come before it: one or two, the first two may have none."""
    return [
        rng.choice(v, size=rng.integers(min(v, 2) if v > 2 else 0, min(v, 2) + 1), replace=False)
        for v in range(n_variables)
    ]


def true_blanket(parents, target):
    """Parents, children and the other parents of the children; and these last ones alone."""
    children = [v for v, own in enumerate(parents) if target in own]
    near = {*parents[target].tolist(), *children}
    of_children = {int(p) for child in children for p in parents[child]} - {target}
    return near | of_children, of_children - near


def drawn(rng, parents, n_rows):
    """Rows of a network whose variables have two or three values, each parent with its effect."""
    cards = rng.integers(2, 4, size=len(parents))
    rows = np.zeros((len(parents), n_rows), dtype=np.int64)
    for v, own in enumerate(parents):
        log_odds = np.tile(rng.normal(0, 0.3, cards[v]), (n_rows, 1))
        for parent in own:
            favoured = rng.permutation(cards[v])[np.arange(cards[parent]) % cards[v]]
            log_odds += EFFECT * np.eye(cards[v])[favoured[rows[parent]]]
        chances = np.exp(log_odds) / np.exp(log_odds).sum(axis=1, keepdims=True)
        rows[v] = (rng.random(n_rows)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    return rows


@pytest.mark.parametrize("seed", range(6))
def test_the_blanket_of_a_known_network_is_found_exactly(seed):
    rng = np.random.default_rng(seed)
    parents = random_network(rng, 12)
    rows = drawn(rng, parents, 50_000)
    blankets = [true_blanket(parents, v) for v in range(12)]
    # Spouses tell nothing about a target by themselves; a blanket of seven variables is as large
    # as so many rows can tell.
    able = [v for v, (blanket, spouses) in enumerate(blankets) if spouses and len(blanket) <= 7]
    target = max(able, key=lambda v: len(blankets[v][1]))
    blanket, _ = blankets[target]
    others = np.array([v for v in range(12) if v != target])
    assert set(others[list(markov_blanket(rows[others], rows[target]))]) == blanket


def test_weighted_rows_give_the_same_as_rows_one_by_one():
    rng = np.random.default_rng(1)
    rows = drawn(rng, random_network(rng, 8), 5000)
    distinct, weights = np.unique(rows, axis=1, return_counts=True)
    assert len(weights) < 4000
    assert markov_blanket(rows[1:], rows[0]) == markov_blanket(distinct[1:], distinct[0], weights)


def test_rows_with_gaps_are_left_out_of_the_tests_that_need_them():
    rng = np.random.default_rng(2)
    cause, unrelated = rng.integers(2, size=(2, 3000))
    target = cause ^ (rng.random(3000) < 0.1)
    codes = np.array([cause, unrelated, cause])
    codes[:2, rng.random(3000) < 0.3] = -1
    codes[2, 20:] = -1
    assert markov_blanket(codes, target) == (0,)


def test_of_two_copies_one_is_enough():
    rng = np.random.default_rng(3)
    cause = rng.integers(3, size=2000)
    target = (cause + (rng.random(2000) < 0.3)) % 3
    assert len(markov_blanket(np.array([cause, cause]), target)) == 1


def test_with_few_rows_nothing_is_found_and_without_features_there_is_nothing():
    x = np.array([0, 1] * 5)
    assert markov_blanket(x[None], x) == ()
    assert markov_blanket(x[None], x, rows_per_cell=1) == (0,)
    assert markov_blanket(np.empty((0, 10), dtype=np.int64), x) == ()
