"""How well a Cox model does on rows left out: Uno's C and the integrated Brier score.

The model has a column for every value of every feature but one, slopes with a penalty of 1, and
Breslow's baseline hazard; an event that rules out the one of interest ends following. Until the
last horizon, with inverse chances of being followed as weights (Uno et al., Statistics in Medicine
30, 2011; Graf et al., Statistics in Medicine 18, 1999).
"""

from typing import NamedTuple

import numpy as np

from misfeat.cohorts.survival import EVENT, STATES, counts_of, survival_of, weights_at
from misfeat.runtime.array_types import Floats, Indices

MOST_STEPS, CONVERGED = 30, 1e-6  # of Newton's method, and changes that end it
MOST_LOG_HAZARD = 15.0  # no hazard differs from the mean by a larger factor, as a logarithm
RESAMPLES = 100  # of rows, for the standard error of C


class Risks(NamedTuple):
    """What a model predicts for all cells: the logarithm of the hazard, and the chance by bin."""

    log_hazard: Floats  # (n_cells,)
    incidence: Floats  # (n_cells, n_bins): of the event by the end of each bin


def fit_cox(design: Floats, cells: Indices, ranks: Indices, weights: Floats) -> Risks:
    """Fit a Cox model to rows by their cell and rank; predictions for every cell."""
    bins, states = np.divmod(ranks, STATES)
    n_bins, n_cells = int(bins.max(initial=0)) + 1, len(design)
    left = np.bincount(bins * n_cells + cells, weights, n_bins * n_cells).reshape(n_bins, -1)
    at_risk = np.cumsum(left[::-1], axis=0)[::-1]
    happened = states == EVENT
    events = np.bincount(bins[happened], weights[happened], n_bins)
    cases = np.bincount(cells[happened], weights[happened], n_cells)
    columns = design - weights @ design[cells] / weights.sum()
    slopes = np.zeros(design.shape[1])
    for _ in range(MOST_STEPS):
        hazard = _hazard(columns @ slopes)
        each = events / np.maximum(at_risk @ hazard, 1e-300)  # Breslow's baseline, by bin
        expected = each @ at_risk * hazard
        means = (at_risk * hazard) @ columns / np.maximum(at_risk @ hazard, 1e-300)[:, None]
        gradient = columns.T @ (cases - expected) - slopes
        curved = (columns * expected[:, None]).T @ columns - (means * events[:, None]).T @ means
        step = np.linalg.solve(curved + np.eye(len(slopes)), gradient)
        slopes += step
        if np.abs(step).max(initial=0.0) < CONVERGED:
            break
    hazard = _hazard(columns @ slopes)
    baseline = np.cumsum(events / np.maximum(at_risk @ hazard, 1e-300))
    return Risks(columns @ slopes, 1.0 - np.exp(-hazard[:, None] * baseline))


def _hazard(logarithm: Floats) -> Floats:
    return np.asarray(np.exp(np.clip(logarithm, -MOST_LOG_HAZARD, MOST_LOG_HAZARD)))


def concordance(score: Floats, ranks: Indices, weights: Floats, horizon: int) -> float:
    """Uno's C: how often the higher score has the earlier event, until the end of a bin."""
    bins, states = np.divmod(ranks, STATES)
    place = np.unique(score, return_inverse=True)[1]
    n_bins, n_scores = int(bins.max()) + 1, int(place.max()) + 1
    later = np.zeros((n_bins, n_scores))
    np.add.at(later, (bins, place), weights)
    later = np.cumsum(later[::-1], axis=0)[::-1] - later  # rows that leave after each bin
    below = np.cumsum(later, axis=1) - later / 2.0  # ties count half
    followed = survival_of(counts_of(ranks, weights, n_bins * STATES)).followed
    until = np.concatenate([[1.0], followed[:-1]])
    first = (states == EVENT) & (bins <= horizon)
    inverse = weights[first] / np.maximum(until[bins[first]], 1e-300) ** 2
    pairs = inverse @ later.sum(axis=1)[bins[first]]
    return float(inverse @ below[bins[first], place[first]] / pairs) if pairs > 0 else np.nan


def concordance_error(score: Floats, ranks: Indices, weights: Floats, horizon: int) -> float:
    """The standard error of C, by drawing rows again and again."""
    draws = np.random.default_rng(0).poisson(1.0, (RESAMPLES, len(ranks)))
    kept = [drawn > 0 for drawn in draws]
    found = [
        concordance(score[own], ranks[own], weights[own] * drawn[own], horizon)
        for own, drawn in zip(kept, draws, strict=True)
    ]
    return float(np.nanstd(found))


def brier(incidence: Floats, ranks: Indices, weights: Floats, horizon: int, ends: Floats) -> float:
    """The Brier score of chances (n_rows, n_bins), integrated over time until the end of a bin."""
    counts = counts_of(ranks, weights, incidence.shape[1] * STATES)
    bins, states = np.divmod(ranks, STATES)
    scores = []
    for end in range(horizon + 1):
        known = weights * weights_at(counts, end)[ranks]
        truth = (states == EVENT) & (bins <= end)
        scores.append(known @ (truth - incidence[:, end]) ** 2 / weights.sum())
    lengths = np.diff(ends[: horizon + 1], prepend=0.0)
    return float(np.array(scores) @ lengths / lengths.sum())
