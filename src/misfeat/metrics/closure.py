"""How often larger sets score no lower than their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def share_closed(
    scores: NDArray[np.floating],
    parts: NDArray[np.floating],
    parts_of: NDArray[np.integer],
    tolerance: float = 0.0,
) -> float:
    """The share of pairs of a set and a part one smaller in which the set does not score lower.

    Parameters
    ----------
    scores : ndarray of shape (n_cohorts, n_sets)
        Scores of sets of one size.
    parts : ndarray of shape (n_cohorts, n_parts)
        Scores of sets one smaller.
    parts_of : ndarray of shape (n_sets, size)
        Which parts each set has, as `misfeat.lattice.ranks_below` gives them.
    tolerance : float, default=0.0
        How much lower still counts as not lower.

    Examples
    --------
    The set of two features scores at least as much as one of them, but not as the other.

    >>> share_closed(np.array([[0.3]]), np.array([[0.2, 0.4]]), np.array([[0, 1]]))
    0.5
    """
    return float(np.mean(scores[:, :, None] >= parts[:, parts_of] - tolerance))
