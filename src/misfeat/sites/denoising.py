"""Noisy tables made consistent: what all of them together say of each, and no count below 0.

Every table of a set tells of its subsets, too. A set's own part of its table, which no subset
shares, is what is left when the mean over each feature is taken off; it is told by the set's own
table and by those of all sets around it. Weighting these by their noise is least squares, and adds
up to tables that have all smaller ones in common.

Counts below 0 are dealt with from the smallest tables up. A table is expected to be what its
smaller ones lead to, without an interaction of its own, and differs from that as far as what was
told rises above noise: over all sets of a size, by how much is seen, and each count follows what
was told of it by its share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import poisson

from misfeat.information.count_tables import table_starts
from misfeat.lattice import level
from misfeat.sites.fitting import each_set, each_size, raked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.sites.summary import Summary

    Floats = NDArray[np.float64]
    Members = tuple[int, ...]
    Parts = dict[Members, Floats]

SEEN = 2.0
"""Standard deviations of noise by which a value must rise above none to be believed in."""
SURE = 2.0
"""Standard errors that are taken off what interactions seem to be."""
SWEEPS = 8
"""Rounds of fitting."""
MOST = 0.1
"""Beyond chance, interactions change counts by so much at most: the variance of their ratios to
expected counts. Where noise is strong, expected counts are wrong by more."""
LEAST = 0.02
"""No count is believed to be less than this of what is expected."""


@dataclass(frozen=True, eq=False)
class Denoised:
    """Tables behind noisy ones.

    Attributes
    ----------
    tables : list of ndarray of shape (n_lines, n_classes)
        Of single features, pairs and so on; larger ones have the smaller in common.
    own : dict of tuple of int to ndarray
        What was told of every set's own part (`own_parts`).
    trust : tuple of float
        The variance by which counts differ from expected ones, for every row that is expected, by
        size.
    together : tuple of float
        The same of counts over all classes: how far features go together.
    noise : tuple of float
        The variance of noise in a set's own part, by size from the classes on.
    """

    tables: list[Floats]
    own: Parts
    trust: tuple[float, ...]
    together: tuple[float, ...]
    noise: tuple[float, ...]

    def tells_of(self, by_class: Floats) -> bool:
        """Whether features of a site with such rows can be seen to have two values.

        Not where a value must have half of the rows to rise above noise.
        """
        return 2.0 * _least_seen(self.noise[1], len(by_class)) < float(by_class.sum())


def denoised_tables(summary: Summary) -> Denoised:
    """The tables behind the noisy ones of a summary."""
    noise = summary.noise
    if noise is None:
        raise ValueError("a summary without noise")
    told = [np.array([noise.classes]), *summary.of_sizes()]
    return denoised(told, summary.by_class, summary.cards, noise.scales)


def denoised(
    told: Sequence[NDArray[np.int64]],
    by_class: NDArray[np.int64],
    cards: NDArray[np.int64],
    scales: Sequence[float],
) -> Denoised:
    """The tables behind noisy ones.

    `told` has tables with noise from the classes on, which are a table of one line; `by_class` what
    the classes are believed to be, and `scales` the standard deviation of the noise in tables of
    every size.
    """
    own, noise = own_parts(told, cards, scales)
    sizes = range(len(told))
    variances = tuple(
        float(np.mean([v for members, v in noise.items() if len(members) == size]))
        for size in sizes
    )
    smaller = by_class.astype(np.float64)[None]
    tables: list[Floats] = []
    trust, together = [inf], [inf]
    in_all = {members: part.sum(axis=-1, keepdims=True) for members, part in own.items()}
    louder = {members: len(by_class) * variance for members, variance in noise.items()}
    for size in sizes[1:]:
        expected = expected_tables(smaller, cards, size)
        if size > 1:
            trust.append(_trust(size, expected, own, noise, cards))
            whole = expected.sum(axis=1, keepdims=True)
            together.append(_trust(size, whole, in_all, louder, cards))
        smaller = _fitted(expected, smaller, own, cards, size, trust[-1], variances[size])
        tables.append(smaller)
    return Denoised(tables, own, tuple(trust), tuple(together), variances)


def noised_again(
    by_class: Floats,
    tables: list[Floats],
    cards: NDArray[np.int64],
    seed: int,
    *,
    trust: Sequence[float],
    noise: Sequence[float],
    sign: float = 1.0,
) -> tuple[Floats, list[Floats]]:
    """A sample of a population with noise, denoised again: a simulation.

    Trust and noise are those of `Denoised`. A sign of -1 turns all of chance the other way round,
    so that the mean of both is nearer to that of many.

    Examples
    --------
    >>> whole, table = np.array([33.0, 44.0]), np.array([[20.0, 13.0], [13.0, 31.0]])
    >>> again = noised_again(whole, [table], np.array([2]), 1, trust=[inf], noise=[1.0, 4.0])
    >>> bool(np.allclose(again[1][0].sum(axis=0), again[0]))
    True
    """
    rng = np.random.default_rng(seed)
    chance = sign * rng.normal(size=len(by_class))
    classes = np.where(by_class > 0, np.maximum(by_class + chance * sqrt(noise[0]), 1.0), 0.0)
    smaller, found = classes[None], []
    for size, held in enumerate(_sampled(by_class, tables, cards, rng, sign), start=1):
        own: Parts = {}
        starts = table_starts(level(len(cards), size), cards)
        told = held + sign * rng.normal(size=held.shape) * sqrt(noise[size])
        for number, subset in enumerate(level(len(cards), size).tolist()):
            table = told[starts[number] : starts[number + 1]]
            own[tuple(subset)] = centred(table.reshape(*cards[subset], -1))
        expected = expected_tables(smaller, cards, size)
        smaller = _fitted(expected, smaller, own, cards, size, trust[size - 1], noise[size])
        found.append(smaller)
    return classes, found


def _sampled(
    by_class: Floats,
    tables: list[Floats],
    cards: NDArray[np.int64],
    rng: np.random.Generator,
    sign: float,
) -> list[Floats]:
    """Tables as a sample of so many rows of each class would have them, consistent."""
    drawn = []
    for table in tables:
        place = rng.random(table.shape)
        drawn.append(poisson.ppf(place if sign > 0 else 1.0 - place, np.maximum(table, 0.0)))
    return each_size(by_class, drawn, cards, lambda held, parts, _: raked(held, parts, SWEEPS))


def own_parts(
    told: Sequence[NDArray[np.int64]], cards: NDArray[np.int64], scales: Sequence[float]
) -> tuple[Parts, dict[Members, float]]:
    """The part of every set's table that no subset shares, and the variance of its noise.

    Parts are by the features of the set, and have an axis a feature and one of classes. The
    variance is that of every number before means were taken off.
    """
    sums: Parts = {}
    weights: dict[Members, float] = {}
    for size, (tables, scale) in enumerate(zip(told, scales, strict=True)):
        subsets = level(len(cards), size) if size else np.zeros((1, 0), dtype=np.int64)
        starts = table_starts(subsets, cards) if size else np.array([0, 1])
        for number, subset in enumerate(subsets.tolist()):
            table = tables[starts[number] : starts[number + 1]].reshape(*cards[subset], -1)
            for many in range(size + 1):
                for kept in combinations(range(size), many):
                    others = tuple(a for a in range(size) if a not in kept)
                    weight = scale**-2 / float(np.prod(cards[[subset[a] for a in others]]))
                    members = tuple(subset[a] for a in kept)
                    sums[members] = sums.get(members, 0.0) + weight * table.sum(axis=others)
                    weights[members] = weights.get(members, 0.0) + weight
    parts = {members: centred(total / weights[members]) for members, total in sums.items()}
    return parts, {members: 1.0 / weight for members, weight in weights.items()}


def expected_tables(smaller: Floats, cards: NDArray[np.int64], size: int) -> Floats:
    """What tables of one feature less lead one to expect of all sets of a size."""
    n_lines = int(table_starts(level(len(cards), size), cards)[-1])

    def expect(table: Floats, parts: list[Floats], _: Members) -> Floats:
        if size == 1:
            return table + parts[0].reshape(1, -1) / len(table)
        return raked(table + 1.0, parts, SWEEPS)

    return each_set(np.zeros((n_lines, smaller.shape[1])), smaller, cards, size, expect)


def _fitted(
    expected: Floats,
    smaller: Floats,
    own: Parts,
    cards: NDArray[np.int64],
    size: int,
    trust: float,
    noise: float,
) -> Floats:
    """The tables of all sets of a size, without counts below 0, fitted to smaller ones."""

    def fit(usual: Floats, parts: list[Floats], members: Members) -> Floats:
        beyond = own[members] - centred(usual)
        if size == 1:
            return _shared_out(usual + beyond, parts[0], _least_seen(noise, usual.shape[-1]))
        told = usual + trust * usual / (trust * usual + noise) * beyond
        return raked(np.maximum(told, LEAST * usual), parts, SWEEPS)

    return each_set(expected, smaller, cards, size, fit)


def _trust(
    size: int,
    expected: Floats,
    own: Parts,
    noise: dict[Members, float],
    cards: NDArray[np.int64],
) -> float:
    """The variance by which counts are seen to differ from expected ones, for an expected row."""
    subsets = level(len(cards), size)
    starts = table_starts(subsets, cards)
    beyond = error = whole = largest = 0.0
    for number, subset in enumerate(subsets.tolist()):
        usual = expected[starts[number] : starts[number + 1]].reshape(*cards[subset], -1)
        free = float(np.prod(1.0 - 1.0 / cards[subset]))
        variance = noise[tuple(subset)]
        differ = own[tuple(subset)] - centred(usual)
        beyond += float((differ**2).sum()) - free * variance * usual.size
        error += 2.0 * free * usual.size * variance**2
        whole += free * float(usual.sum())
        largest += free * float((usual**2).sum())
    if whole <= 0:
        return 0.0
    most = whole + MOST * largest
    return min(max(beyond - SURE * sqrt(error), 0.0), most) / whole


def _least_seen(noise: float, n_classes: int) -> float:
    """The rows that a value of a feature must have to rise above noise of such a variance."""
    return SEEN * sqrt(noise * n_classes)


def _shared_out(table: Floats, wanted: Floats, least: float) -> Floats:
    """The nearest table without counts below 0 whose columns have wanted sums.

    Values with fewer rows than the least that are seen get none.
    """
    totals = table.sum(axis=1)
    seen = totals > least
    seen[totals.argmax()] = True
    held = table[seen]
    ordered = -np.sort(-held, axis=0)
    ranks = np.arange(1, len(held) + 1)[:, None]
    over = (np.cumsum(ordered, axis=0) - wanted.reshape(1, -1)) / ranks
    many = np.maximum((ordered > over).sum(axis=0), 1)
    nearest = np.zeros(table.shape)
    nearest[seen] = np.maximum(held - np.take_along_axis(over, many[None] - 1, axis=0), 0.0)
    return nearest


def centred(table: Floats) -> Floats:
    """A table with the mean over every feature taken off."""
    for axis in range(table.ndim - 1):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
