"""One cohort's rows, made ready for the kernels: dense codes, small types, no idle category."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
        How many rows each stands for, or what they weigh.
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
    unit : float
        What a row of equal weight would weigh, where chance deals out so many that they weigh as
        much together; 1 where weights count rows.
    shift : float
        By how much a cell is worth more of such rows than it weighs: its first row is worth a whole
        one, whatever it weighs.
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
    unit: float = 1.0
    shift: float = 0.0

    @property
    def counts_rows(self) -> bool:
        """Whether weights are whole rows, which chance deals out one by one."""
        return self.unit == 1.0

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.features)

    @property
    def n_rows(self) -> int:
        """How many distinct rows there are."""
        return len(self.target)

    @property
    def whole_by_class(self) -> NDArray[np.float64]:
        """How many rows each class has, or rows of equal weight, to the nearest whole number."""
        if self.counts_rows:
            return self.by_class
        return np.diff(np.rint(np.cumsum(self.by_class) / self.unit), prepend=0.0)

    @cached_property
    def by_class(self) -> NDArray[np.float64]:
        """How many rows each class has, or what they weigh."""
        return np.bincount(self.target, weights=self.weights, minlength=1).astype(np.float64)

    @cached_property
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
    codes = codes.astype(np.int16 if lacks_values else _unsigned(most), order="C")
    cardinalities = np.empty(len(features), dtype=np.int64)
    squeeze(codes, most, cardinalities)
    target = cohort.target.astype(_unsigned(cohort.n_classes))
    n_classes = np.empty(1, dtype=np.int64)
    squeeze(target[None], cohort.n_classes, n_classes)
    weights, unit, shift = _weighed(cohort)
    return PreparedRows(
        features=features,
        positions=positions,
        codes=codes,
        target=target,
        weights=weights,
        cardinalities=cardinalities,
        n_classes=int(n_classes[0]),
        total=int(weights.sum()),
        lacks_values=lacks_values,
        above_chance=above_chance,
        unit=unit,
        shift=shift,
    )


def _weighed(cohort: Cohort) -> tuple[NDArray[np.int64], float, float]:
    """What the rows of a cohort weigh, and the unit and the shift of `PreparedRows`."""
    if cohort.effective is None:
        return cohort.weights, 1.0, 0.0
    masses = cohort.weights if cohort.masses is None else cohort.masses
    masses = masses // max(int(np.gcd.reduce(masses)), 1)
    whole = max(float(np.rint(cohort.effective)), 1.0)
    return masses, float(masses.sum()) / whole, max(1.0 - whole / max(cohort.size, 1), 0.0)


def _unsigned(cardinality: int) -> type[np.unsignedinteger]:
    return np.uint8 if cardinality <= 2**8 else np.uint16
