"""Tables with more sets than are to be scored."""

from __future__ import annotations

import numpy as np
import pytest

from misfeat.cohorts import build_cohorts


def wide_columns(n_features=24, n_rows=1200, seed=0):
    """Two features that tell only together, one that tells alone, and many that tell nothing."""
    rng = np.random.default_rng(seed)
    columns = {f"f{i:02d}": rng.integers(0, 2 + i % 3, n_rows) for i in range(n_features)}
    told = (columns["f03"] > 0) ^ (columns["f09"] > 0)
    odds = np.where(told, 0.75, 0.25) + np.where(columns["f05"] > 0, 0.1, -0.1)
    columns["site"] = rng.choice(["a", "b", "c"], n_rows)
    columns["y"] = (rng.random(n_rows) < odds).astype(int)
    return columns


@pytest.fixture(scope="session")
def wide():
    return build_cohorts(wide_columns(), "y", groups="site")
