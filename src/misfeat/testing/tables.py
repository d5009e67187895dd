"""Small coded tables and their scores, to check completers on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.model import Cohorts
from misfeat.cohorts.product_sums import ProductSums
from misfeat.completion.model import ExactScores, Known
from misfeat.information.measures import MutualInformation, SquaredCorrelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.information.measures import Measure


def cohorts_of(
    codes: NDArray[np.integer],
    target: NDArray[np.integer],
    weights: NDArray[np.int64],
    offsets: Sequence[int] | NDArray[np.integer],
    missing: NDArray[np.bool_],
    n_values: Sequence[int] | None = None,
) -> Cohorts:
    """Cohorts of plain arrays; codes of missing features are kept, to see whether they are read.

    Features have the values that occur unless `n_values` says how many.
    """
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


def random_cohorts(
    seed: int,
    n_features: int = 6,
    n_cohorts: int = 4,
    cardinality: int = 3,
    hidden: float = 0.4,
    gaps: float = 0.0,
) -> Cohorts:
    """Cohorts of some rows each, drawn at random.

    `hidden` is the share of features that cohorts lack, `gaps` that of values that rows lack.
    """
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
    """Mutual information of what was recorded, and the rows."""
    return Known(_exact(MutualInformation(cohorts), size), cohorts)


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
    return Known(_exact(SquaredCorrelation(sums), size), sums=sums)


def _exact(measure: Measure, size: int) -> ExactScores:
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(measure.missing))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    return ExactScores(by_size, measure.missing, measure.ceiling, measure.closed)
