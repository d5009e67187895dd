"""A small table for tests, and how one of its columns was treated."""

from __future__ import annotations

import numpy as np

from misfeat.cohorts.build import CohortRules
from misfeat.cohorts.product_sums import ProductSums, cohorts_and_product_sums
from misfeat.reading.inputs import open_table


def table(n: int = 60, **columns) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    base = {
        "site": np.array(["a", "b", "c"] * (n // 3), dtype=object),
        "x": rng.integers(3, size=n),
        "z": rng.integers(2, size=n),
        "y": rng.integers(2, size=n),
    }
    return {**base, **columns}


def audit(cohorts, column):
    return next(audit for audit in cohorts.columns if audit.column == column)


def build_product_sums(X, y, *, groups=None, coding=None) -> ProductSums:
    """Sums of products of the numeric columns of a table, as ``measure="r2"`` has them."""
    rules = CohortRules.parse(groups, coding)
    return cohorts_and_product_sums(*open_table(X, y, rules.codes), rules)[1]
