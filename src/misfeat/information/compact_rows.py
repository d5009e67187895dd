"""One cohort's rows as the kernels want them: codes without gaps, small types."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.kernels.tables import squeeze

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort


@dataclass(frozen=True, eq=False)
class CompactRows:
    """Rows of the features that a cohort recorded; every code below a cardinality occurs."""

    features: NDArray[np.int64]  # the numbers of those features in the cohort
    positions: NDArray[np.int64]  # the reverse; -1 where a feature was not recorded
    codes: NDArray[np.integer]  # (n_features, n_rows); -1 where a value is missing
    target: NDArray[np.unsignedinteger]
    weights: NDArray[np.int64]  # how many rows each stands for, or what they weigh
    cardinalities: NDArray[np.int64]
    n_classes: int
    total: int  # the sum of the weights
    lacks_values: bool  # whether any code is -1
    above_chance: bool = False  # whether null expectations are taken off scores
    unit: float = 1.0  # what one of the effective rows weighs; 1 where weights count rows
    shift: float = 0.0  # a cell is worth so many more of them: its first row is a whole one

    @property
    def counts_rows(self) -> bool:
        """Whether weights are whole rows, which are permuted one by one."""
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


def compact_rows(cohort: Cohort, *, above_chance: bool = False) -> CompactRows:
    """Take the features that a cohort recorded, and leave out codes that do not occur."""
    features = np.flatnonzero(cohort.recorded)
    positions = np.full(len(cohort.recorded), -1, dtype=np.int64)
    positions[features] = np.arange(len(features))
    codes = cohort.codes if len(features) == len(cohort.recorded) else cohort.codes[features]
    lacks_values = bool(codes.size) and int(codes.min()) < 0
    most = int(cohort.cardinalities[features].max(initial=1))
    codes = codes.astype(np.int16 if lacks_values else _unsigned(most), order="C")
    cardinalities, n_classes = np.empty(len(features), np.int64), np.empty(1, np.int64)
    squeeze(codes, most, cardinalities)
    target = cohort.target.astype(_unsigned(cohort.n_classes))
    squeeze(target[None], cohort.n_classes, n_classes)
    weights, unit, shift = cohort.weights, 1.0, 0.0
    if cohort.effective is not None:
        weights = cohort.weights if cohort.masses is None else cohort.masses
        weights = weights // max(int(np.gcd.reduce(weights)), 1)
        effective = max(float(np.rint(cohort.effective)), 1.0)
        unit = float(weights.sum()) / effective
        shift = max(1.0 - effective / max(cohort.size, 1), 0.0)
    return CompactRows(
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


def _unsigned(cardinality: int) -> type[np.unsignedinteger]:
    return np.uint8 if cardinality <= 2**8 else np.uint16
