from __future__ import annotations

import numpy as np
import pytest

from benchmarks.completion.hiding import Truth
from misfeat.datasets.population import random_mask
from tests.completion.coded import drawn_cohorts


@pytest.fixture(scope="module")
def known():
    """What is known of a small table from which features are hidden."""
    truth = Truth.of(drawn_cohorts(n_features=6, n_rows=900), 3)
    return truth.hidden(random_mask(3, 6, 0.3, np.random.default_rng(0)))
