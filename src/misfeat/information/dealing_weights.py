"""What is dealt out where rows have weights: rows that keep theirs.

Of rows that agree in all features and the class, only how many there are is known, the sum of their
weights and that of the squares. One heavy row and others that are all alike have the same sums:
these are dealt a class each. So a cell of a set weighs the same whatever is dealt, and its noise is
that of its own weights, also where weights go with features.

Clusters and strata cannot be dealt out. What was recorded is over their design effect instead, the
first-order correction of Rao and Scott.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from misfeat.cohorts.weights import squares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort
    from misfeat.information.deals import Deals
    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Work

    Scores = NDArray[np.float64]

LARGEST_MASS = 2**31
"""What all rows weigh together, at most about, where weights are dealt out."""
NO_DESIGN = 1.0 + 1e-6
"""Effective sizes that differ by no more than this factor are the same, but for rounding."""


def one_by_one(rows: PreparedRows, cohort: Cohort) -> tuple[PreparedRows, NDArray[np.intp]]:
    """The rows of the table one by one with what each weighs, and the distinct row of each."""
    times, masses, heaviest = _weights_of(cohort)
    place = np.repeat(np.arange(rows.n_rows), times)
    each = ((masses - heaviest) / np.maximum(times - 1, 1))[place]
    each[np.cumsum(times) - times] = heaviest
    weights = np.maximum(np.rint(each * (LARGEST_MASS / each.sum())), 1.0).astype(np.int64)
    alone = replace(
        rows,
        codes=np.ascontiguousarray(rows.codes[:, place]),
        target=rows.target[place],
        weights=weights,
        total=int(weights.sum()),
        unit=1.0,
        shift=0.0,
    )
    return alone, place


def design_effect(cohort: Cohort) -> float:
    """How much a design takes off the effective size that weights alone leave."""
    if cohort.effective is None:
        return 1.0
    times, masses, heaviest = _weights_of(cohort)
    kish = float(masses.sum()) ** 2 / float(squares_of(times, masses, heaviest).sum())
    return kish / cohort.effective if kish > NO_DESIGN * cohort.effective else 1.0


def _weights_of(cohort: Cohort) -> tuple[NDArray[np.int64], NDArray[np.int64], Scores]:
    """How many rows distinct ones stand for, what these weigh, and the heaviest of them."""
    if cohort.masses is None or cohort.heaviest is None:
        return cohort.weights, cohort.weights, np.ones(len(cohort.weights))
    return cohort.weights, cohort.masses, cohort.heaviest


class OfDesign:
    """Deals of rows that were not drawn one by one: what was recorded is over the design effect.

    `effect` is how much more the recorded scores vary than weights alone make them (Rao and Scott).
    """

    def __init__(self, deals: Deals, effect: float) -> None:
        self._deals, self._effect = deals, effect
        self.subsets = deals.subsets

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``, of shape (n_deals, n_sets)."""
        found = self._deals.scores(first, last, work)
        if first == 0 < last:
            found[0] /= self._effect
        return found
