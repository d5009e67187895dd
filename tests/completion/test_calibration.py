from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misfeat import MisfeatError, SubgroupSelector
from misfeat.bench.hiding import Truth, sampled
from misfeat.completion import AutoCompleter, GainCompleter, Known, TransferCompleter
from misfeat.completion.auto import _better
from misfeat.completion.baselines.gain import GainGuesser
from misfeat.completion.calibration import ErrorModel, Trial, hiding_rounds, try_out
from misfeat.completion.support import support_of
from misfeat.datasets.hiding import random_mask
from misfeat.lattice import level
from tests.completion.transfer.test_model import drawn_cohorts


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


def test_cohorts_take_turns_in_hiding():
    masks = np.array(list(hiding_rounds(np.zeros((4, 10), bool), 8, np.random.default_rng(0))))
    assert masks.any(axis=2).sum(axis=0).tolist() == [2, 2, 2, 2]
    assert masks.sum() == 8 * 2  # a fifth of ten features a round


def trial_of(errors, reasons=None, clusters=None):
    n = len(errors)
    return Trial(
        np.asarray(errors),
        np.ones((n, 3)) if reasons is None else reasons,
        np.arange(n) if clusters is None else clusters,
        np.zeros(0),
    )


def test_an_interval_holds_as_many_errors_as_asked():
    rng = np.random.default_rng(0)

    def drawn():
        reasons = np.column_stack([rng.random((5000, 2)), rng.integers(2, size=5000)])
        return rng.normal(size=5000) * (0.2 + reasons[:, 0] + 0.5 * reasons[:, 2]), reasons

    model = ErrorModel(trial_of(*drawn()), 0.9)
    new_errors, new = drawn()
    assert np.mean(np.abs(new_errors) <= model.half_width(new)) == pytest.approx(0.9, abs=0.02)
    wide, narrow = model.half_width(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]))
    assert wide > 2 * narrow
    apart, together = model.half_width(np.array([[0.2, 0.5, 1.0], [0.2, 0.5, 0.0]]))
    assert apart > 1.5 * together


def test_few_clusters_give_wider_intervals_and_too_few_none():
    errors = np.random.default_rng(0).normal(size=400)
    many = ErrorModel(trial_of(errors), 0.9)
    few = ErrorModel(trial_of(errors, clusters=np.arange(400) % 8), 0.9)
    reasons = np.ones((1, 3))
    assert few.half_width(reasons) > many.half_width(reasons)
    assert not ErrorModel(trial_of(errors, clusters=np.arange(400) % 3), 0.9).knows


def test_guesses_without_error_have_the_width_of_chance_alone():
    model = ErrorModel(trial_of(np.zeros(50)), 0.9)
    assert model.half_width(np.array([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])) == pytest.approx(
        [0, 1.6449], abs=1e-4
    )


def test_hidden_scores_are_compared_with_the_truth():
    known = Truth.of(drawn_cohorts(), 2).hidden(np.zeros((3, 5), dtype=bool))
    trial = try_out(GainGuesser(), known, 2, rounds=3, seed=1)
    again = try_out(GainGuesser(), known, 2, rounds=3, seed=1)
    assert np.array_equal(trial.errors, again.errors)
    assert len(trial.errors) == len(trial.reasons) == len(trial.clusters) > 0
    assert 0 < np.abs(trial.errors).mean() < 0.3
    assert ((trial.ndcg >= 0) & (trial.ndcg <= 1)).all()


@pytest.mark.parametrize("completer", [TransferCompleter(), GainCompleter(), AutoCompleter()])
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


def test_one_cohort_learns_nothing_from_others():
    mask = np.zeros((1, 5), dtype=bool)
    mask[0, :2] = True
    known = Truth.of(drawn_cohorts(n_cohorts=1), 2).hidden(mask)
    for completer in (TransferCompleter(), AutoCompleter(), GainCompleter()):
        completed = completer.complete(known, 2)
        assert (completed.support[completed.predicted] == 0).all()
        assert (completed.high[completed.predicted] == known.exact.ceiling[0]).all()


def test_nothing_missing_is_the_exact_answer():
    known = Truth.of(drawn_cohorts(), 3).hidden(np.zeros((3, 5), dtype=bool))
    for completer in (TransferCompleter(), AutoCompleter()):
        completed = completer.complete(known, 3)
        assert np.array_equal(completed.score, known.exact.by_size[3])
        assert not completed.predicted.any()


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


@pytest.mark.parametrize("size", [0, 3])
def test_a_size_without_scores_is_refused(size):
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    for completer in (AutoCompleter(), GainCompleter()):
        with pytest.raises(MisfeatError, match=f"size={size}"):
            completer.complete(known, size)


def test_auto_keeps_the_transfer_unless_another_is_better_beyond_chance():
    def trial(ndcg, error=0.1, n_clusters=20):
        errors = np.full(n_clusters, error)
        return Trial(errors, np.zeros((n_clusters, 3)), np.arange(n_clusters), np.array(ndcg))

    even, ahead = [0.5, 0.6, 0.7, 0.4], [0.8, 0.9, 1.0, 0.7]
    assert _better({"transfer": trial(even, 0.2), "gain": trial(ahead)}) == "gain"
    by_chance = trial([0.6, 0.5, 0.8, 0.4])
    assert _better({"transfer": trial(even, 0.2), "gain": by_chance}) == "transfer"
    assert _better({"transfer": trial(even, 0.05), "gain": trial(ahead)}) == "transfer"
    few = {"transfer": trial(even, 0.2, 6), "gain": trial(ahead, 0.1, 6)}
    assert _better(few) == "transfer"
    assert _better({"transfer": trial([], 0, 0), "gain": trial([], 0, 0)}) == "transfer"


def test_auto_uses_scores_alone_where_there_are_no_rows():
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    completer = AutoCompleter()
    completed = completer.complete(Known(known.exact), 2)
    assert completer.chosen_ == "interactions"
    assert not np.isnan(completed.score).any()
    with pytest.raises(MisfeatError, match="needs the rows of all subgroups"):
        TransferCompleter().complete(Known(known.exact), 2)


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


def test_an_interval_is_never_narrower_than_chance_alone_asks_for():
    rng = np.random.default_rng(0)
    # Hidden features that tell nothing are guessed well, whatever chance does to strong ones.
    reasons = np.column_stack([rng.uniform(0, 0.01, 200), np.zeros(200), np.zeros(200)])
    trial = Trial(rng.normal(0, 1e-4, 200), reasons, np.arange(200) // 10, np.ones(1))
    half = ErrorModel(trial, 0.9).half_width(np.array([[[0.05, 0.3, 0.0]]]))
    assert half[0, 0] == pytest.approx(0.05 * 1.6449, abs=1e-5)


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
    found = SubgroupSelector("site", size=1).fit(gaps, y).best_sets(k=1, subgroup="site=a")[0]
    assert found.source == "predicted"
    return found.low <= whole.score_of("site=a", ["f3"]) <= found.high
