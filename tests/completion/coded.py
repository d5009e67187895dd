"""Small coded tables and their scores, for tests of completers."""

from __future__ import annotations

import numpy as np

from misfeat.cohorts import Cohorts, build_cohorts
from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion import ExactScores, Known
from misfeat.information.measures import MutualInformation, SquaredCorrelation
from misfeat.lattice import level


def cohorts_of(codes, target, weights, offsets, missing, n_values=None) -> Cohorts:
    """Cohorts of plain arrays; codes of missing features are kept, to see whether they are read."""
    n_values = n_values or [int(line.max(initial=0)) + 1 for line in codes]
    return Cohorts(
        names=tuple(f"cohort {i}" for i in range(len(missing))),
        features=tuple(f"x{f}" for f in range(len(codes))),
        target="y",
        codes=codes,
        target_codes=target,
        weights=weights,
        offsets=np.array(offsets, dtype=np.int64),
        missing=missing,
        categories=tuple(tuple(map(str, range(n))) for n in n_values),
        classes=tuple(map(str, range(int(target.max()) + 1))),
        gap_codes=((),) * len(codes),
    )


def random_cohorts(seed, n_features=6, n_cohorts=4, cardinality=3, hidden=0.4, gaps=0.0) -> Cohorts:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 25, size=n_cohorts))])
    n_rows = offsets[-1]
    codes = rng.integers(cardinality, size=(n_features, n_rows)).astype(np.int32)
    codes[rng.random(codes.shape) < gaps] = -1
    return cohorts_of(
        codes,
        rng.integers(3, size=n_rows),
        rng.integers(1, 4, size=n_rows),
        offsets,
        rng.random((n_cohorts, n_features)) < hidden,
        [cardinality] * n_features,
    )


def known_of(cohorts: Cohorts, size: int) -> Known:
    measure = MutualInformation(cohorts)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(cohorts))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return Known(ExactScores(by_size, cohorts.missing, measure.ceiling, measure.closed), cohorts)


def sums_of(cohorts: Cohorts) -> ProductSums:
    """Sums of products of codes as numbers, missing values at the mean; hidden codes are summed."""
    products, rows = [], []
    for i, cohort in enumerate(cohorts):
        part = slice(cohorts.offsets[i], cohorts.offsets[i + 1])
        columns = np.vstack([cohorts.codes[:, part], cohorts.target_codes[part]]).astype(float)
        weights = np.where(columns < 0, 0, cohort.weights)
        mean = (weights * columns).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        centred = np.where(columns < 0, 0.0, columns - mean[:, None])
        products.append((cohort.weights * centred) @ centred.T)
        rows.append(cohort.weights.sum())
    names = cohorts.names, cohorts.features, cohorts.target
    return ProductSums(*names, np.array(rows), np.array(products), cohorts.missing)


def known_of_sums(sums: ProductSums, size: int) -> Known:
    """What is known of sums of products: R² of what was recorded, and the sums themselves."""
    measure = SquaredCorrelation(sums)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(sums.names))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return Known(ExactScores(by_size, sums.missing, measure.ceiling, measure.closed), sums=sums)


def drawn_cohorts(
    seed=0, n_rows=240, n_features=5, n_cohorts=3, n_values=3, n_classes=2
) -> Cohorts:
    """Features that depend on each other and on the target, a little differently by cohort."""
    rng = np.random.default_rng(seed)
    site = np.arange(n_rows) % n_cohorts
    hidden = rng.integers(n_values, size=n_rows)
    columns = {"site": site}
    for f in range(n_features):
        copied = rng.random(n_rows) < 0.25 + 0.1 * f + 0.05 * site
        columns[f"f{f}"] = np.where(copied, hidden, rng.integers(n_values, size=n_rows))
    flipped = rng.random(n_rows) < 0.3
    columns["y"] = np.where(flipped, rng.integers(n_classes, size=n_rows), hidden % n_classes)
    return build_cohorts(columns, "y", groups="site")


def known_scores(n_features=7, n_cohorts=3, seed=0, reach=5) -> ExactScores:
    """Smooth, growing scores of which cohorts lack some features."""
    rng = np.random.default_rng(seed)
    missing = np.zeros((n_cohorts, n_features), dtype=bool)
    missing[np.arange(n_cohorts), np.arange(n_cohorts)] = True
    worth = rng.random((n_cohorts, n_features))
    by_size = [np.zeros((n_cohorts, 1))]
    for size in range(1, reach + 1):
        subsets = level(n_features, size)
        scores = 1 - np.exp(-0.3 * worth[:, subsets].sum(axis=2))
        by_size.append(np.where(missing[:, subsets].any(axis=2), np.nan, scores))
    return ExactScores(tuple(by_size), missing, np.ones(n_cohorts))
