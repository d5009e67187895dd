"""Measures: what a feature set tells about the target, behind one interface."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Protocol

import numpy as np

from misfeat.information.correlation import squared_correlation
from misfeat.information.mutual_info import joint_mutual_info, level_mutual_info, target_entropy
from misfeat.lattice.levels import level, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from misfeat.cohorts import Cohorts, ProductSums

    Progress = Callable[[int, int], None]
    Scores = NDArray[np.float64]


class Measure(Protocol):
    """Scores of feature sets in the cohorts of one table.

    Attributes
    ----------
    name : str
        What users call it.
    unit : str
        The unit of a score.
    words : str
        What a score is, as in "the ... with the target".
    features : tuple of str
        The features that sets are made of.
    missing : ndarray of bool of shape (n_cohorts, n_features)
        Which features each cohort never recorded.
    ceiling : ndarray of shape (n_cohorts,)
        What no score can exceed.
    closed : bool
        Whether a larger set never scores lower (upward closure).
    rows : Cohorts or None
        The coded rows that scores were counted from, where they were.
    """

    name: str
    unit: str
    words: str
    features: tuple[str, ...]
    missing: NDArray[np.bool_]
    ceiling: Scores
    closed: bool
    rows: Cohorts | None

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        ...

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        ...


class MutualInformation:
    """Joint mutual information with the target, in nats.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts
    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [0, 0, 1, 1]}
    >>> MutualInformation(build_cohorts(table, "y")).of_levels(0, 1, 1, None)[0].round(4)
    array([0.6931, 0.    ])
    """

    name, unit, words = "mutual_info", "nats", "joint mutual information"

    def __init__(self, cohorts: Cohorts) -> None:
        self.rows: Cohorts | None = cohorts
        self._cohorts = list(cohorts)
        self.features = cohorts.features
        self.missing = cohorts.missing
        self.closed = not any((c.codes[c.recorded] < 0).any() for c in self._cohorts)
        # Where rows differ between sets, H(Y) of all rows bounds nothing; log of the classes does.
        self.ceiling = np.array(
            [target_entropy(c) if self.closed else np.log(c.n_classes) for c in self._cohorts]
        )

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        return level_mutual_info(self._cohorts[cohort], low, high, n_jobs=n_jobs, progress=progress)

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        return joint_mutual_info(self._cohorts[cohort], subsets, n_jobs=n_jobs)


class SquaredCorrelation:
    """The squared multiple correlation of numeric features with a numeric or binary target.

    Examples
    --------
    >>> from misfeat.cohorts import build_cohorts, build_product_sums
    >>> table = {"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 0.0, 1.0], "y": [1.0, 3.0, 5.0, 7.0]}
    >>> sums = build_product_sums(table, "y")
    >>> SquaredCorrelation(sums).of_levels(0, 1, 1, None)[0].round(4)
    array([1., 0.])
    """

    name, unit, words = "r2", "R²", "squared multiple correlation"
    closed = True
    rows: Cohorts | None = None

    def __init__(self, sums: ProductSums) -> None:
        self.sums = sums
        self.features = sums.features
        self.missing = sums.missing
        self.ceiling = np.ones(len(sums.names))

    def of_levels(
        self,
        cohort: int,
        low: int,
        high: int,
        n_jobs: int | None,
        progress: Progress | None = None,
    ) -> list[Scores]:
        """Scores of every set of sizes low to high, by rank; NaN where one cannot be computed."""
        recorded = np.flatnonzero(~self.missing[cohort])
        scores = []
        for size in range(low, high + 1):
            found = np.full(comb(len(self.features), size), np.nan)
            subsets = recorded[level(len(recorded), size)]
            found[rank(subsets)] = self.of_subsets(cohort, subsets, n_jobs)
            scores.append(found)
            if progress is not None:
                progress(size - low + 1, high - low + 1)
        return scores

    def of_subsets(self, cohort: int, subsets: NDArray[np.integer], n_jobs: int | None) -> Scores:
        """Scores of listed sets of one size; NaN where one cannot be computed."""
        del n_jobs  # the linear algebra underneath has threads of its own
        found = np.full(len(subsets), np.nan)
        computable = ~self.missing[cohort][subsets].any(axis=1)
        found[computable] = squared_correlation(self.sums.products[cohort], subsets[computable])
        return found
