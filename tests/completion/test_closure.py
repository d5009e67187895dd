from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.completion.hiding import Truth
from misfeat.completion import ExactScores, InteractionsCompleter, Known, TransferCompleter
from misfeat.completion.parts import ceilings, closed_upwards
from misfeat.lattice import best_below, level, ranks_below
from tests.completion.coded import drawn_cohorts


@st.composite
def incomplete(draw):
    """Monotone scores of which some features and some sets are unknown, and wild guesses."""
    n, n_cohorts = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    missing = rng.random((n_cohorts, n)) < 0.3
    by_size = [np.zeros((n_cohorts, 1))]
    for size in range(1, n + 1):
        grown = best_below(by_size[-1], n, size)
        by_size.append(grown + 0.1 * rng.random(grown.shape))
    known = [by_size[0]]
    for size in range(1, n + 1):
        lost = missing[:, level(n, size)].any(axis=2) | (rng.random(by_size[size].shape) < 0.2)
        known.append(np.where(lost, np.nan, by_size[size]))
    exact = ExactScores(tuple(known), missing, by_size[n].max(axis=1) + 0.05)
    guesses = [by_size[0], *(rng.normal(0.3, 0.5, size=s.shape) for s in by_size[1:])]
    return exact, guesses


@given(incomplete())
def test_any_guess_becomes_monotone_and_no_exact_score_changes(case):
    exact, guesses = case
    n = exact.missing.shape[1]
    closed = closed_upwards(guesses, exact)
    for size in range(1, n + 1):
        known = ~np.isnan(exact.by_size[size])
        assert np.array_equal(closed[size][known], exact.by_size[size][known])
        parts = closed[size - 1][:, ranks_below(level(n, size))]
        assert (closed[size][:, :, None] >= parts).all()
        assert (closed[size] <= exact.ceiling[:, None]).all()


@given(incomplete())
def test_guesses_that_are_right_stay(case):
    exact, _ = case
    n = exact.missing.shape[1]
    truth = [exact.by_size[0]]
    for size in range(1, n + 1):
        grown = best_below(truth[-1], n, size)
        truth.append(np.where(np.isnan(exact.by_size[size]), grown, exact.by_size[size]))
    for ours, true in zip(closed_upwards(truth, exact), truth, strict=True):
        assert ours == pytest.approx(true)


def test_a_known_larger_set_limits_its_parts():
    exact = ExactScores(
        by_size=(np.zeros((1, 1)), np.array([[np.nan, 0.1]]), np.array([[0.3]])),
        missing=np.zeros((1, 2), dtype=bool),
        ceiling=np.array([0.9]),
    )
    assert ceilings(exact, 1).tolist() == [[0.3, 0.3]]
    assert closed_upwards([np.zeros((1, 1)), np.full((1, 2), 0.7)], exact)[1].tolist() == [
        [0.3, 0.1]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("completer", [TransferCompleter(), InteractionsCompleter()])
@given(seed=st.integers(0, 5))
def test_completers_are_monotone_over_all_sizes(completer, seed):
    cohorts = drawn_cohorts(seed, n_features=5)
    rng = np.random.default_rng(seed)
    known = Truth.of(cohorts, 4).hidden(rng.random(cohorts.missing.shape) < 0.4)
    scores = [completer.complete(Known(known.exact, known.cohorts), size) for size in range(1, 5)]
    for size in range(2, 5):
        parts = scores[size - 2].score[:, ranks_below(level(5, size))]
        assert (scores[size - 1].score[:, :, None] >= parts - 1e-12).all()
        exact = known.exact.by_size[size]
        assert np.array_equal(scores[size - 1].score[~np.isnan(exact)], exact[~np.isnan(exact)])
