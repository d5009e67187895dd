"""Squared correlations when the target is dealt out anew, from sums of products alone.

In a random order of the target, its sums of products with centred columns vary around 0, with the
covariance of these columns times the variance of the target. With many rows they are normal
(Hoeffding's combinatorial central limit theorem), so that they can be drawn without the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from misfeat.information.correlation import squared_correlation
from misfeat.lattice.levels import level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from misfeat.runtime.threads import Task, Work

    Scores = NDArray[np.float64]


class CorrelationDeals:
    """Deals of a numeric target, drawn from sums of products.

    `products` are sums of products of centred columns over `n_rows`, the target last. Sets of
    `recorded` features hold up to `largest` besides those `held`; what these explain of the target
    stays as it is.
    """

    def __init__(
        self,
        products: NDArray[np.float64],
        n_rows: int,
        recorded: NDArray[np.integer],
        largest: int,
        *,
        held: tuple[int, ...] = (),
        seed: np.random.SeedSequence,
    ) -> None:
        free = np.setdiff1d(recorded, held)
        own = np.array(sorted(held), dtype=np.int64)
        self.subsets = tuple(
            np.sort(
                np.hstack([free[level(len(free), size)], np.tile(own, (_sets(free, size), 1))]),
                axis=1,
            )
            for size in range(1, min(largest, len(free)) + 1)
        )
        self._products, self._seed = products, seed
        self._below = float(squared_correlation(products, own[None])[0]) if held else 0.0
        explained = products[:-1, own] @ np.linalg.pinv(products[np.ix_(own, own)])
        left = products - np.pad(explained, ((0, 1), (0, 0)))[:, : len(own)] @ products[own]
        self._mean = explained @ products[own, -1]
        spread = max(products[-1, -1] * (1.0 - self._below), 0.0) / max(n_rows - 1 - len(own), 1)
        values, vectors = np.linalg.eigh((left[:-1, :-1] + left[:-1, :-1].T) / 2)
        self._root = vectors * np.sqrt(np.maximum(values, 0.0) * spread)

    def scores(self, first: int, last: int, work: Work) -> Scores:
        """R² of deals ``first`` to ``last - 1`` beyond the features that are held.

        Number 0 is the target as it was recorded. Of shape (n_deals, n_sets).
        """
        found = np.empty((last - first, sum(map(len, self.subsets))))

        def task(number: int) -> Task:
            def score() -> None:
                dealt = self._dealt(number)
                by_size = [squared_correlation(dealt, subsets) for subsets in self.subsets]
                found[number - first] = np.concatenate(by_size) - self._below

            return score

        work.run([task(number) for number in range(first, last)])
        return found

    def _dealt(self, number: int) -> NDArray[np.float64]:
        """The sums of products of one deal."""
        if number == 0:
            return self._products
        key = (*self._seed.spawn_key, number)
        own = np.random.SeedSequence(self._seed.entropy, spawn_key=key)
        drawn = self._root @ np.random.default_rng(own).standard_normal(self._root.shape[1])
        dealt = self._products.copy()
        dealt[:-1, -1] = dealt[-1, :-1] = self._mean + drawn
        return dealt


def _sets(free: NDArray[np.integer], size: int) -> int:
    return len(level(len(free), size))
