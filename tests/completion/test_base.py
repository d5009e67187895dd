from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.completion.hiding import Truth, sampled
from misfeat import MisfeatError, SubgroupSelector
from misfeat.answers.top import best_sets
from misfeat.completion import AutoCompleter, InteractionsCompleter, TransferCompleter
from misfeat.datasets.population import random_mask
from misfeat.lattice import level
from tests.completion.coded import drawn_cohorts


def test_nothing_missing_is_the_exact_answer():
    known = Truth.of(drawn_cohorts(), 3).hidden(np.zeros((3, 5), dtype=bool))
    for completer in (TransferCompleter(), AutoCompleter()):
        completed = completer.complete(known, 3)
        assert np.array_equal(completed.score, known.exact.by_size[3])
        assert not completed.predicted.any()


@pytest.mark.parametrize("size", [0, 3])
def test_a_size_without_scores_is_refused(size):
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    for completer in (AutoCompleter(), InteractionsCompleter()):
        with pytest.raises(MisfeatError, match=f"size={size}"):
            completer.complete(known, size)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0; it must lie between 0 and 1"),
        ({"confidence": "high"}, "confidence='high'"),
        ({"rounds": -1}, "rounds=-1"),
        ({"random_state": 0.5}, "random_state=0.5"),
        ({"table_size": 4}, "table_size=4; it must be 2 or 3"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    with pytest.raises(MisfeatError, match=message):
        TransferCompleter(**settings).complete(known, 2)


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


def test_a_higher_confidence_gives_wider_intervals():
    known = Truth.of(drawn_cohorts(n_rows=600), 2).hidden(np.eye(3, 5, dtype=bool))
    widths = []
    for confidence in (0.5, 0.8, 0.95):
        completed = TransferCompleter(confidence=confidence).complete(known, 2)
        widths.append((completed.high - completed.low)[completed.predicted].mean())
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


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


@pytest.mark.slow
def test_intervals_hold_the_one_feature_that_tells_something():
    held = [interval_holds_planted_signal(seed) for seed in range(30)]
    assert np.mean(held) >= 0.85


def interval_holds_planted_signal(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    site = rng.choice(list("abcd"), 1000)
    table = {f"f{i}": rng.integers(0, 2, 1000).astype(float) for i in range(5)}
    y = np.where(rng.random(1000) < 0.9, table["f3"], 1 - table["f3"])
    table["site"] = site
    whole = SubgroupSelector("site", size=1).fit(table, y)
    gaps = {**table, "f3": np.where(site == "a", np.nan, table["f3"])}
    found = best_sets(
        SubgroupSelector("site", size=1).fit(gaps, y).selection_, k=1, subgroup="site=a"
    )[0]
    assert found.source == "predicted"
    return found.low <= whole.score_of("site=a", ["f3"]) <= found.high


@pytest.mark.parametrize(
    "completer", [TransferCompleter(), InteractionsCompleter(), AutoCompleter()]
)
def test_intervals_lie_within_the_certain_bounds_and_exact_scores_have_none(completer):
    truth = Truth.of(drawn_cohorts(n_features=6, n_rows=600), 3)
    known = truth.hidden(random_mask(3, 6, 0.3, np.random.default_rng(0)))
    completed = completer.complete(known, 3)
    certain = completer.set_params(confidence=None).complete(known, 3)
    completer.set_params(confidence=0.9)
    assert np.array_equal(completed.score, certain.score)
    assert (certain.low <= completed.low).all()
    assert (completed.high <= certain.high).all()
    assert (completed.high < certain.high)[completed.predicted].any()
    assert (completed.low <= completed.score + 1e-12).all()
    assert (completed.score <= completed.high + 1e-12).all()
    assert (completed.low == completed.high)[~completed.predicted].all()


def test_one_cohort_learns_nothing_from_others():
    mask = np.zeros((1, 5), dtype=bool)
    mask[0, :2] = True
    known = Truth.of(drawn_cohorts(n_cohorts=1), 2).hidden(mask)
    for completer in (TransferCompleter(), AutoCompleter(), InteractionsCompleter()):
        completed = completer.complete(known, 2)
        assert (completed.support[completed.predicted] == 0).all()
        assert (completed.high[completed.predicted] == known.exact.ceiling[0]).all()
