"""What is known about sets of every size where scores alone are at hand.

The pool of a set is the mean of its scores over all cohorts, each by its rows, with predicted ones
where a cohort did not record it. That mean is noisy where cohorts are small, so it is drawn towards
what the pools of smaller sets lead one to expect: a regression of the pools of a size on the sums
of those of their parts, from which a pool is believed to differ as far as sets of its size do
beyond noise.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.information.shannon import entropy
from misfeat.lattice import level, rank
from misfeat.population.posterior import Evidence
from misfeat.population.variance import Variation, null_variance, sampling_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.information.scores_alone import ScoresAlone

    Floats = NDArray[np.float64]

OF_SCORES = Variation(sampling_variance, np.square, chance_in_pool=1.0)
"""A spread of 1 is a standard deviation as large as the score. The pool is a mean of scores."""


def gather_scores(
    known: Known,
    alone: ScoresAlone,
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
    alone : ScoresAlone
        Rows by class, and how many values features have.
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
        n_rows = alone.rows_worth(m)
        n_cells = alone.cards[subsets].prod(axis=1)
        null = null_variance(n_rows, n_cells, alone.by_class.shape[1])
        null = null + (alone.steps**2 / 12.0)[:, None]
        pools.append(_pooled(scores, predicted, null, n_rows, subsets, pools))
        found[m] = Evidence(
            scores=scores,
            null=null,
            n_rows=n_rows,
            predicted=predicted,
            pooled=np.maximum(pools[m], 0.0),
            lacking=missing[:, subsets].mean(axis=2),
            whole=np.array([entropy(counts) for counts in alone.by_class]),
            variation=OF_SCORES,
            as_unsure=None if alone.effective is None else n_rows < alone.by_class.sum(axis=1),
        )
    return found


def _pooled(
    scores: Floats,
    predicted: NDArray[np.bool_],
    null: Floats,
    n_rows: Floats,
    subsets: NDArray[np.integer],
    pools: Sequence[Floats],
) -> Floats:
    """The mean score of every set, drawn towards what its parts lead one to expect."""
    share = (n_rows / n_rows.sum())[:, None]
    mean: Floats = (share * scores).sum(axis=0)
    noise = (share**2 * sampling_variance(scores, null, n_rows)).sum(axis=0)
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
    beyond = max(0.0, float(np.mean((mean - expected) ** 2 - noise)))
    pooled: Floats = expected + (mean - expected) * beyond / (beyond + noise)
    return pooled
