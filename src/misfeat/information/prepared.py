"""One cohort's rows, made ready for the kernels: dense codes, small types, no idle category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.kernels.codes import squeeze

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Rows of the features that a cohort recorded.

    Attributes
    ----------
    features : ndarray of int64 of shape (n_features,)
        The numbers of those features in the cohort.
    positions : ndarray of int64
        The reverse: for every feature of the cohort its number here, -1 where it was not recorded.
    codes : ndarray of shape (n_features, n_rows)
        Every code below the cardinality occurs; -1 where a row lacks the value.
    target : ndarray of uint8 or uint16
        Every class below `n_classes` occurs.
    weights : ndarray of int64
        How many rows each stands for.
    cardinalities : ndarray of int64
        Codes of each feature.
    n_classes : int
        Classes of the target.
    total : int
        The sum of the weights.
    lacks_values : bool
        Whether any code is -1.
    above_chance : bool
        Whether what chance would give is taken off scores.
    """

    features: NDArray[np.int64]
    positions: NDArray[np.int64]
    codes: NDArray[np.integer]
    target: NDArray[np.unsignedinteger]
    weights: NDArray[np.int64]
    cardinalities: NDArray[np.int64]
    n_classes: int
    total: int
    lacks_values: bool
    above_chance: bool = False

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.features)

    @property
    def n_rows(self) -> int:
        """How many distinct rows there are."""
        return len(self.target)

    @property
    def by_class(self) -> NDArray[np.float64]:
        """How many rows each class has."""
        return np.bincount(self.target, weights=self.weights, minlength=1).astype(np.float64)

    @property
    def sum_f_of_classes(self) -> float:
        """The sum of f(c) = c log c over the classes of the target."""
        counts = self.by_class
        return float(counts[counts > 0] @ np.log(counts[counts > 0]))


def prepare_rows(cohort: Cohort, *, above_chance: bool = False) -> PreparedRows:
    """Take the features that a cohort recorded, and leave out codes that do not occur."""
    features = np.flatnonzero(cohort.recorded)
    positions = np.full(len(cohort.recorded), -1, dtype=np.int64)
    positions[features] = np.arange(len(features))
    codes = cohort.codes if len(features) == len(cohort.recorded) else cohort.codes[features]
    lacks_values = bool(codes.size) and int(codes.min()) < 0
    most = int(cohort.cardinalities[features].max(initial=1))
    codes = codes.astype(np.int16 if lacks_values else _unsigned(most))
    cardinalities = np.empty(len(features), dtype=np.int64)
    squeeze(codes, most, cardinalities)
    target = cohort.target.astype(_unsigned(cohort.n_classes))
    n_classes = np.empty(1, dtype=np.int64)
    squeeze(target[None], cohort.n_classes, n_classes)
    return PreparedRows(
        features=features,
        positions=positions,
        codes=codes,
        target=target,
        weights=cohort.weights,
        cardinalities=cardinalities,
        n_classes=int(n_classes[0]),
        total=int(cohort.weights.sum()),
        lacks_values=lacks_values,
        above_chance=above_chance,
    )


def _unsigned(cardinality: int) -> type[np.unsignedinteger]:
    return np.uint8 if cardinality <= 2**8 else np.uint16
