"""Ranks of methods over many tables, and how far apart they must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2, rankdata, studentized_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Row = dict[str, Any]

LEVEL = 0.05


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over blocks, 1 the best; `apart` is the critical difference of Nemenyi's test."""

    methods: tuple[str, ...]
    ranks: NDArray[np.float64]
    means: NDArray[np.float64]
    blocks: int
    apart: float
    p: float

    def of(self, method: str) -> float:
        """The mean rank of a method."""
        return float(self.ranks[self.methods.index(method)])


def ranking(figures: NDArray[np.float64], methods: Sequence[str]) -> Ranking:
    """Rank methods in every block (a row; greater figures are better), ties sharing their ranks.

    References
    ----------
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> found = ranking(np.array([[0.9, 0.8, 0.7], [0.8, 0.9, 0.1]]), ["a", "b", "c"])
    >>> found.ranks.tolist(), round(found.apart, 2)
    ([1.5, 1.5, 3.0], 2.34)
    """
    n, k = figures.shape
    ranks = rankdata(-figures, axis=1)
    mean = ranks.mean(axis=0)
    spread = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))  # ties make it smaller
    statistic = n * ((mean - (k + 1) / 2) ** 2).sum() / spread if spread > 0 else 0.0
    apart = studentized_range.ppf(1 - LEVEL, k, np.inf) * np.sqrt(k * (k + 1) / (12 * n))
    return Ranking(
        tuple(methods),
        mean,
        figures.mean(axis=0),
        n,
        float(apart),
        float(chi2.sf(statistic, k - 1)),
    )


def blocks_of(
    rows: Sequence[Row], block: Sequence[str], figure: str
) -> tuple[NDArray[np.float64], list[str], list[tuple[Any, ...]]]:
    """A figure by block and method, means over all other keys, of the blocks with every method."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    found: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows:
        if row[figure] is not None:
            key = tuple(row[name] for name in block)
            found.setdefault(key, {}).setdefault(row["method"], []).append(row[figure])
    whole = {key: by for key, by in found.items() if len(by) == len(methods)}
    table = [[float(np.mean(by[m])) for m in methods] for by in whole.values()]
    return np.array(table).reshape(-1, len(methods)), methods, list(whole)


def wins(figures: NDArray[np.float64], methods: Sequence[str], ours: str) -> dict[str, float]:
    """In which share of the blocks ours is better than each of the others; half a win for a tie."""
    own = figures[:, [list(methods).index(ours)]]
    better = (own > figures).mean(axis=0) + 0.5 * (own == figures).mean(axis=0)
    return dict(zip(methods, better.tolist(), strict=True))
