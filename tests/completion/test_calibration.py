from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.completion.hiding import Truth
from misfeat.completion import InteractionsCompleter
from misfeat.completion.base import ErrorModel, HiddenErrors, hidden_errors, hiding_rounds
from tests.completion.coded import drawn_cohorts


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_only_what_another_cohort_has_left_is_hidden_and_something_stays(n_cohorts, n, seed):
    rng = np.random.default_rng(seed)
    missing = rng.random((n_cohorts, n)) < 0.4
    for mask in hiding_rounds(missing, 3, rng):
        assert not (mask & missing).any()
        assert (~missing & ~mask).any(axis=0)[mask.any(axis=0)].all()
        assert mask.any(axis=1).sum() <= max(1, round(n_cohorts / 4))
        kept = (~missing & ~mask).sum(axis=1)
        assert (kept[mask.any(axis=1)] >= 1).all()


def hidden_of(errors, causes=None, clusters=None):
    n = len(errors)
    return HiddenErrors(
        np.asarray(errors),
        np.ones((n, 3)) if causes is None else causes,
        np.arange(n) if clusters is None else clusters,
    )


def test_an_interval_holds_as_many_errors_as_asked():
    rng = np.random.default_rng(0)

    def drawn():
        causes = np.column_stack([rng.random((5000, 2)), rng.integers(2, size=5000)])
        return rng.normal(size=5000) * (0.2 + causes[:, 0] + 0.5 * causes[:, 2]), causes

    model = ErrorModel(hidden_of(*drawn()), 0.9)
    new_errors, new = drawn()
    assert np.mean(np.abs(new_errors) <= model.half_width(new)) == pytest.approx(0.9, abs=0.02)
    wide, narrow = model.half_width(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]))
    assert wide > 2 * narrow
    apart, together = model.half_width(np.array([[0.2, 0.5, 1.0], [0.2, 0.5, 0.0]]))
    assert apart > 1.5 * together


def test_few_clusters_give_wider_intervals_and_too_few_none():
    errors = np.random.default_rng(0).normal(size=400)
    many = ErrorModel(hidden_of(errors), 0.9)
    few = ErrorModel(hidden_of(errors, clusters=np.arange(400) % 8), 0.9)
    causes = np.ones((1, 3))
    assert few.half_width(causes) > many.half_width(causes)
    assert not ErrorModel(hidden_of(errors, clusters=np.arange(400) % 3), 0.9).knows


def test_hidden_scores_are_compared_with_the_truth():
    known = Truth.of(drawn_cohorts(), 2).hidden(np.zeros((3, 5), dtype=bool))
    hidden = hidden_errors(InteractionsCompleter(), known, 2, rounds=3, seed=1)
    again = hidden_errors(InteractionsCompleter(), known, 2, rounds=3, seed=1)
    assert np.array_equal(hidden.errors, again.errors)
    assert len(hidden.errors) == len(hidden.causes) == len(hidden.clusters) > 0
    assert 0 < np.abs(hidden.errors).mean() < 0.3


def test_an_interval_is_never_narrower_than_chance_alone_asks_for():
    rng = np.random.default_rng(0)
    # Hidden features that tell nothing are guessed well, whatever chance does to strong ones.
    causes = np.column_stack([rng.uniform(0, 0.01, 200), np.zeros(200), np.zeros(200)])
    hidden = HiddenErrors(rng.normal(0, 1e-4, 200), causes, np.arange(200) // 10)
    half = ErrorModel(hidden, 0.9).half_width(np.array([[[0.05, 0.3, 0.0]]]))
    assert half[0, 0] == pytest.approx(0.05 * 1.6449, abs=1e-5)
