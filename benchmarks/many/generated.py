"""Hospitals in regions whose truth is known: made tables, and what every set of features tells.

Features are dependent (a latent class), the target follows a logistic model. Its coefficients, of
single features and of some pairs, are those of the whole plus those of a region plus those of a
hospital.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

VALUES, FEATURES, CLASSES = 3, 8, 4
PAIRS = 6
"""Pairs of features that tell together."""


@dataclass(frozen=True)
class Hospitals:
    """A table with its truth.

    Attributes
    ----------
    table : DataFrame
        With the columns ``region``, ``hospital`` and ``ill``.
    n_rows : dict of str to int
        Rows of every hospital.
    truth : dict of str to ndarray
        By hospital, what every set of a size tells, in the order of `sets`.
    """

    table: pd.DataFrame
    n_rows: dict[str, int]
    truth: dict[str, np.ndarray]


def sets(size: int) -> list[tuple[str, ...]]:
    """All sets of a size, by the names of features."""
    return list(combinations([f"f{j}" for j in range(FEATURES)], size))


def hospitals(
    seed: int, *, regional: float, local: float = 0.2, n_regions: int = 8, hide: float = 0.2
) -> Hospitals:
    """Hospitals of 60, 200 and 1,000 rows in regions that differ by so much.

    Parameters
    ----------
    seed : int
        Of chance.
    regional, local : float
        Standard deviations of coefficients between regions, and between hospitals of a region.
    n_regions : int
        Regions of six hospitals each, two of every number of rows.
    hide : float
        The share of features that a hospital did not record.
    """
    rng = np.random.default_rng(seed)
    cells = np.stack(np.meshgrid(*[np.arange(VALUES)] * FEATURES, indexing="ij"), axis=-1).reshape(
        -1, FEATURES
    )
    shares = _shares(cells, rng)
    pairs = rng.permutation(list(combinations(range(FEATURES), 2)))[:PAIRS]
    levels = np.array([-1.0, 0.0, 1.0])[cells]
    design = np.concatenate([levels, levels[:, pairs[:, 0]] * levels[:, pairs[:, 1]]], axis=1)
    whole = rng.normal(0.0, 0.5, design.shape[1]) * (rng.random(design.shape[1]) < 0.6)
    frames, n_rows, truth = [], {}, {}
    for region in range(n_regions):
        of_region = whole + rng.normal(0.0, regional, len(whole))
        for number, rows in enumerate((60, 60, 200, 200, 1000, 1000)):
            name = f"{region}.{number}"
            own = of_region + rng.normal(0.0, local, len(whole))
            ill = 1.0 / (1.0 + np.exp(-(design @ own) - rng.normal(-0.3, 0.3)))
            drawn = rng.choice(len(cells), rows, p=shares)
            frame = pd.DataFrame(cells[drawn].astype(float), columns=[f[0] for f in sets(1)])
            frame.loc[:, rng.random(FEATURES) < hide] = np.nan
            frame["region"], frame["hospital"] = f"r{region}", f"h{name}"
            frame["ill"] = (rng.random(rows) < ill[drawn]).astype(int)
            frames.append(frame)
            n_rows[f"h{name}"] = rows
            truth[f"h{name}"] = _told(cells, shares, ill)
    return Hospitals(pd.concat(frames, ignore_index=True), n_rows, truth)


def _shares(cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How likely every combination of values is: features independent within latent classes."""
    within = rng.dirichlet(np.full(VALUES, 2.0), (CLASSES, FEATURES))
    by_class = np.prod(within[:, np.arange(FEATURES), cells], axis=2)
    return rng.dirichlet(np.full(CLASSES, 3.0)) @ by_class


def _told(cells: np.ndarray, shares: np.ndarray, ill: np.ndarray, size: int = 3) -> np.ndarray:
    """The information, in nats, of every set of a size about being ill."""
    found = []
    for members in combinations(range(FEATURES), size):
        cell = np.ravel_multi_index(cells[:, members].T, (VALUES,) * size)
        both = np.stack([np.bincount(cell, shares * p) for p in (ill, 1.0 - ill)], axis=1)
        found.append(_entropy(both.sum(axis=1)) + _entropy(both.sum(axis=0)) - _entropy(both))
    return np.array(found)


def _entropy(shares: np.ndarray) -> float:
    held = shares[shares > 0]
    return float(-(held * np.log(held)).sum())
