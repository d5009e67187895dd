"""R² that the rows of a subgroup would have for sets with features that it did not record.

It follows from the subgroup's own covariance, in which lacking columns are regressed on recorded
ones (`Moments.completed`). By chance, features that a subgroup lacks explain one over the rows of
what is left, each:

    R² = 1 - (1 - x) (1 - lacking / (n - 1 - recorded)).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from misfeat.completion.base import closed_upwards, recorded_part_scores, with_certain_bounds
from misfeat.completion.model import NONE
from misfeat.estimation.population import PopulationModel
from misfeat.information.correlation import squared_correlation
from misfeat.lattice import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.completion.model import CompletedScores, Known

    Floats = NDArray[np.float64]


def complete_sample_r2(known: Known, size: int, confidence: float | None) -> CompletedScores:
    """R² of every set of a size: of the rows where it was computed, elsewhere predicted.

    Without confidence, bounds are those that are certain.
    """
    exact, model = known.exact, PopulationModel.of(known)
    sizes = range(1, size + 1)
    found = [_expected_in_rows(model, level(model.moments.n_features, m)) for m in sizes]
    guesses = [exact.by_size[0], *found]
    completed = with_certain_bounds(exact, size, closed_upwards(guesses, exact)[-1])
    if confidence is None:
        return completed
    reach = float(ndtri((1.0 + confidence) / 2.0)) * np.sqrt(_variance(model, guesses))
    # Of features that nobody recorded, and of exact scores, bounds stay as they are.
    narrowed = completed.predicted & (completed.support != NONE)
    reach = np.where(narrowed, reach, np.inf)
    return replace(
        completed,
        low=np.maximum(completed.low, completed.score - reach),
        high=np.minimum(completed.high, completed.score + reach),
    )


def _variance(model: PopulationModel, guesses: list[Floats]) -> Floats:
    """The variance of what lacking features add, as in `pooling`: v(g, h) (1 - x)².

    They explain the share g of what the recorded part leaves, 1 - x. Subgroups differ from what
    they share as samples of 1 / h rows do, and sampling adds to h.
    """
    moments, size = model.moments, len(guesses) - 1
    subsets = level(moments.n_features, size)
    lacking = ~moments.recorded[:, subsets]
    left = 1.0 - np.array(
        [recorded_part_scores(guesses, k, subsets, ~has) for k, has in enumerate(moments.recorded)]
    )
    gain = np.clip(1.0 - (1.0 - guesses[-1]) / np.maximum(left, 1e-12), 0.0, 1.0)
    behind = np.where(lacking, 1.0 / moments.rows_recorded[subsets], 0.0).max(axis=2)
    h = model.effects.largest_spread + 1.0 / moments.rows[:, None] + behind
    found: Floats = model.evidence(subsets).variation(gain, h, lacking.sum(axis=2)) * left**2
    return found


def _expected_in_rows(model: PopulationModel, subsets: NDArray[np.integer]) -> Floats:
    """R² of listed sets of one size, of shape (n_cohorts, n_sets)."""
    moments = model.moments
    found = np.empty((len(moments.rows), len(subsets)))
    for k, recorded in enumerate(moments.recorded):
        explained = squared_correlation(moments.completed(k), subsets)
        lacking = (~recorded[subsets]).sum(axis=1) * model.dimensions[k]
        left = np.maximum(moments.rows[k] - 1.0 - subsets.shape[1] + lacking, 1.0)
        found[k] = 1.0 - (1.0 - explained) * np.maximum(1.0 - lacking / left, 0.0)
    return found
