"""How far the scores of a sample are from those of the whole, as distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_BINS = 20


def total_variation(
    sample: NDArray[np.floating], population: NDArray[np.floating], bins: int = N_BINS
) -> float:
    """The l1 norm of the total variation distance between two distributions of scores.

    The range of the population is cut into equally wide bins; the distance is the sum over bins of
    the absolute differences of the shares, from 0 (equal) to 2 (nothing in common).

    NaN is left out.

    Examples
    --------
    >>> total_variation(np.array([0.1, 0.9]), np.array([0.1, 0.9, 0.1, 0.9]))
    0.0
    >>> total_variation(np.array([0.1, 0.1]), np.array([0.1, 0.9]))
    1.0
    """
    sample, population = sample[~np.isnan(sample)], population[~np.isnan(population)]
    edges = np.linspace(population.min(), population.max(), bins + 1)
    inner = edges[1:-1]
    shares = [
        np.bincount(np.searchsorted(inner, scores, side="right"), minlength=bins) / len(scores)
        for scores in (sample, population)
    ]
    return float(np.abs(shares[0] - shares[1]).sum())
