from __future__ import annotations

import numpy as np
import pytest

from misfeat.completion import DropCompleter, ModeCompleter
from misfeat.completion.baselines.mode import modes_filled_in
from tests.completion.coded import cohorts_of, known_of, random_cohorts


def test_unrecorded_values_become_the_most_frequent_one_by_weight():
    cohorts = cohorts_of(
        np.array([[7, 7, 2, 1, 1]]),
        np.zeros(5, dtype=np.int64),
        np.array([9, 9, 4, 2, 1]),
        [0, 2, 5],
        np.array([[True], [False]]),
    )
    assert modes_filled_in(cohorts, cohorts.missing).tolist() == [[2, 2, 2, 1, 1]]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_one_value_for_all_rows_tells_nothing(gaps):
    known = known_of(random_cohorts(1, gaps=gaps), 3)
    by_mode, dropped = (
        completer(confidence=None).complete(known, 3).score
        for completer in (ModeCompleter, DropCompleter)
    )
    assert by_mode == pytest.approx(dropped)
