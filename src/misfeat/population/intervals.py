"""Scores with bounds, ready to be shown: within what is possible, and no set below a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.lattice import level, ranks_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from misfeat.population.posterior import Posterior

    Floats = NDArray[np.float64]


TIE_BREAK = 1e-6
"""Sets that were raised alike stay apart by this share of their own scores."""
TIED_DECIMALS = 12
"""Own scores (nats) that agree to so many decimals are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Scores of the sets of one size with their bounds; NaN where nothing is known.

    Of shape (n_cohorts, n_sets), ``low <= score <= high``.
    """

    score: Floats
    low: Floats
    high: Floats


def intervals_of(posterior: Posterior, confidence: float | None, ceiling: ArrayLike) -> Intervals:
    """Posterior means, and bounds that hold the population's score as often as asked.

    Without confidence, bounds are 0 and the ceiling: what no score of a cohort can exceed.
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
    """The same with scores and bounds raised to those of every part: no set tells less than one.

    Sets keep the order of their own scores. Whatever looked better than a set that was raised is
    raised with it: else sets would rank by what their parts seem to tell, whose chance they bear.
    Sets of every size are in the order of ranks.
    """
    found = list(by_size[:1])
    for size, own in enumerate(by_size[1:], start=2):
        parts = ranks_below(level(n_features, size)).T
        below = found[-1]
        score = _in_order(own.score, _raised(own.score, below.score, parts))
        high = np.fmax(score, _raised(own.high, below.high, parts))
        found.append(Intervals(score, _raised(own.low, below.low, parts), high))
    return found


def _raised(own: Floats, below: Floats, parts: NDArray[np.int64]) -> Floats:
    """The best of a set and its parts; what is not known sets no bound."""
    raised = own
    for ranks in parts:
        raised = np.fmax(raised, below[:, ranks])
    return raised


def _in_order(own: Floats, raised: Floats) -> Floats:
    """Raised scores, raised further until they are in the order of own scores, where there are.

    A set is raised by those that looked worse, not by those that looked the same: which of them
    comes first is an accident of the order of columns.
    """
    order = np.argsort(own, axis=1, kind="stable")
    own, raised = (np.take_along_axis(scores, order, axis=1) for scores in (own, raised))
    known = np.isfinite(own)
    highest = np.maximum.accumulate(np.where(known, raised, -np.inf), axis=1)
    ordered = np.fmax(raised, _before_ties(highest, np.round(own, TIED_DECIMALS)))
    ordered = np.where(ordered > own, ordered + TIE_BREAK * own, ordered)
    found = np.empty_like(raised)
    np.put_along_axis(found, order, np.where(known, ordered, raised), axis=1)
    return found


def _before_ties(highest: Floats, own: Floats) -> Floats:
    """For every place of ascending rows, the highest score before the first of its equals."""
    first = np.ones(own.shape, dtype=bool)
    first[:, 1:] = own[:, 1:] != own[:, :-1]
    start = np.maximum.accumulate(np.where(first, np.arange(own.shape[1]), 0), axis=1)
    before = np.concatenate([np.full((len(own), 1), -np.inf), highest[:, :-1]], axis=1)
    return np.take_along_axis(before, start, axis=1)
