"""Tables with more features than are looked at closely."""

from __future__ import annotations

import numpy as np


def wide_columns(n_features=24, n_rows=1200, seed=0):
    """Two features that explain only together, one alone, and many that explain nothing."""
    rng = np.random.default_rng(seed)
    columns = {f"f{i:02d}": rng.integers(0, 2 + i % 3, n_rows) for i in range(n_features)}
    differ = (columns["f03"] > 0) ^ (columns["f09"] > 0)
    odds = np.where(differ, 0.75, 0.25) + np.where(columns["f05"] > 0, 0.1, -0.1)
    columns["site"] = rng.choice(["a", "b", "c"], n_rows)
    columns["y"] = (rng.random(n_rows) < odds).astype(int)
    return columns
