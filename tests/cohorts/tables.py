"""A small table for tests, and how one of its columns was treated."""

import numpy as np

from misfeat.cohorts.cohort_building import CohortRules
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


def effective_size(weights, target):
    """How many rows drawn one by one have shares of classes that vary as much, by linearisation."""
    weights, target = np.asarray(weights, dtype=float), np.asarray(target)[np.asarray(weights) > 0]
    weights = weights[weights > 0]
    total, classes = weights.sum(), np.unique(target)
    shares = {c: weights[target == c].sum() / total for c in classes}
    varied = [((weights * ((target == c) - p) / total) ** 2).sum() / p for c, p in shares.items()]
    return (len(classes) - 1) / sum(varied)
