"""Pairs of features that no subgroup recorded together, and where recording both settles most."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Unsettled:
    """Knows which pairs of features nobody recorded together.

    How two such features interact is not in the table, whatever is done with it. Where one subgroup
    records both, it is known for all; a subgroup that recorded one of them already needs to record
    the other only, and many rows settle more than few.

    Examples
    --------
    >>> missing = np.array([[True, False], [False, True], [True, True]])
    >>> pairs = Unsettled(missing, [100, 300, 900], ["a", "b", "c"], ["age", "ca"])
    >>> pairs.in_set([0, 1])
    (('age', 'ca'), 'b')
    """

    def __init__(
        self,
        missing: NDArray[np.bool_],
        rows: ArrayLike,
        names: Sequence[str],
        features: Sequence[str],
    ) -> None:
        self._recorded = ~missing
        self._rows = np.asarray(rows)
        self._names, self._features = names, features

    def in_set(self, members: Sequence[int] | NDArray[np.integer]) -> tuple[tuple[str, ...], str]:
        """The first such pair of a set, and the subgroup that could settle most; else nothing."""
        for a, b in combinations(members, 2):
            one, other = self._recorded[:, a], self._recorded[:, b]
            if not (one & other).any():
                nearest = np.lexsort((self._rows, one.astype(int) + other.astype(int)))[-1]
                return (self._features[a], self._features[b]), self._names[nearest]
        return (), ""
