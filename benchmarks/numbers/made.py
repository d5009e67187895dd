"""Tables with a numeric target in which the information of 200 feature sets is known.

All sets of a table share one target, given by its rank u in (0, 1). The features of a set are drawn
given u through a channel of its own, so that their joint information is known, whatever the other
sets hold:

    linear      the features are normal, and the target's normal score shifts their means;
    monotone    the same numbers, each column stretched by an increasing function;
    spread      a normal feature sets the spread of the target, not its mean;
    curve       the target's mean is the square of a feature (one feature), or
    xor         the sign of the target's mean is the product of the signs of two features;
    mixed       every set is of one of these kinds.

A channel has 64 equally likely inputs, normal quantiles, within which features vary freely; so its
information is an integral over one variable, which is computed numerically.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

N_SETS = 200
KINDS = ("linear", "monotone", "spread", "bent", "mixed")
"""`bent` is "curve" for sets of one feature and "xor" for sets of two."""
INPUTS = 64
POINTS = 801
"""Of the grid that densities are integrated on."""
STRONGEST = {500: 0.35, 5000: 0.1}
"""The information of the best set, in nats: as much less as there are more rows."""
FADING = 15.0
"""The information of sets falls by a factor e every so many."""


@dataclass(frozen=True, eq=False)
class Made:
    """A table, and what its sets tell.

    Attributes
    ----------
    features : ndarray of shape (n_features, n_rows)
        Set i holds the features ``size * i`` to ``size * (i + 1) - 1``.
    target : ndarray of shape (n_rows,)
        A number for every row.
    size : int
        Features per set.
    information : ndarray of shape (200,)
        The joint information of every set with the target, in nats.
    seed : int
        What it was drawn with.
    """

    features: Floats
    target: Floats
    size: int
    information: Floats
    seed: int

    @property
    def subsets(self) -> NDArray[np.int64]:
        """The features of every set."""
        return np.arange(len(self.features)).reshape(-1, self.size)


def make(kind: str, size: int, n_rows: int, seed: int) -> Made:
    """Draw a table of 200 sets of one kind."""
    rng = np.random.default_rng([seed, n_rows, size, KINDS.index(kind)])
    ranks = rng.uniform(size=n_rows)
    information = rng.permutation(STRONGEST[n_rows] * np.exp(-np.arange(N_SETS) / FADING))
    drawn = [_drawn(_kind_of(kind, size, rng), size, told, ranks, rng) for told in information]
    features, target = np.concatenate(drawn), ndtri(ranks)
    if kind == "monotone":
        features = np.where(np.arange(len(features))[:, None] % 2, np.exp(features), features**3)
        target = np.exp(2.0 * target)
    return Made(features, target, size, information, seed)


def _kind_of(kind: str, size: int, rng: np.random.Generator) -> str:
    if kind == "mixed":
        kind = str(rng.choice(["linear", "spread", "bent"]))
    return ("curve" if size == 1 else "xor") if kind == "bent" else kind


def _drawn(
    kind: str, size: int, information: float, ranks: Floats, rng: np.random.Generator
) -> Floats:
    """The features of one set."""
    if kind in ("linear", "monotone"):
        return _linear(size, information, ranks, rng)
    channel = _channel(kind, information)
    inputs = channel.inputs_given(ranks, rng)
    if kind == "xor":
        signs = rng.choice([-1.0, 1.0], size=len(ranks))
        sizes = np.abs(rng.normal(size=(2, len(ranks))))
        return np.stack([signs, signs * np.where(inputs < INPUTS // 2, -1.0, 1.0)]) * sizes
    within = (inputs + rng.uniform(size=len(ranks))) / INPUTS
    hidden = ndtri(within)
    if size == 1:
        return hidden[None]
    other = rng.normal(size=len(ranks))
    return np.stack([hidden + other, hidden - other])


def _linear(size: int, information: float, ranks: Floats, rng: np.random.Generator) -> Floats:
    """Normal features; I = log(1 + the sum of their signal-to-noise ratios) / 2."""
    ratio = np.expm1(2.0 * information) * rng.dirichlet(np.full(size, 5.0))
    noise = rng.normal(size=(size, len(ranks)))
    return np.sqrt(ratio)[:, None] * ndtri(ranks) + noise


@dataclass(frozen=True, eq=False)
class _Channel:
    """Given input k, the target is normal with this mean and spread."""

    mean: Floats
    spread: Floats

    def density(self, y: Floats) -> Floats:
        """Of y given every input, without 1 / sqrt(2 pi)."""
        z = (y[:, None] - self.mean) / self.spread
        return np.exp(-0.5 * z**2) / self.spread

    @property
    def _grid(self) -> Floats:
        far = 9.0 * self.spread.max() + np.abs(self.mean).max()
        return np.sinh(np.linspace(-1, 1, POINTS) * np.arcsinh(far * 50)) / 50

    def inputs_given(self, ranks: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
        """An input for every row, drawn given the rank of its target."""
        grid = self._grid
        below = ndtr((grid[:, None] - self.mean) / self.spread).mean(axis=1)
        cumulative = np.cumsum(self.density(np.interp(ranks, below, grid)), axis=1)
        drawn = rng.uniform(size=len(ranks)) * cumulative[:, -1]
        return (cumulative < drawn[:, None]).sum(axis=1)

    def information(self) -> float:
        grid = self._grid
        given = self.density(grid) / np.sqrt(2 * np.pi)
        overall = given.mean(axis=1)
        ratio = np.log(np.maximum(given, 1e-300)) - np.log(np.maximum(overall, 1e-300))[:, None]
        return float(np.trapezoid((given * ratio).mean(axis=1), grid))


def _made_channel(kind: str, strength: float) -> _Channel:
    x = ndtri((np.arange(INPUTS) + 0.5) / INPUTS)
    flat = np.ones(INPUTS)
    if kind == "spread":
        return _Channel(np.zeros(INPUTS), np.exp(strength * x))
    bent = x**2 if kind == "curve" else np.sign(x)
    return _Channel(strength * bent, flat)


@cache
def _strengths(kind: str) -> tuple[Floats, Floats]:
    tried = np.geomspace(1e-4, 2.5, 160)
    return np.array([_made_channel(kind, s).information() for s in tried]), tried


def _channel(kind: str, information: float) -> _Channel:
    told, tried = _strengths(kind)
    # Information is nearly the square of the strength, so that roots are nearly on lines.
    return _made_channel(kind, float(np.interp(np.sqrt(information), np.sqrt(told), tried)))
