from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.completion.hiding import Truth, sampled
from misfeat import MisfeatError
from misfeat.completion import (
    AutoCompleter,
    BaseCompleter,
    ExactScores,
    Guess,
    InteractionsCompleter,
    Known,
    TransferCompleter,
)
from misfeat.completion.base import closed_upwards
from misfeat.completion.completer_data import guess_of, support_of
from misfeat.completion.conformal_intervals import (
    HiddenErrors,
    half_widths,
    hidden_errors,
    hiding_rounds,
)
from misfeat.datasets.population import random_mask
from misfeat.lattice.levels import best_below, level, ranks_below
from misfeat.testing import _same as same
from misfeat.testing import known_of, random_cohorts
from tests.completion.coded import drawn_cohorts


@pytest.fixture(scope="module")
def hidden():
    return Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))


def test_a_size_without_scores_is_refused(hidden):
    for size, completer in product((0, 3), (AutoCompleter(), InteractionsCompleter())):
        with pytest.raises(MisfeatError, match=f"size={size}"):
            completer.complete(hidden, size)


def test_what_is_kept_of_a_guess_is_that_of_the_table_and_not_of_a_round():
    class Keeping(InteractionsCompleter):
        def guess(self, known, size):
            self.n_missing_ = known.exact.missing.sum()
            return super().guess(known, size)

    known = Truth.of(drawn_cohorts(n_features=6), 2).hidden(np.eye(3, 6, dtype=bool))
    completer = Keeping(confidence=0.8)
    completed = completer.complete(known, 2)
    assert (completed.high < known.exact.bounds(2)[1]).any()  # there were rounds
    assert completer.n_missing_ == 3


def test_an_own_way_to_combine_holds_in_the_rounds_too():
    class Half(InteractionsCompleter):
        """Says half of what it guesses."""

        def combined(self, guess, exact):
            known = exact.by_size[len(guess.by_size) - 1]
            return np.where(np.isnan(known), guess.by_size[-1] / 2, known)

    known = Truth.of(drawn_cohorts(n_features=6), 2).hidden(np.eye(3, 6, dtype=bool))
    halved, plain = (
        kind(confidence=0.8).complete(known, 2) for kind in (Half, InteractionsCompleter)
    )
    wide = (halved.high - halved.score)[halved.predicted].mean()
    assert wide > 2 * (plain.high - plain.score)[plain.predicted].mean()


def test_a_feature_recorded_nowhere_keeps_the_certain_bounds_and_says_so():
    mask = np.zeros((3, 5), dtype=bool)
    mask[:, 2] = True
    known = Truth.of(drawn_cohorts(), 2).hidden(mask)
    completed = TransferCompleter().complete(known, 2)
    low, high = known.exact.bounds(2)
    with_it = (level(5, 2) == 2).any(axis=1)
    assert (completed.support[:, with_it] == 0).all()
    assert np.array_equal(completed.low[:, with_it], low[:, with_it])
    assert np.array_equal(completed.high[:, with_it], high[:, with_it])


def test_sets_that_were_recorded_but_not_scored_keep_certain_bounds():
    truth = Truth.of(drawn_cohorts(n_features=6, n_rows=600), 3)
    mask = random_mask(3, 6, 0.2, np.random.default_rng(0))
    known = truth.hidden(mask)
    exact = sampled(known.exact, 0.5, "arbitrary", np.random.default_rng(0))
    completed = TransferCompleter().complete(replace(known, exact=exact), 3)
    skipped = np.isnan(exact.by_size[3]) & ~np.isnan(known.exact.by_size[3])
    assert skipped.any()
    low, high = exact.bounds(3)
    assert np.array_equal(completed.low[skipped], low[skipped])
    assert np.array_equal(completed.high[skipped], high[skipped])
    true = truth.exact.by_size[3]
    assert ((low - 1e-12 <= true) & (true <= high + 1e-12)).all()


def test_one_cohort_learns_nothing_from_others():
    mask = np.zeros((1, 5), dtype=bool)
    mask[0, :2] = True
    known = Truth.of(drawn_cohorts(n_cohorts=1), 2).hidden(mask)
    for completer in (TransferCompleter(), AutoCompleter(), InteractionsCompleter()):
        completed = completer.complete(known, 2)
        assert (completed.support[completed.predicted] == 0).all()
        assert (completed.high[completed.predicted] == known.exact.ceiling[0]).all()


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


class Said(BaseCompleter):
    """Guesses what it is told to."""

    def __init__(self, make=None):
        super().__init__()
        self.make = make

    def guess(self, known, size):
        return self.make([scores.copy() for scores in known.exact.by_size[: size + 1]])


def test_what_is_not_a_guess_is_refused_in_words_and_no_guess_is_above_the_ceiling():
    known = known_of(random_cohorts(3, hidden=0.3), 2)
    for make, message in (
        (lambda _: None, "guess must return Guess.of"),
        (lambda scores: scores, "guess must return Guess.of"),
        (lambda scores: Guess.of(scores[:-1]), "of sizes 0 to 2"),
        (lambda s: Guess.of([*s[:-1], np.zeros((1, 1))]), "in arrays of the shapes"),
        (lambda scores: Guess.of([*scores[:-1], scores[-1] + np.inf]), "is infinite"),
    ):
        with pytest.raises(MisfeatError, match=message):
            guess_of(Said(make), known, 2)
    high = guess_of(Said(lambda scores: Guess.of([np.full_like(s, 9.0) for s in scores])), known, 2)
    assert all((scores == known.exact.ceiling[:, None]).all() for scores in high.by_size)


def test_rows_are_transferred(hidden):
    auto, transfer = AutoCompleter(confidence=0.8), TransferCompleter(confidence=0.8)
    assert same(auto.complete(hidden, 2), transfer.complete(hidden, 2))
    assert auto.chosen_ == "transfer"
    guess, expected = auto.guess(hidden, 2), transfer.guess(hidden, 2)
    assert np.array_equal(guess.by_size[2], expected.by_size[2])
    assert np.array_equal(guess.deviation, expected.deviation, equal_nan=True)


def test_scores_alone_are_used_where_there_are_no_rows(hidden):
    auto, interactions = AutoCompleter(rounds=3), InteractionsCompleter(rounds=3)
    scores_only = Known(hidden.exact)
    assert same(auto.complete(scores_only, 2), interactions.complete(scores_only, 2))
    assert auto.chosen_ == "interactions"
    with pytest.raises(MisfeatError, match="needs the rows of all subgroups"):
        TransferCompleter().complete(scores_only, 2)


NAN = np.nan


def scores(closed=True):
    return ExactScores(
        by_size=(
            np.zeros((2, 1)),
            np.array([[0.1, 0.2, 0.3], [0.4, NAN, 0.2]]),
            np.array([[0.25, 0.35, NAN], [NAN, 0.5, NAN]]),
        ),
        missing=np.array([[False, False, False], [False, True, False]]),
        ceiling=np.array([0.6, 0.7]),
        closed=closed,
    )


def test_bounds_are_the_best_known_part_and_the_ceiling():
    low, high = scores().bounds(2)
    # The set {1, 2} of cohort 0 was recorded but not computed; its parts were.
    assert low.tolist() == [[0.25, 0.35, 0.3], [0.4, 0.5, 0.2]]
    assert high.tolist() == [[0.25, 0.35, 0.6], [0.7, 0.5, 0.7]]


def test_a_part_bounds_nothing_where_larger_sets_may_score_lower():
    low, _ = scores(closed=False).bounds(2)
    assert low.tolist() == [[0.25, 0.35, 0.0], [0.0, 0.5, 0.0]]


def test_hiding_removes_every_set_with_a_hidden_feature():
    left = scores().hidden(np.array([[True, False, False], [False, False, False]]))
    assert np.isnan(left.by_size[1]).tolist() == [[True, False, False], [False, True, False]]
    assert np.isnan(left.by_size[2]).tolist() == [[True, True, True], [True, False, True]]
    assert left.missing.tolist() == [[True, False, False], [False, True, False]]
    assert not np.isnan(scores().by_size[1][0]).any()


def test_support_tells_what_was_recorded_together():
    # 0 lacks a; a and b were recorded together in 1, a and c nowhere; d nowhere at all.
    missing = np.array(
        [[True, False, False, True], [False, False, True, True], [True, False, False, True]]
    )
    subsets = level(4, 2)
    names = {tuple(s): place for place, s in enumerate(subsets.tolist())}
    support = support_of(missing, subsets)[0]
    assert support[names[0, 1]] == 3
    assert support[names[0, 2]] == 1
    assert support[names[1, 2]] == 4
    assert support[names[0, 3]] == 0
    triple = support_of(missing[:, :3], level(3, 3))
    assert triple.ravel().tolist() == [1, 1, 1]
    in_pairs = np.array([[True, False, False], [False, True, False], [False, False, True]])
    assert support_of(in_pairs, level(3, 3)).ravel().tolist() == [2, 2, 2]


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

    hidden = hidden_of(*drawn())
    new_errors, new = drawn()
    half = half_widths(hidden, new, 0.9)
    assert np.mean(np.abs(new_errors) <= half) == pytest.approx(0.9, abs=0.02)
    wide, narrow = half_widths(hidden, np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]), 0.9)
    assert wide > 2 * narrow
    apart, together = half_widths(hidden, np.array([[0.2, 0.5, 1.0], [0.2, 0.5, 0.0]]), 0.9)
    assert apart > 1.5 * together


def test_few_clusters_give_wider_intervals_and_too_few_none():
    errors = np.random.default_rng(0).normal(size=400)
    many, causes = hidden_of(errors), np.ones((1, 3))
    few = half_widths(hidden_of(errors, clusters=np.arange(400) % 8), causes, 0.9)
    assert few > half_widths(many, causes, 0.9) > half_widths(many, causes, 0.5)
    assert half_widths(hidden_of(errors, clusters=np.arange(400) % 3), causes, 0.9) is None


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
    half = half_widths(hidden, np.array([[[0.05, 0.3, 0.0]]]), 0.9)
    assert half[0, 0] == pytest.approx(0.05 * 1.6449, abs=1e-5)
