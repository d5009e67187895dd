import numba as nb
import numpy as np
import pytest

from misfeat.information.mutual_info import compact_rows
from misfeat.information.null_expectation import logs_of
from tests.information.generated import random_cohort


def test_kernels_compile_once_for_scores_with_and_without_chance():
    rows = [compact_rows(random_cohort(), above_chance=above) for above in (True, False)]
    for lanes in (0, 2, 4, 8):
        with_chance, without = (logs_of(either, lanes) for either in rows)
        assert nb.typeof(with_chance) == nb.typeof(without)
    logs = logs_of(rows[0], 4)
    for table in (logs.f, logs.g, logs.small):  # many share them
        with pytest.raises(ValueError, match="read-only"):
            table[0] = np.nan
