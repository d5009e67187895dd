"""Counts with noise: differential privacy by the discrete Gaussian mechanism of OpenDP.

One row more or less changes one count by one in every table. So with N tables of a size, noise of
standard deviation s in each of their counts spends N / (2 s²) of rho. The tables of every size,
from the classes on, get a share of it, since sums over large tables are noisier than what a small
table tells of the same.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, nextafter, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from misfeat.exceptions import MisfeatError, Setting
from misfeat.information.count_tables import table_starts
from misfeat.lattice import count, level
from misfeat.sites.spending import DELTA, Noise, check_promise, rho_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from misfeat.sites.summary import Summary

    Counts = NDArray[np.int64]
    Draw = Callable[[Counts, float, int], Counts]

SEEN = 2.0
"""Standard deviations of noise by which a class must rise above none to be believed in."""
SHARES = {1: (0.1, 0.9), 2: (0.05, 0.4, 0.55), 3: (0.05, 0.4, 0.45, 0.1)}
"""What the tables of 0 (the classes), 1, 2, … features get, by the size of the largest."""


def noisy_summary(
    summary: Summary, epsilon: float, delta: float = DELTA, *, draw: Draw | None = None
) -> Summary:
    """The same summary with noise in all counts.

    Every call draws anew, and spends as much again.

    Epsilon and delta are as in `summarise`. `draw` adds noise to counts, from them, its standard
    deviation and in how many of them a row counts: the secure noise of OpenDP, or another one in
    simulations.
    """
    epsilon, delta = check_promise(epsilon, delta)
    rho = rho_of(epsilon, delta)
    scales = scales_of(rho, len(summary.cards), summary.size)
    add = secure_noise if draw is None else draw
    exact = [summary.by_class[None], *summary.of_sizes()]
    told = [
        add(tables, scale, count(len(summary.cards), size))
        for size, (tables, scale) in enumerate(zip(exact, scales, strict=True))
    ]
    classes = tuple(told[0][0].tolist())
    noise = Noise(epsilon, delta, rho, scales, classes, all_rho=rho)
    found = replace(summary, tables=told[-1], smaller=tuple(told[1:-1]), noise=noise)
    return with_classes(found)


def scales_of(rho: float, n_features: int, size: int) -> tuple[float, ...]:
    """The standard deviations of noise that spends so much, by size from 0 on."""
    return tuple(
        sqrt(count(n_features, m) / (2.0 * rho * share)) for m, share in enumerate(SHARES[size])
    )


def rho_spent(scales: Sequence[float], n_features: int) -> float:
    """What noise of some standard deviations spends."""
    return sum(count(n_features, m) / (2.0 * scale**2) for m, scale in enumerate(scales))


def with_classes(summary: Summary) -> Summary:
    """A summary with the rows of every class that all its noisy tables together tell of."""
    if summary.noise is None:
        return summary
    scales, n_features = summary.noise.scales, len(summary.cards)
    total = np.zeros(len(summary.by_class))
    for size, tables in enumerate([np.array([summary.noise.classes]), *summary.of_sizes()]):
        total += count(n_features, size) / (scales[size] ** 2 * len(tables)) * tables.sum(axis=0)
    deviation = deviation_of_classes(scales, summary.cards)
    told = total * deviation**2
    by_class = np.where(told > SEEN * deviation, np.rint(told), 0.0).astype(np.int64)
    if not by_class.any():
        raise MisfeatError(
            "The site {site!r} has too few rows for {setting}: nothing is left but noise. "
            "What was drawn counts as spent.",
            site=summary.site,
            setting=Setting("epsilon", summary.noise.epsilon),
        )
    return replace(summary, by_class=by_class)


def deviation_of_classes(scales: Sequence[float], cards: NDArray[np.int64]) -> float:
    """The standard deviation of noise in the rows of a class that all tables together tell of."""
    whole = scales[0] ** -2.0
    for size, scale in enumerate(scales[1:], start=1):
        n_lines = float(table_starts(level(len(cards), size), cards)[-1])
        whole += count(len(cards), size) ** 2 / (scale**2 * n_lines)
    return 1.0 / sqrt(whole)


def secure_noise(counts: Counts, scale: float, tables: int) -> Counts:
    """Counts with discrete Gaussian noise, drawn by OpenDP from the system's secure randomness.

    `tables` is how many of the counts a single row is in.
    """
    measurement = _gaussian(scale)
    promised = tables / (2.0 * scale**2)
    if measurement.map(nextafter(sqrt(tables), inf)) > promised * (1.0 + 1e-9):
        raise MisfeatError("OpenDP does not confirm what the noise promises; tell the developers.")
    return np.array(measurement(counts.ravel().tolist()), dtype=np.int64).reshape(counts.shape)


def check_opendp() -> None:
    """Raise where OpenDP is not there; the error says what to install."""
    try:
        import opendp.measurements  # noqa: F401
    except ImportError as error:
        raise MisfeatError(
            "{setting} needs the package 'opendp'; install misfeat[sites].",
            setting=Setting("epsilon"),
        ) from error


def _gaussian(scale: float) -> Any:
    """OpenDP's measurement of whole numbers."""
    check_opendp()
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    return make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale)
