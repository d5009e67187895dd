from __future__ import annotations

import numpy as np
import pytest

from misfeat.information.chance import above_chance, expected_information
from misfeat.information.table_scores import scores_of_tables


def test_tables_end_to_end_score_as_each_alone():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 9, (4, 2)).astype(float)
    whole = first.sum(axis=0)
    second = np.array([[whole[0], 3.0], [0.0, whole[1] - 3.0]])
    found = scores_of_tables(np.vstack([first, second]), whole, np.array([0, 4, 6]))
    for place, table in enumerate((first, second)):
        assert found.above_chance[place] == pytest.approx(above_chance(table))
        assert found.chance[place] == pytest.approx(
            expected_information(table.sum(axis=1).astype(int), whole)
        )
