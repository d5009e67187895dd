"""What holds for what a saved selection has beside rows: sums of products, tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.lattice import level
from misfeat.selection.checking import (
    MOST_ROWS,
    NEARLY,
    check_array,
    check_flags,
    check_texts,
    demand,
)
from misfeat.selection.folders import ARRAYS

if TYPE_CHECKING:
    from misfeat.cohorts.model import Cohorts
    from misfeat.cohorts.product_sums import ProductSums
    from misfeat.information.count_tables import CountTables


def check_sums(sums: ProductSums, cohorts: Cohorts) -> None:
    """Raise unless sums of products are those of the same subgroups."""
    demand(sums.names == cohorts.names, "sums are of other subgroups")
    demand(sums.target == cohorts.target, "sums are of another target")
    check_texts(sums.features, "features", unique=True)
    n_cohorts, n = len(cohorts.names), len(sums.features)
    check_array(sums.rows, "sums.rows", (np.int64,), (n_cohorts,))
    within = (sums.rows > 0).all() and (sums.rows <= MOST_ROWS).all()
    demand(within, "the number of rows of sums", ARRAYS)
    check_array(sums.products, "sums.products", (np.float64,), (n_cohorts, n + 1, n + 1))
    demand(np.isfinite(sums.products).all(), "a sum that is no number", ARRAYS)
    check_flags(sums.missing, "sums.missing", (n_cohorts, n))


def check_tables(tables: CountTables, cohorts: Cohorts) -> None:
    """Raise unless count tables are those of all sets of up to three features, and agree."""
    n_cohorts, n_features = len(cohorts.names), len(cohorts.features)
    demand(tables.features == cohorts.features, "the features of tables")
    demand(tables.categories == cohorts.categories, "the categories of tables")
    check_flags(tables.missing, "tables.missing", (n_cohorts, n_features))
    demand(np.array_equal(tables.missing, cohorts.missing), "what tables lack", ARRAYS)
    n_classes = len(cohorts.classes)
    _check_counts(tables.by_class, "tables.by_class", (n_cohorts, n_classes))
    own = [np.bincount(c.target, weights=c.weights, minlength=n_classes) for c in cohorts]
    demand(np.allclose(tables.by_class, own, rtol=NEARLY), "the classes of tables", ARRAYS)
    if tables.effective is not None:
        _check_counts(tables.effective, "tables.effective", (n_cohorts, 3))
        demand((tables.effective > 0).all(), "what tables are worth", ARRAYS)
    if tables.bias is not None:
        check_array(tables.bias, "tables.bias", (np.float64,), (n_cohorts, 3, 2))
        demand(np.isfinite(tables.bias).all(), "how far scores of tables are off", ARRAYS)
    if tables.noise is not None:
        _check_counts(tables.noise, "tables.noise", (n_cohorts,))
        demand((tables.noise >= 1).all(), "how noisy tables are", ARRAYS)
    for size, name in enumerate(("singles", "pairs", "triples"), start=1):
        lines = int(tables.starts(size)[-1]) if size <= n_features else 0
        if size > 1 and not getattr(tables, name).size:
            lines = 0  # sets of so many features were not counted
        _check_counts(getattr(tables, name), f"tables.{name}", (n_cohorts, lines, n_classes))
        if lines:
            _check_margins(tables, size)


def _check_margins(tables: CountTables, size: int) -> None:
    """Raise unless every table of a size has the classes of its cohort, or is empty."""
    counts = np.add.reduceat(tables.of_size(size), tables.starts(size)[:-1], axis=1)
    lacking = tables.missing[:, level(len(tables.features), size)].any(axis=2)
    wanted = np.where(np.asarray(lacking)[:, :, None], 0.0, tables.by_class[:, None, :])
    same = np.allclose(counts, wanted, rtol=NEARLY, atol=NEARLY)
    demand(same, f"tables of {size} features do not add up", ARRAYS)


def _check_counts(array: Any, name: str, shape: tuple[int, ...]) -> None:
    check_array(array, name, (np.float64,), shape)
    within = np.isfinite(array).all() and (array >= 0).all() and (array <= MOST_ROWS).all()
    demand(within, f"{name} holds what is no count", ARRAYS)
