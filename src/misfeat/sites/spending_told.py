"""What a release with noise promises, in plain words."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from misfeat.sites.spending import epsilon_of

if TYPE_CHECKING:
    from misfeat.sites.spending import Noise
    from misfeat.sites.summary import Summary

COIN = 0.5
"""How sure somebody is beforehand that a row is among those that were counted."""


def told_of_noise(summary: Summary) -> list[str]:
    """What noise is in a summary, what it promises, and what it does not; nothing without noise."""
    noise = summary.noise
    if noise is None:
        return []
    scales = ", ".join(f"{scale:.1f}" for scale in noise.scales)
    words = ("the classes", "single features", "pairs", "sets of three")[: len(noise.scales)]
    return [
        f"Every count has noise (discrete Gaussian, drawn by OpenDP) of a standard deviation of "
        f"{scales} rows, in tables of {', '.join(words)}; counts below 0 are noise, too.",
        f"What is promised: epsilon = {noise.epsilon:g}, but for a chance of {noise.delta:g}. "
        f"Whoever knows all rows but one, and holds it for as likely as not that a certain row was "
        f"counted, is at most {surest(noise.epsilon):.0%} sure after reading this.",
        _spent(noise),
        "What is not covered: that the site takes part, which columns it recorded, and the values "
        "and bins of the codebook, as far as they came from its own proposal; somebody with "
        "several rows, whose rows count each. Statements about groups hold for everybody, counted "
        "or not.",
    ]


def spent_in_all(noise: Noise) -> float:
    """The epsilon of all releases that a site has a record of."""
    return epsilon_of(noise.all_rho, noise.delta)


def surest(epsilon: float) -> float:
    """How sure somebody can become of what was as likely as not.

    Examples
    --------
    >>> round(surest(1.0), 2), round(surest(4.0), 2)
    (0.73, 0.98)
    """
    return COIN * exp(epsilon) / (COIN * exp(epsilon) + COIN)


def _spent(noise: Noise) -> str:
    """What this release and all of them have spent."""
    spent = f"This release spent rho = {noise.rho:.3g}"
    if noise.releases == 0:
        return f"{spent}. The site keeps no record of its releases; others add to it."
    if noise.releases == 1:
        return f"{spent}. It is the first in the site's record."
    return (
        f"{spent}. The {noise.releases} releases in the site's record have spent rho = "
        f"{noise.all_rho:.3g} together: epsilon = {spent_in_all(noise):.3g}, but for a chance of "
        f"{noise.delta:g}."
    )
