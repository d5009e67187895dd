"""What tests against chance ask: scores of the same sets, with the target dealt out anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from misfeat.machine.threads import Work

    Scores = NDArray[np.float64]


class Deals(Protocol):
    """Scores of the same feature sets, deal by deal: what they tell beyond those that are held.

    Attributes
    ----------
    subsets : tuple of ndarray of shape (n_sets, size)
        Feature numbers of the cohort, ascending along a row; an entry a size.
    """

    subsets: tuple[NDArray[np.int64], ...]

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """Scores of deals ``first`` to ``last - 1``, of shape (n_deals, n_sets)."""
        ...
