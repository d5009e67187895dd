"""Rows that were followed until an event, or for some time without one: what is known of them when.

Times lie in bins, and a row leaves in its bin by the event, by another event that rules it out, or
censored: the number of bin and state together is its rank. Within a bin, events come first. What a
row says about the event before a horizon is weighed by the inverse of the chance of not being
censored until then (Kaplan and Meier's estimate in each subgroup), so that those who were followed
stand for those who were not. See docs/how_to/time_to_event.md.
"""

from typing import NamedTuple

import numpy as np

from misfeat.runtime.array_types import Array, Floats, Indices

CENSORED, EVENT, OTHER = range(3)
STATES = 3
UNKNOWN = -1  # the class at a horizon of rows that were censored before it
SCORE_CLASSES = ("long without event", "early event")


def survival_ranks(bins: Indices, states: Indices) -> Indices:
    """The rank of rows that left in a bin and a state."""
    return bins * STATES + states


def counts_of(ranks: Indices, weights: Array, n_ranks: int) -> Floats:
    """Rows, or what they weigh, by bin and by the state in which they left."""
    return np.bincount(ranks, weights, n_ranks).reshape(-1, STATES).astype(np.float64)


class Survival(NamedTuple):
    """Kaplan and Meier's estimates, each at the end of every bin."""

    free: Floats  # neither event
    incidence: Floats  # the event (Aalen and Johansen, where another may rule it out)
    followed: Floats  # not censored
    variance: Floats  # of the incidence (Greenwood's, which takes the other event as censored)


def survival_of(counts: Floats) -> Survival:
    """What happens until the end of every bin, by `counts_of` rows."""
    at_risk = np.cumsum(counts.sum(axis=1)[::-1])[::-1]
    leaving = counts[:, EVENT] + counts[:, OTHER]
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard = np.nan_to_num(leaving / at_risk)
        events = np.nan_to_num(counts[:, EVENT] / at_risk)
        censored = np.nan_to_num(counts[:, CENSORED] / (at_risk - leaving))
        terms = np.nan_to_num(events / (at_risk - counts[:, EVENT]), posinf=0.0)
    free = np.cumprod(1.0 - hazard)
    incidence = np.cumsum(_before(free) * events)
    variance = (1.0 - incidence) ** 2 * np.cumsum(terms)
    followed: Floats = np.cumprod(1.0 - np.minimum(censored, 1.0), dtype=np.float64)
    return Survival(free, incidence, followed, variance)


def _before(at_end: Floats) -> Floats:
    """Estimates at the beginning of bins, from those at their ends."""
    return np.concatenate([[1.0], at_end[:-1]])


def weights_at(counts: Floats, horizon: int) -> Floats:
    """What a row of each rank weighs at the end of a bin; 0 of those that were censored before."""
    followed = survival_of(counts).followed
    until = np.minimum(_before(followed), 1.0)
    until[horizon + 1 :] = followed[horizon]
    weights = np.repeat(1.0 / np.where(until > 0, until, np.inf), STATES)
    weights[classes_at(len(counts), horizon) == UNKNOWN] = 0.0
    return weights


def classes_at(n_bins: int, horizon: int) -> Indices:
    """Whether rows of each rank had the event by the end of a bin: 1, 0, or `UNKNOWN`."""
    classes = np.zeros((n_bins, STATES), dtype=np.int16)
    classes[: horizon + 1, EVENT] = 1
    classes[: horizon + 1, CENSORED] = UNKNOWN
    return classes.reshape(-1)


def log_rank_scores(counts: Floats, horizon: int | None = None) -> Floats:
    """The log-rank score of every rank: 1 for the event less the cumulative hazard until then."""
    # What happens after the last horizon is not looked at: who is followed on depends on features.
    last = len(counts) if horizon is None else horizon + 1
    at_risk = np.cumsum(counts.sum(axis=1)[::-1])[::-1]
    hazards = counts[:, EVENT] / np.maximum(at_risk, 1e-300)
    hazards[last:] = 0.0
    happened = np.zeros(counts.shape)
    happened[:last, EVENT] = 1.0
    return np.asarray((happened - np.cumsum(hazards)[:, None]).reshape(-1))


def score_classes(counts: Floats, horizon: int | None = None) -> Indices:
    """Ranks by the sign of their log-rank scores: two classes, for tests by permutation."""
    return (log_rank_scores(counts, horizon) > 0.0).astype(np.int16)
