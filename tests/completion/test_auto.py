from __future__ import annotations

import numpy as np
import pytest

from benchmarks.completion.hiding import Truth
from misfeat import MisfeatError
from misfeat.completion import (
    AutoCompleter,
    InteractionsCompleter,
    Known,
    TransferCompleter,
)
from tests.completion.coded import drawn_cohorts


@pytest.fixture
def known():
    return Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))


def same(one, other):
    names = ("score", "low", "high", "predicted", "support")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_rows_are_transferred(known):
    auto, transfer = AutoCompleter(confidence=0.8), TransferCompleter(confidence=0.8)
    assert same(auto.complete(known, 2), transfer.complete(known, 2))
    assert auto.chosen_ == "transfer"
    guess, expected = auto.guess(known, 2), transfer.guess(known, 2)
    assert np.array_equal(guess.by_size[2], expected.by_size[2])
    assert np.array_equal(guess.deviation, expected.deviation, equal_nan=True)


def test_scores_alone_are_used_where_there_are_no_rows(known):
    auto, interactions = AutoCompleter(rounds=3), InteractionsCompleter(rounds=3)
    scores_only = Known(known.exact)
    assert same(auto.complete(scores_only, 2), interactions.complete(scores_only, 2))
    assert auto.chosen_ == "interactions"
    with pytest.raises(MisfeatError, match="needs the rows of all subgroups"):
        TransferCompleter().complete(scores_only, 2)


def test_there_is_one_trial_only(known):
    told = []
    known = Known(known.exact, known.cohorts, progress=lambda *done: told.append(done))
    AutoCompleter(rounds=2).complete(known, 2)
    assert [what for what, done, _ in told if done == 0] == ["Learning how far predictions are off"]
