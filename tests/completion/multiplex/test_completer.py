from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.completion.hiding import Truth, closure_of
from misfeat import MisfeatError, SubgroupSelector
from misfeat.completion import InteractionsCompleter, Known, MultiplexCompleter
from tests.completion.coded import drawn_cohorts


def quick(**settings):
    small = {"steps": 20, "masks": 4, "hidden": 8, "confidence": None, "device": "cpu"}
    return MultiplexCompleter(**{**small, **settings})


@pytest.mark.parametrize("with_rows", [False, True])
def test_every_score_is_filled_in_within_bounds_and_closed(known, with_rows):
    completer = quick(with_rows=with_rows)
    completed = completer.complete(known, 3)
    exact = known.exact.by_size[3]
    assert np.array_equal(completed.score[~np.isnan(exact)], exact[~np.isnan(exact)])
    assert (completed.low - 1e-12 <= completed.score).all()
    assert (completed.score <= completed.high + 1e-12).all()
    assert closure_of(completer, known, completed) == 1


def test_a_seed_repeats_it_and_the_global_generator_is_left_alone(known):
    before = torch.random.get_rng_state()
    first = quick(random_state=3).complete(known, 3).score
    assert torch.equal(before, torch.random.get_rng_state())
    assert np.array_equal(first, quick(random_state=3).complete(known, 3).score)


def test_without_rows_only_scores_are_read(known):
    alone = quick().complete(Known(known.exact), 3)
    assert np.array_equal(alone.score, quick(with_rows=False).complete(known, 3).score)
    with pytest.raises(MisfeatError, match="needs the rows of all subgroups"):
        quick(with_rows=True).complete(Known(known.exact), 3)


def test_training_learns_from_hidden_features(known):
    progress = []
    with_progress = Known(known.exact, progress=lambda *told: progress.append(told))
    trained = quick(steps=60).complete(with_progress, 3)
    untrained = quick(steps=0).complete(Known(known.exact), 3)
    assert not np.array_equal(trained.score, untrained.score)
    assert progress[-1] == ("Training the multiplex network", 60, 60)


def test_an_untrained_network_is_near_its_first_guess(known):
    first = InteractionsCompleter(confidence=None).complete(Known(known.exact), 3)
    untrained = quick(steps=0).complete(Known(known.exact), 3)
    hidden = first.predicted
    distance = np.abs(untrained.score - first.score)[hidden].mean()
    assert distance < 0.3 * (first.score - first.low)[hidden].mean()


def test_one_cohort_has_nothing_to_hide_and_still_gets_an_answer():
    mask = np.zeros((1, 5), dtype=bool)
    mask[0, 0] = True
    alone = Truth.of(drawn_cohorts(n_cohorts=1), 2).hidden(mask)
    assert not np.isnan(quick().complete(alone, 2).score).any()


def test_intervals_are_learned_by_training_anew(known):
    completed = quick(confidence=0.9, rounds=5).complete(known, 2)
    certain = quick().complete(known, 2)
    assert (completed.high < certain.high)[completed.predicted].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": 0}, "hidden=0"),
        ({"steps": -1}, "steps=-1"),
        ({"dropout": 1}, "dropout=1; it must be at least 0 and below 1"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"device": "tpu"}, "device='tpu' is unknown"),
    ],
)
def test_settings_that_make_no_sense_are_refused(known, settings, message):
    with pytest.raises(MisfeatError, match=message):
        quick(**settings).complete(known, 2)


def test_the_selector_takes_it():
    rng = np.random.default_rng(0)
    columns = {f"f{i}": rng.integers(3, size=300).astype(float) for i in range(4)}
    columns["y"] = (columns["f0"] > 1).astype(int)
    columns["site"] = np.arange(300) % 3
    columns["f0"][columns["site"] == 0] = np.nan
    selector = SubgroupSelector("site", size=2, completer=quick(), confidence=None)
    scores = selector.fit(columns, "y").scores()
    assert (scores["source"] == "predicted").sum() == 3
