from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.bench.hiding import Truth
from misfeat.completion import AutoCompleter, GainCompleter, TransferCompleter
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
    for completer in (AutoCompleter(), GainCompleter()):
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
    class Keeping(GainCompleter):
        def guess(self, known, size):
            self.n_missing_ = known.exact.missing.sum()
            return super().guess(known, size)

    known = Truth.of(drawn_cohorts(n_features=6), 2).hidden(np.eye(3, 6, dtype=bool))
    completer = Keeping(confidence=0.8)
    completed = completer.complete(known, 2)
    assert (completed.high < known.exact.bounds(2)[1]).any()  # there were rounds
    assert completer.n_missing_ == 3


def test_an_own_way_to_combine_holds_in_the_rounds_too():
    class Half(GainCompleter):
        """Says half of what it guesses."""

        def combined(self, guess, exact):
            known = exact.by_size[len(guess.by_size) - 1]
            return np.where(np.isnan(known), guess.by_size[-1] / 2, known)

    known = Truth.of(drawn_cohorts(n_features=6), 2).hidden(np.eye(3, 6, dtype=bool))
    halved, plain = (kind(confidence=0.8).complete(known, 2) for kind in (Half, GainCompleter))
    wide = (halved.high - halved.score)[halved.predicted].mean()
    assert wide > 2 * (plain.high - plain.score)[plain.predicted].mean()
