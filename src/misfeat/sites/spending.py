"""What a release with noise promises: epsilon and delta, and how releases add up.

Discrete Gaussian noise is accounted for by rho (zero-concentrated differential privacy): the rho of
releases is their sum, and any rho gives an epsilon for every delta. The conversion is that of
Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), which OpenDP
uses, too; it is here so that whoever reads a summary can check it without OpenDP.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, isfinite, log, log1p
from numbers import Real
from typing import TYPE_CHECKING

from misfeat.exceptions import MisfeatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

DELTA = 1e-6
"""The usual chance with which a promise may fail."""
LEAST_EPSILON, LARGEST_EPSILON = 1e-3, 100.0
LEAST_DELTA, LARGEST_DELTA = 1e-30, 1e-3
HALVINGS = 80


@dataclass(frozen=True)
class Noise:
    """The noise in a summary, and what it promises.

    Attributes
    ----------
    epsilon, delta : float
        What the release promises.
    rho : float
        What it spent.
    scales : tuple of float
        The standard deviation of the noise in tables of 0, 1, 2, … features.
    classes : tuple of int
        The rows of every class, with noise: the table of 0 features.
    releases : int
        How many releases of these rows the site has a record of, this one among them; 0 where it
        keeps none.
    all_rho : float
        What they spent together.
    """

    epsilon: float
    delta: float
    rho: float
    scales: tuple[float, ...]
    classes: tuple[int, ...]
    releases: int = 0
    all_rho: float = 0.0


def delta_of(rho: float, epsilon: float) -> float:
    """The chance with which a promise of epsilon may fail.

    Examples
    --------
    >>> f"{delta_of(0.0884, 2.0):.2g}"
    '1e-06'
    """
    if rho <= 0:
        return 0.0

    def slope(order: float) -> float:
        return (2 * order - 1) * rho - epsilon + log1p(-1.0 / order)

    low, high = 1.0 + 1e-12, 2.0
    while slope(high) < 0:
        high *= 2.0
    best = _crossing(slope, low, high)
    exponent = (best - 1) * (best * rho - epsilon) + best * log1p(-1.0 / best) - log(best - 1)
    return min(1.0, exp(min(exponent, 0.0)))


@lru_cache(maxsize=1000)
def epsilon_of(rho: float, delta: float) -> float:
    """The epsilon that is promised but for a chance of delta.

    Examples
    --------
    >>> round(epsilon_of(0.0884, 1e-6), 2), round(epsilon_of(2 * 0.0884, 1e-6), 2)
    (2.0, 2.93)
    """
    if rho <= 0:
        return 0.0
    high = 1.0
    while delta_of(rho, high) > delta:
        high *= 2.0
    return _crossing(lambda epsilon: delta - delta_of(rho, epsilon), 0.0, high)


@lru_cache(maxsize=1000)
def rho_of(epsilon: float, delta: float) -> float:
    """What may be spent for an epsilon, but for a chance of delta.

    Examples
    --------
    >>> round(rho_of(2.0, 1e-6), 4)
    0.0882
    """
    high = 1.0
    while delta_of(high, epsilon) < delta:
        high *= 2.0
    # From below, so that no more is spent than is promised.
    return _crossing(lambda rho: delta_of(rho, epsilon) - delta, 0.0, high) * (1.0 - 1e-9)


def check_promise(epsilon: object, delta: object) -> tuple[float, float]:
    """Epsilon and delta as numbers; an error says what they may be."""
    return (
        check_epsilon(epsilon, "epsilon"),
        _number(delta, "delta", LEAST_DELTA, LARGEST_DELTA),
    )


def check_epsilon(epsilon: object, name: str) -> float:
    """An epsilon as a number; an error says what it may be."""
    return _number(epsilon, name, LEAST_EPSILON, LARGEST_EPSILON)


def _number(value: object, name: str, least: float, most: float) -> float:
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not isfinite(float(value)) or not least <= float(value) <= most:  # type: ignore[arg-type]
        raise MisfeatError(
            "{setting}; it must be a number from {least:g} to {most:g}.",
            setting=Setting(name, value),
            least=least,
            most=most,
        )
    return float(value)  # type: ignore[arg-type]


def _crossing(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises passes 0."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
