"""Numeric cohorts drawn from known populations, with adjusted R² of what they recorded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from misfeat.completion import ExactScores, Known
from misfeat.information.measures import SquaredCorrelation
from misfeat.population.scores import population_scores
from tests.completion.numeric import drawn_numbers


def known_with_correlations(sums, size):
    """What is known of sums of products, and adjusted R² by size, from size 0 on."""
    measure = SquaredCorrelation(sums, above_chance=True)
    by_cohort = [measure.of_levels(i, 0, size, None) for i in range(len(sums.names))]
    by_size = [np.array(scores) for scores in zip(*by_cohort, strict=True)]
    return Known(ExactScores((), sums.missing, measure.ceiling), sums=sums), by_size


def found_for(sums, size=3, **settings):
    return population_scores(*known_with_correlations(sums, size), size, **settings)


def garbled(sums, garbage):
    """The same with other numbers where a cohort recorded nothing."""
    has = np.column_stack([~sums.missing, np.ones(len(sums.missing), dtype=bool)])
    return replace(
        sums, products=np.where(has[:, :, None] & has[:, None, :], sums.products, garbage)
    )


def shares_held(n_cohorts, n_rows, similarity, hide, seeds, size=3):
    """How often 90 % intervals hold R² of the population: recorded, predicted, ten best-looking."""
    held = []
    for seed in seeds:
        drawn = drawn_numbers(n_cohorts, n_rows, 7, hide, similarity, seed)
        found, truth = found_for(drawn.sums, size)[size], drawn.truth(size)
        inside = (found.low <= truth) & (truth <= found.high)
        best = np.argsort(-found.score, axis=1)[:, :10]
        parts = (
            inside[~found.predicted],
            inside[found.predicted],
            np.take_along_axis(inside, best, axis=1),
        )
        held.append([part.mean() if part.size else np.nan for part in parts])
    return mean_of_known(held)


def mean_of_known(values):
    """The mean over lines without NaN; NaN where there is nothing else."""
    values = np.array(values)
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(total, known.sum(axis=0), out=total * np.nan, where=known.any(axis=0))
