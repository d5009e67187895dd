from __future__ import annotations

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.bench.hiding import Truth
from misfeat.completion import AutoCompleter, Known, TransferCompleter
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
