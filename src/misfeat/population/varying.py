"""How scores vary from sample to sample where nothing but scores is at hand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from misfeat.information.shannon import entropy
from misfeat.lattice import level
from misfeat.population.variance import (
    Variation,
    null_variance,
    sampling_variance,
    sampling_variance_by,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.information.count_tables import ScoresAlone
    from misfeat.information.measures import OwnMeasure

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
    noisy : ndarray of bool of shape (n_cohorts,), default=None
        Cohorts whose scores come from counts with noise.
    """

    null: Floats
    n_rows: Floats
    variation: Variation
    noisy: NDArray[np.bool_] | None = None


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
        null = null + (alone.steps**2 / 12.0)[:, None]
        return VaryingSize(null, n_rows, OF_SCORES, alone.noisy)


class VaryingOwn:
    """How scores of a measure vary that misfeat does not come with.

    Parameters
    ----------
    own : OwnMeasure
        Says how they do.
    whole : ndarray of shape (n_cohorts,)
        What there is to tell about the target.
    n_jobs : int, default=None
        Threads, as joblib reads it.
    """

    def __init__(self, own: OwnMeasure, whole: Floats, n_jobs: int | None = None) -> None:
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
