"""Small coded tables and their scores, for tests of completers."""

from __future__ import annotations

import numpy as np

from misfeat.cohorts import Cohorts
from misfeat.completion import ExactScores, Known
from misfeat.information.measures import MutualInformation


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
