"""Normal cohorts with known covariances, for tests of what is predicted from sums of products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from misfeat.cohorts.product_sums import ProductSums
from misfeat.information.measures import squared_correlation
from misfeat.lattice import level


@dataclass(frozen=True)
class Drawn:
    """Cohorts that lack some features, sums of all of their columns, and what they stand for."""

    sums: ProductSums
    covariances: np.ndarray

    def truth(self, size):
        """R² of all sets of a size in the populations."""
        subsets = level(len(self.sums.features), size)
        return np.array([squared_correlation(one, subsets) for one in self.covariances])


def common_covariance(n_features, rng, n_factors=3, explained=0.5):
    """Features that share factors, and a target that some of them explain in part."""
    loads = rng.normal(size=(n_features, n_factors)) * rng.uniform(0.2, 1.0, size=(n_features, 1))
    among = loads @ loads.T + np.diag(rng.uniform(0.3, 1.0, size=n_features))
    slope = rng.normal(size=n_features) * (rng.random(n_features) < 0.6)
    slope[rng.integers(n_features)] += 1.0
    slope *= np.sqrt(explained / (slope @ among @ slope))
    across = among @ slope
    return np.block([[among, across[:, None]], [across[None, :], np.ones((1, 1))]])


def drawn_numbers(
    n_cohorts=5, n_rows=300, n_features=7, hide=0.3, similarity=100, seed=0, **settings
):
    """Cohorts whose covariances are those of so many common rows as `similarity` says."""
    rng = np.random.default_rng(seed)
    common = common_covariance(n_features, rng, **settings)
    nowhere = np.zeros(n_features + 1)
    covariances, products = [], []
    for _ in range(n_cohorts):
        basis = rng.multivariate_normal(nowhere, common, size=similarity)
        covariances.append(basis.T @ basis / similarity)
        rows = rng.multivariate_normal(nowhere, covariances[-1], size=n_rows)
        rows -= rows.mean(axis=0)
        products.append(rows.T @ rows)
    missing = rng.random((n_cohorts, n_features)) < hide
    missing[:, missing.all(axis=0)] = False
    return Drawn(numbers_of(np.array(products), missing, n_rows), np.array(covariances))


def numbers_of(products, missing, n_rows):
    """Sums of products with made-up names."""
    return ProductSums(
        names=tuple(f"cohort {i}" for i in range(len(missing))),
        features=tuple(f"x{f}" for f in range(missing.shape[1])),
        target="y",
        rows=np.full(len(missing), n_rows, dtype=np.int64),
        products=products,
        missing=missing,
    )
