"""Small coded tables and their scores, for tests of completers."""

import numpy as np

from misfeat.cohorts import Cohorts, build_cohorts
from misfeat.completion import ExactScores, Known
from misfeat.information.measures import SquaredCorrelation
from misfeat.lattice.levels import level
from misfeat.testing import known_of, random_cohorts  # noqa: F401


def cohorts_of(codes, target, weights, offsets, missing, n_values=None) -> Cohorts:
    """Cohorts of plain arrays; features have the values that occur unless `n_values` says."""
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


def known_of_sums(sums, size) -> Known:
    """What is known of sums of products: R² of what was recorded, and the sums themselves."""
    measure = SquaredCorrelation(sums)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(sums.names))]
    by_size = tuple(np.array(scores) for scores in zip(*by_cohort, strict=True))
    exact = ExactScores(by_size, measure.missing, measure.ceiling, measure.closed)
    return Known(exact, sums=sums)


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
