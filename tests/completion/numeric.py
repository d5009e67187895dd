"""Sums of products of normal cohorts, for tests of what is predicted from them."""

from __future__ import annotations

import numpy as np

from misfeat.cohorts.product_sums import ProductSums


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
    products = []
    for _ in range(n_cohorts):
        basis = rng.multivariate_normal(nowhere, common, size=similarity)
        rows = rng.multivariate_normal(nowhere, basis.T @ basis / similarity, size=n_rows)
        rows -= rows.mean(axis=0)
        products.append(rows.T @ rows)
    missing = rng.random((n_cohorts, n_features)) < hide
    missing[:, missing.all(axis=0)] = False
    return ProductSums(
        names=tuple(f"cohort {i}" for i in range(n_cohorts)),
        features=tuple(f"x{f}" for f in range(n_features)),
        target="y",
        rows=np.full(n_cohorts, n_rows, dtype=np.int64),
        products=np.array(products),
        missing=missing,
    )
