from __future__ import annotations

import numpy as np

from misfeat.cohorts import Cohort
from misfeat.information.prepared import prepare_rows
from misfeat.information.scoring import sums_of_levels
from misfeat.runtime.threads import Work
from tests.information.generated import random_cohort


def test_categories_that_do_not_occur_are_squeezed_out():
    base = random_cohort(4, 200, 3)
    spread = Cohort(
        **{**vars(base), "codes": base.codes * 5, "cardinalities": base.cardinalities * 5}
    )
    rows = prepare_rows(spread)
    assert rows.cardinalities.tolist() == [3, 3, 3, 3]
    expected = sums_of_levels(prepare_rows(base), 1, 4, 1, Work())
    found = sums_of_levels(rows, 1, 4, 1, Work())
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_unrecorded_features_take_no_room():
    base = random_cohort(4, 100, 3)
    cohort = Cohort(**{**vars(base), "recorded": np.array([True, False, True, False])})
    rows = prepare_rows(cohort)
    assert rows.codes.shape == (2, 100)
    assert rows.features.tolist() == [0, 2]
    assert rows.positions.tolist() == [0, -1, 1, -1]
