"""What is dealt out where rows have weights: rows of equal weight within each distinct row.

Rows that agree in all features and the class have weights w of their own. They are as heavy, and
vary as much, as (Σ w)² / Σ w² rows of equal weight together: these are dealt a class each and keep
their weights. So a cell of a set holds what it weighs whatever is dealt, and its noise is that of
its own weights, also where weights go with features.

Clusters and strata cannot be dealt out. What was recorded is over their design effect instead, the
first-order correction of Rao and Scott.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.cohorts.model import Cohort
    from misfeat.information.dealing import Deals
    from misfeat.information.prepared import PreparedRows
    from misfeat.machine.threads import Work

    Scores = NDArray[np.float64]

LARGEST_MASS = 2**31
"""What all rows weigh together, at most about, where weights are dealt out."""
NO_DESIGN = 1.02
"""Effective sizes that differ by no more than this factor are the same, but for rounding."""


def units_of(cohort: Cohort) -> NDArray[np.int64]:
    """How many rows of equal weight each row of a cohort is worth."""
    return cohort.weights if cohort.units is None else cohort.units


def one_a_unit(rows: PreparedRows, place: NDArray[np.int64]) -> PreparedRows:
    """A row for each of equal weight that rows are worth, given whose it is; what it weighs."""
    times = np.bincount(place, minlength=rows.n_rows)
    each = (rows.weights / times)[place]
    weights = np.maximum(np.rint(each * (LARGEST_MASS / each.sum())), 1.0).astype(np.int64)
    return replace(
        rows,
        codes=np.ascontiguousarray(rows.codes[:, place]),
        target=rows.target[place],
        weights=weights,
        total=int(weights.sum()),
        unit=1.0,
        shift=0.0,
    )


def design_effect(cohort: Cohort) -> float:
    """How much a design takes off the effective size that weights alone leave."""
    if cohort.effective is None:
        return 1.0
    masses = cohort.weights if cohort.masses is None else cohort.masses
    total = float(masses.sum())
    by_weights = total**2 / float((masses.astype(np.float64) ** 2 / units_of(cohort)).sum())
    # Units are rounded, and no design makes a difference of so little.
    return by_weights / cohort.effective if by_weights > NO_DESIGN * cohort.effective else 1.0


class OfDesign:
    """Deals of rows that were not drawn one by one: what was recorded is over the design effect.

    Parameters
    ----------
    deals : Deals
        Of rows that were.
    effect : float
        How much more the recorded scores vary than weights alone make them (Rao and Scott).
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
