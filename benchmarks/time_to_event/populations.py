"""Known populations of times to an event, and tables drawn from them.

Features are dependent and have two or three values, hazards are exponential or Weibull's, and what
features do differs between four subgroups. What sets of features say about the event before each
horizon follows from the population by summation.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

CARDS = (2, 3, 2, 3, 2, 2, 3, 2)
SITES = ("a", "b", "c", "d")
NAMES = tuple(f"x{i}" for i in range(len(CARDS)))


@dataclass(frozen=True)
class Population:
    """Cells of all features with their chances and hazards in every subgroup."""

    cells: NDArray[np.int64]  # (n_cells, n_features)
    chances: Floats  # (n_sites, n_cells)
    hazards: Floats  # (n_sites, n_cells)
    shape: float  # of Weibull's distribution; 1: exponential
    horizons: tuple[float, ...]

    @classmethod
    def draw(cls, seed: int, shape: float) -> Population:
        """Draw one; half of the features say something."""
        rng = np.random.default_rng([seed, 39])
        cells = np.array(list(product(*map(range, CARDS))))
        latent = rng.normal(size=len(CARDS)) * 0.5
        chances = np.exp(cells @ latent * 0.3 + rng.normal(0, 0.5, len(cells)))
        slopes = np.where(rng.random(len(CARDS)) < 0.5, rng.normal(0, 0.8, len(CARDS)), 0.0)
        both = 0.8 * (cells[:, 0] == 1) * (cells[:, 2] == 1)
        hazards, by_site = [], []
        for _ in SITES:
            own = slopes + rng.normal(0, 0.15, len(CARDS)) * (slopes != 0)
            effect = cells @ own + both
            hazards.append(np.exp(effect - effect.mean() + rng.normal(0, 0.3)))
            site = chances * np.exp(rng.normal(0, 0.2, len(cells)))
            by_site.append(site / site.sum())
        made = cls(cells, np.array(by_site), np.array(hazards), shape, ())
        times = np.concatenate([made.times(k, 4000, rng)[1] for k in range(len(SITES))])
        horizons = tuple(np.round(np.quantile(times, (0.15, 0.3, 0.45)), 3).tolist())
        return cls(cells, np.array(by_site), np.array(hazards), shape, horizons)

    def times(self, site: int, n_rows: int, rng: np.random.Generator) -> tuple[Any, Floats]:
        """Cells and times to the event of some rows of a subgroup."""
        cell = rng.choice(len(self.cells), n_rows, p=self.chances[site])
        return cell, (rng.exponential(size=n_rows) / self.hazards[site, cell]) ** (1 / self.shape)

    def score(self, site: int, members: Sequence[int], horizons: Sequence[float]) -> float:
        """What a set says about the event before each horizon, on the mean, in nats."""
        found = [self._information(site, members, horizon) for horizon in horizons]
        return float(np.mean(found))

    def _information(self, site: int, members: Sequence[int], horizon: float) -> float:
        happened = 1.0 - np.exp(-self.hazards[site] * horizon**self.shape)
        shape = [CARDS[m] for m in members]
        cell = np.ravel_multi_index(self.cells[:, list(members)].T, shape)
        joint = np.stack(
            [np.bincount(cell, self.chances[site] * p) for p in (happened, 1.0 - happened)]
        )
        return _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint.ravel())


def _entropy(p: Floats) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def censored_table(
    population: Population, n_rows: int, kind: str, share: float, rng: np.random.Generator
) -> pd.DataFrame:
    """A table in which about a share of the events before the last horizon is not seen.

    Kinds of censoring: "random" (exponential), "study end" (rows enter evenly until following ends
    for all), "by subgroup" (exponential, in some subgroups five times that of others).
    """
    parts = []
    for site, name in enumerate(SITES):
        cell, times = population.times(site, n_rows, rng)
        # The scale at which about so many rows are censored before their event, by halving.
        low, high = 1e-3, 1e4
        unit = rng.exponential(size=n_rows) if kind != "study end" else rng.random(n_rows)
        factor = (0.5, 2.5)[site % 2] if kind == "by subgroup" else 1.0
        for _ in range(60):
            middle = np.sqrt(low * high)
            lost = np.mean(unit * middle < times)
            low, high = (middle, high) if lost > share else (low, middle)
        ended = np.full(n_rows, np.inf) if share == 0 else unit * high * factor
        event = times <= ended
        columns = {n: population.cells[cell, i] for i, n in enumerate(NAMES)}
        time = np.where(event, times, ended)
        parts.append(pd.DataFrame({**columns, "site": name, "time": time, "event": event * 1}))
    return pd.concat(parts, ignore_index=True)
