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

    `parts` are scores of sets one smaller, `parts_of` which of these each set has
    (`misfeat.lattice.ranks_below`). Lower by up to `tolerance` does not count as lower.
    """
    return float(np.mean(scores[:, :, None] >= parts[:, parts_of] - tolerance))
