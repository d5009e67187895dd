"""Which features to hide from which subgroups, at random, so that the truth stays known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_SHARE = 0.6
"""No subgroup loses more than this share of the features."""


def random_mask(
    n_cohorts: int, n_features: int, p: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Hide each feature of each subgroup with probability `p`: a mask, True where one is hidden.

    At least one feature and at most 60 % of them are hidden in every subgroup, and none in all.
    With one subgroup or ``p = 0`` nothing is.

    Examples
    --------
    >>> mask = random_mask(4, 10, 0.5, np.random.default_rng(0))
    >>> bool(mask.any(axis=1).all()), bool(mask.all(axis=0).any())
    (True, False)
    """
    if p == 0 or n_cohorts == 1:
        return np.zeros((n_cohorts, n_features), dtype=bool)
    most = max(1, int(LARGEST_SHARE * n_features))
    mask = rng.random((n_cohorts, n_features)) < p
    for hidden in mask:
        surplus = int(hidden.sum()) - most
        if surplus > 0:
            hidden[rng.choice(np.flatnonzero(hidden), surplus, replace=False)] = False
        elif not hidden.any():
            hidden[rng.integers(n_features)] = True
    for feature in np.flatnonzero(mask.all(axis=0)):
        cohort = int(np.argmax(mask.sum(axis=1)))
        mask[cohort, feature] = False
        if not mask[cohort].any() and n_features > 1:
            # Then every subgroup hides this feature alone, so the next one is hidden nowhere.
            mask[cohort, (feature + 1) % n_features] = True
    return mask
