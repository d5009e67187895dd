"""What is known about sets of every size where scores alone are at hand.

The pool of a set is the mean of its scores over all cohorts, each by its rows, with predicted ones
where a cohort did not record it. That mean is noisy where cohorts are small, so it is drawn towards
what the pools of smaller sets lead one to expect: a regression of the pools of a size on the sums
of those of their parts, from which a pool is believed to differ as far as sets of its size do
beyond the noise that they do not share.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.lattice import level, rank
from misfeat.population.posterior import Evidence
from misfeat.population.refined import SHARED_NOISE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.population.varying import Varying, VaryingSize

    Floats = NDArray[np.float64]


def gather_scores(
    known: Known,
    varying: Varying,
    above_chance: Sequence[Floats],
    size: int,
    *,
    guesses: Sequence[Floats] | None = None,
) -> dict[int, Evidence]:
    """Evidence of all sets of size 1, 2, … up to one, recorded and predicted.

    Parameters
    ----------
    known : Known
        What each cohort never recorded.
    varying : Varying
        How scores vary.
    above_chance : sequence of ndarray of shape (n_cohorts, n_sets)
        Scores above chance from size 0 on; NaN where a cohort did not record a set.
    size : int
        The largest size.
    guesses : sequence of ndarray of shape (n_cohorts, n_sets), default=None
        Predicted scores from size 0 on. Defaults to those of `InteractionsCompleter`.

    Returns
    -------
    dict of int to Evidence
        By size.
    """
    if guesses is None:
        guesses = InteractionsCompleter().guess(known, size).by_size
    missing = known.exact.missing
    pools: list[Floats] = [np.zeros(1)]
    found = {}
    for m in range(1, size + 1):
        subsets, predicted = level(missing.shape[1], m), np.isnan(above_chance[m])
        scores = np.where(predicted, guesses[m], above_chance[m])
        how = varying.of_size(m)
        pools.append(_pooled(scores, predicted, how, subsets, pools))
        found[m] = Evidence(
            scores=scores,
            null=how.null,
            n_rows=how.n_rows,
            predicted=predicted,
            pooled=np.maximum(pools[m], 0.0),
            lacking=missing[:, subsets].mean(axis=2),
            whole=varying.whole,
            variation=how.variation,
            noisy=how.noisy,
        )
    return found


def _pooled(
    scores: Floats,
    predicted: NDArray[np.bool_],
    how: VaryingSize,
    subsets: NDArray[np.integer],
    pools: Sequence[Floats],
) -> Floats:
    """The mean score of every set, drawn towards what its parts lead one to expect."""
    share = (how.n_rows / how.n_rows.sum())[:, None]
    mean: Floats = (share * scores).sum(axis=0)
    noise = (share**2 * how.variation.sampling(scores, how.null, how.n_rows)).sum(axis=0)
    noise = noise / np.maximum((share * ~predicted).sum(axis=0), share.min())
    size = subsets.shape[1]
    if size == 1 or len(subsets) <= size + 2:
        return mean
    parts = [
        np.sum([pools[m][rank(subsets[:, chosen])] for chosen in combinations(range(size), m)], 0)
        for m in range(1, size)
    ]
    lines = np.stack([np.ones(len(mean)), *parts], axis=1) / np.sqrt(noise)[:, None]
    weights = np.linalg.lstsq(lines, mean / np.sqrt(noise), rcond=None)[0]
    expected = np.stack([np.ones(len(mean)), *parts], axis=1) @ weights
    noise *= 1.0 - SHARED_NOISE  # what all sets have in common, the regression took up
    beyond = max(0.0, float(np.mean((mean - expected) ** 2 - noise)))
    pooled: Floats = expected + (mean - expected) * beyond / (beyond + noise)
    return pooled
