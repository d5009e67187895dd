"""What is known about sets of every size where scores alone are at hand.

The pool of a set is the mean of its scores over all cohorts, each by its rows, with predicted ones
where a cohort did not record it. That mean is noisy where cohorts are small, so it is drawn towards
what the pools of smaller sets lead one to expect: a regression of the pools of a size on the sums
of those of their parts, from which a pool is believed to differ as far as sets of its size do
beyond noise.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from misfeat.completion.interactions import InteractionsCompleter
from misfeat.information.shannon import entropy
from misfeat.lattice import level, rank
from misfeat.population.posterior import Evidence
from misfeat.population.variance import (
    Variation,
    null_variance,
    sampling_variance,
    sampling_variance_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.completion.model import Known
    from misfeat.information.own_scores import OwnScores
    from misfeat.information.scores_alone import ScoresAlone

    Floats = NDArray[np.float64]

OF_SCORES = Variation(sampling_variance, np.square, chance_in_pool=1.0)
"""A spread of 1 is a standard deviation as large as the score. The pool is a mean of scores."""


class Varying(Protocol):
    """How scores vary of which nothing else is known.

    Attributes
    ----------
    whole : ndarray of shape (n_cohorts,)
        What there is to tell about the target.
    """

    whole: Floats

    def of_size(self, size: int) -> VaryingSize:
        """How scores of all sets of a size vary."""
        ...


class VaryingSize(NamedTuple):
    """How scores of all sets of one size vary.

    Attributes
    ----------
    null : ndarray of shape (n_cohorts, n_sets)
        The variance that the score of a set that tells nothing has.
    n_rows : ndarray of shape (n_cohorts,)
        Rows that tell as much.
    variation : Variation
        How scores of sets that tell something vary.
    """

    null: Floats
    n_rows: Floats
    variation: Variation


class VaryingInformation:
    """How information varies that was worked out elsewhere.

    Parameters
    ----------
    alone : ScoresAlone
        Rows by class, how many values features have, and what scores were rounded to.
    """

    def __init__(self, alone: ScoresAlone) -> None:
        self._alone = alone
        self.whole = np.array([entropy(counts) for counts in alone.by_class])

    def of_size(self, size: int) -> VaryingSize:
        """How scores of all sets of a size vary.

        Parameters
        ----------
        size : int
            Features per set.
        """
        alone, n_rows = self._alone, self._alone.rows_worth(size)
        n_cells = alone.cards[level(len(alone.cards), size)].prod(axis=1)
        null = null_variance(n_rows, n_cells, alone.by_class.shape[1])
        return VaryingSize(null + (alone.steps**2 / 12.0)[:, None], n_rows, OF_SCORES)


class VaryingOwn:
    """How scores of a measure vary that misfeat does not come with.

    Parameters
    ----------
    own : OwnScores
        Says how they do.
    whole : ndarray of shape (n_cohorts,)
        What there is to tell about the target.
    n_jobs : int, default=None
        Threads, as joblib reads it.
    """

    def __init__(self, own: OwnScores, whole: Floats, n_jobs: int | None = None) -> None:
        self._own, self._n_jobs = own, n_jobs
        self.whole = whole

    def of_size(self, size: int) -> VaryingSize:
        """How scores of all sets of a size vary.

        Parameters
        ----------
        size : int
            Features per set.
        """
        noise = self._own.noise(size, self._n_jobs)
        by_curve = partial(sampling_variance_by, noise.curve)
        return VaryingSize(
            noise.null, noise.n_rows, Variation(by_curve, np.square, chance_in_pool=1.0)
        )


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
    beyond = max(0.0, float(np.mean((mean - expected) ** 2 - noise)))
    pooled: Floats = expected + (mean - expected) * beyond / (beyond + noise)
    return pooled
