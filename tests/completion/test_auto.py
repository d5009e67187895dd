from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.bench.hiding import Truth
from misfeat.completion import (
    AutoCompleter,
    InteractionsCompleter,
    Known,
    TransferCompleter,
)
from misfeat.completion.auto import _better
from misfeat.completion.calibration import Trial
from tests.completion.coded import drawn_cohorts


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


def test_what_the_first_size_decides_stays_for_all_others():
    known = Truth.of(drawn_cohorts(), 3).hidden(np.eye(3, 5, dtype=bool))
    completer = AutoCompleter(confidence=0.8)
    completer.complete(known, 2)
    assert completer.chosen_ == "transfer"
    completer.chosen_ = "interactions"
    decided, expected = completer.complete(known, 3), InteractionsCompleter(confidence=0.8)
    assert completer.chosen_ == "interactions"
    assert np.array_equal(decided.score, expected.complete(known, 3).score)
    assert np.array_equal(decided.high, expected.complete(known, 3).high)
    guess = completer.guess(known, 3).by_size[3]
    assert np.array_equal(guess, expected.guess(known, 3).by_size[3])


def test_before_a_choice_it_guesses_by_the_transfer():
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    guess, transfer = AutoCompleter().guess(known, 2), TransferCompleter().guess(known, 2)
    assert np.array_equal(guess.by_size[2], transfer.by_size[2])
    assert np.array_equal(guess.deviation, transfer.deviation, equal_nan=True)


def test_it_says_what_it_tries():
    told = []
    known = Truth.of(drawn_cohorts(), 2).hidden(np.eye(3, 5, dtype=bool))
    known = Known(known.exact, known.cohorts, progress=lambda *done: told.append(done))
    AutoCompleter(rounds=2).complete(known, 2)
    assert [what for what, done, _ in told if done == 0] == [
        "Trying 'transfer' predictions",
        "Trying 'interactions' predictions",
    ]
