from __future__ import annotations

import numpy as np

from misfeat.completion import DropCompleter, ExactScores, Known

NAN = np.nan


def test_a_set_scores_what_its_recorded_part_does():
    exact = ExactScores(
        by_size=(
            np.zeros((2, 1)),
            np.array([[0.1, 0.2, 0.3], [0.3, NAN, 0.1]]),
            np.array([[0.25, 0.3, 0.4], [NAN, 0.35, NAN]]),
        ),
        missing=np.array([[False] * 3, [False, True, False]]),
        ceiling=np.ones(2),
    )
    for size, scores in ((1, [0.3, 0.0, 0.1]), (2, [0.3, 0.35, 0.1])):
        completed = DropCompleter(confidence=None).complete(Known(exact), size)
        assert completed.score[1].tolist() == scores
