"""Scores with bounds: from what is known of sets to intervals that no part of a set contradicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.completion.model import NONE, CompletedScores, support_of
from misfeat.estimation.moments import recorded_all
from misfeat.lattice import level, ranks_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import ExactScores
    from misfeat.estimation.pooling import Posterior

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """Scores of the sets of one size with their bounds; NaN where nothing is known.

    Of shape (n_cohorts, n_sets), ``low <= score <= high``.
    """

    score: Floats
    low: Floats
    high: Floats


def intervals_of(posterior: Posterior, confidence: float | None, ceiling: Floats) -> Intervals:
    """Posterior means, and bounds that hold the population's score as often as asked.

    Without confidence, bounds are 0 and the ceiling: what no score of a subgroup can exceed.
    """
    most = np.asarray(ceiling, dtype=np.float64)[:, None]
    reach = np.where(np.isnan(posterior.mean), np.nan, np.inf)
    if confidence is not None:
        reach = float(ndtri((1.0 + confidence) / 2.0)) * np.sqrt(posterior.variance)
    return Intervals(
        score=np.clip(posterior.mean, 0.0, most),
        low=np.clip(posterior.mean - reach, 0.0, most),
        high=np.clip(posterior.mean + reach, 0.0, most),
    )


def closed(by_size: Sequence[Intervals], n_features: int) -> list[Intervals]:
    """The same with scores and bounds raised to those of every part: no set explains less.

    Sets of every size, from 1 on, are in the order of ranks.
    """
    found = list(by_size[:1])
    for size, own in enumerate(by_size[1:], start=2):
        below, parts = found[-1], ranks_below(level(n_features, size)).T
        score, low, high = own.score, own.low, own.high
        for ranks in parts:
            score = np.fmax(score, below.score[:, ranks])
            low, high = np.fmax(low, below.low[:, ranks]), np.fmax(high, below.high[:, ranks])
        found.append(Intervals(score, low, np.fmax(score, high)))
    return found


def completed_of(
    found: Intervals, exact: ExactScores, subsets: NDArray[np.integer]
) -> CompletedScores:
    """Estimated scores as all answers read them; what is not known lies anywhere."""
    support = support_of(exact.missing, subsets)
    anywhere = np.isnan(found.high) | (support == NONE)
    most = exact.ceiling[:, None]
    return CompletedScores(
        subsets=subsets,
        score=np.minimum(np.nan_to_num(found.score), most),
        low=np.nan_to_num(found.low),
        high=np.where(anywhere, most, np.minimum(found.high, most)),
        predicted=~recorded_all(~exact.missing, subsets),
        support=support,
    )
