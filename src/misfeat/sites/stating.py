"""What a summary's file says of its noise, and checking what a stranger's says."""

from __future__ import annotations

from math import isclose, isfinite
from typing import TYPE_CHECKING, Any

from misfeat.sites.ledger import LARGEST_RHO
from misfeat.sites.noise import rho_spent
from misfeat.sites.spending import (
    LARGEST_DELTA,
    LARGEST_EPSILON,
    LEAST_DELTA,
    LEAST_EPSILON,
    Noise,
    epsilon_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ROWS = 2**52
"""Rows of a site; counts stay whole numbers whatever is done with them."""
MOST_RELEASES = 10**9
TOLERANCE = 1e-6
"""By which share an epsilon may differ from what its noise promises."""


def stated_noise(noise: Noise) -> dict[str, Any]:
    """Plain values for JSON; the classes are told beside them."""
    return {
        "epsilon": noise.epsilon,
        "delta": noise.delta,
        "rho": noise.rho,
        "scales": list(noise.scales),
        "worth": list(noise.worth),
        "releases": noise.releases,
        "all_rho": noise.all_rho,
    }


def noise_stated(
    held: Mapping[str, Any], classes: tuple[int, ...], n_features: int, size: int
) -> Noise:
    """The noise that a file says it has, checked; a ValueError says what is wrong with it.

    `classes` are rows by class as they were told; empty where scores alone were.
    """
    epsilon = _within(held["epsilon"], LEAST_EPSILON, LARGEST_EPSILON, "epsilon")
    delta = _within(held["delta"], LEAST_DELTA, LARGEST_DELTA, "delta")
    rho = _within(held["rho"], 0.0, LARGEST_RHO, "rho")
    all_rho = _within(held["all_rho"], rho * (1.0 - TOLERANCE), LARGEST_RHO, "what was spent")
    scales = _numbers(held["scales"], size + 1, "the scales of its noise")
    worth = _numbers(held["worth"], 0 if classes else size, "what its rows are worth")
    releases = held["releases"]
    if type(releases) is not int or not 0 <= releases < MOST_RELEASES:
        raise ValueError("how many releases there were")
    if not isclose(rho_spent(scales, n_features), rho, rel_tol=TOLERANCE):
        raise ValueError("its noise does not spend what it says")
    if not isclose(epsilon_of(rho, delta), epsilon, rel_tol=TOLERANCE):
        raise ValueError("its noise does not promise the epsilon that it says")
    return Noise(epsilon, delta, rho, scales, classes, worth, releases, all_rho)


def _numbers(held: Any, many: int, what: str) -> tuple[float, ...]:
    if not isinstance(held, list) or len(held) != many:
        raise ValueError(what)
    return tuple(_within(one, 1e-6, MOST_ROWS, what) for one in held)


def _within(held: Any, least: float, most: float, what: str) -> float:
    if type(held) not in (int, float) or not isfinite(held) or not least <= held <= most:
        raise ValueError(what)
    return float(held)
