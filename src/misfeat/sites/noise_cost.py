"""What noise cost: how far scores of denoised tables are off, and the rows that they are worth.

Whoever combines summaries knows how much noise they have, so it can be tried out. Tables like those
behind the noise are taken for a population, samples of it get noise and are denoised again, and
their scores are held against those of the population. How far these are off on the mean is taken
off the site's own scores; how much they vary is what fewer rows would, were these counted exactly.

Tables with noise seem to tell more than those behind it, so they are no such population. It is made
in three steps.

1. It is tried out what single features would seem to tell if they told nothing, and if they told as
   much as they seem to. That says how much is behind the noise (`told_by_singles`).
2. Sites are drawn towards each other in this (`told_by_all`).
3. Populations are made that tell as much as that leaves likely, each another amount. Features go
   together in them as far as they do beyond noise, and in the same way in all classes.
"""

from __future__ import annotations

from functools import partial
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from misfeat.estimation.pooling import shrunk_to_mean
from misfeat.information.count_tables import LARGEST, table_starts
from misfeat.information.tabled import scores_of_tables
from misfeat.lattice import level
from misfeat.sites.denoising import (
    LEAST,
    SWEEPS,
    centred,
    expected_tables,
    noised_again,
)
from misfeat.sites.fitting import each_set, raked, restricted
from misfeat.sites.losing import LEAST_CHANCE, LEAST_WORTH, MOST_SEEDS, Lost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from misfeat.sites.denoising import Denoised

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DRAWS = 8
"""Each is tried out twice, with chance turned the other way round."""
FEATURES = 8
"""Each draw has so many features, others every time."""
TURNS = 32
"""How often it is tried out what single features seem to tell."""
LEAST_SLOPE = 0.1
"""Of what single features tell, noise leaves at least so much to be seen."""
FARTHEST = 2.0
"""Standard deviations that what is told may seem to lie below nothing."""
MOST_SHARE = 4.0
"""No more is told than so many times what tables seem to tell."""
LEAST_BIAS = -1.0
"""Nothing tells more than its tables with noise do, chance and all."""
TINY = 1e-300


class _Seen(NamedTuple):
    """Scores above chance of a draw, what chance gives, the truth, and degrees of freedom."""

    scores: Floats
    chance: Floats
    true: Floats
    freedom: Floats


class Told(NamedTuple):
    """What single features of a site tell behind the noise, in nats, on the mean over them.

    `deviation` is how sure that is, and `seems` what they seem to tell.
    """

    mean: float
    deviation: float
    seems: float


def told_by_singles(found: Denoised, by_class: Floats, cards: Ints, seed: int) -> Told:
    """What single features of a site tell behind the noise.

    By what they would seem to tell if they told nothing, and if they told as much as they seem to.
    """
    starts = table_starts(level(len(cards), 1), cards)
    turns = np.random.default_rng(seed).integers(MOST_SEEDS, size=TURNS).tolist()

    def information(table: Floats, classes: Floats) -> float:
        return float(scores_of_tables(table, classes, starts).plug_in.mean())

    def tried(table: Floats) -> Floats:
        again = (
            noised_again(by_class, [table], cards, turn, trust=[inf], noise=found.noise)
            for turn in turns
        )
        return np.array([information(single, classes) for classes, (single,) in again])

    singles = found.tables[0]
    seems = max(information(singles, by_class), LEAST_CHANCE)
    nothing = tried(_telling_nothing(singles, by_class))
    by_chance = max(float(nothing.mean()), LEAST_CHANCE)
    slope = float(np.clip((tried(singles).mean() - by_chance) / seems, LEAST_SLOPE, 1.0))
    beyond = seems - by_chance
    # As of a chi-square that is off centre: its variance grows with twice what is told.
    larger = sqrt(1.0 + 2.0 * max(beyond, 0.0) / by_chance)
    deviation = max(float(nothing.std(ddof=1)) * larger / slope, LEAST_CHANCE)
    return Told(beyond / slope, deviation, seems)


def told_by_all(sites: Sequence[Told]) -> list[Told]:
    """What single features tell at every site, drawn towards what they tell at all of them.

    Random effects (DerSimonian and Laird). No site can be seen to tell less than nothing, so that
    sites by themselves would be taken to tell too much where they tell little.

    Examples
    --------
    >>> sites = [Told(0.02, 0.02, 0.1), Told(0.0, 0.02, 0.1)]
    >>> [round(float(one.mean), 3) for one in told_by_all(sites)]
    [0.01, 0.01]
    """
    knowing = [one for one in sites if one.seems > LEAST_CHANCE]
    if len(knowing) < 2:
        return list(sites)
    mean, deviation, _ = np.array(knowing).T
    variance = deviation**2
    weight = 1.0 / variance
    centre = (weight * mean).sum() / weight.sum()
    excess = (weight * (mean - centre) ** 2).sum() - (len(knowing) - 1)
    freedom = weight.sum() - (weight**2).sum() / weight.sum()
    between = max(0.0, excess / freedom) if freedom > 0 else 0.0
    mean, variance = shrunk_to_mean(mean, variance, between)
    drawn = iter(zip(mean, np.sqrt(variance), strict=True))
    return [Told(*next(drawn), one.seems) if one.seems > LEAST_CHANCE else one for one in sites]


def noise_cost(
    found: Denoised,
    by_class: Floats,
    cards: Ints,
    told: Told,
    *,
    seed: int,
) -> Lost:
    """What noise cost a site, by trying it out on tables like those behind the noise.

    Features have `cards` codes.
    """
    rng = np.random.default_rng([seed, len(cards)])
    seen: list[list[_Seen]] = [[] for _ in found.tables]
    for share in _shares(told):
        some = np.sort(rng.permutation(len(cards))[:FEATURES])
        held = _alike(found, by_class, cards, some, share)
        turn = int(rng.integers(MOST_SEEDS))
        for sign in (1.0, -1.0):
            classes, tables = noised_again(
                by_class,
                held,
                cards[some],
                turn,
                trust=found.trust,
                noise=found.noise,
                sign=sign,
            )
            for size, (true, table) in enumerate(zip(held, tables, strict=True), start=1):
                seen[size - 1].append(_seen(size, true, table, classes, cards[some]))
    rows = float(by_class.sum())
    bias, worth = np.zeros((LARGEST, 2)), np.full(LARGEST, rows)
    for size, draws in enumerate(seen):
        together = _Seen(*(np.concatenate(parts) for parts in zip(*draws, strict=True)))
        bias[size, 0], worth[size:] = _of_size(together, rows)
    return Lost(bias, worth, rows / float(worth[-1]))


def _shares(told: Told) -> Floats:
    """Of what single features seem to tell, how much may be behind the noise: a share a draw."""
    off = max(told.mean / told.deviation, -FARTHEST)
    below = float(ndtr(-off))
    places = below + (1.0 - below) * (np.arange(DRAWS) + 0.5) / DRAWS
    likely: Floats = told.deviation * (off + ndtri(places)) / told.seems
    return np.clip(likely, 0.0, MOST_SHARE)


def _telling_nothing(singles: Floats, by_class: Floats) -> Floats:
    """Tables of single features with the same values in all classes."""
    nothing: Floats = singles.sum(axis=1, keepdims=True) * by_class / by_class.sum()
    return nothing


def _alike(
    found: Denoised, by_class: Floats, cards: Ints, some: Ints, share: float
) -> list[Floats]:
    """Tables of some features like those behind the noise.

    Single features tell such a share of what they seem to tell.
    """
    own_cards, (singles,) = cards[some], restricted(found.tables[:1], cards, some)
    nothing = _telling_nothing(singles, by_class)
    telling = np.maximum(nothing + sqrt(share) * (singles - nothing), 0.0)
    starts = table_starts(level(len(some), 1), own_cards)
    sums = np.repeat(np.add.reduceat(telling, starts[:-1], axis=0), np.diff(starts), axis=0)
    tables = [telling * by_class / np.maximum(sums, TINY)]
    for size in range(2, min(len(found.tables), len(some)) + 1):
        expected = expected_tables(tables[-1], own_cards, size)
        fit = partial(_going_together, found, some, size)
        tables.append(each_set(expected, tables[-1], own_cards, size, fit))
    return tables


def _going_together(
    found: Denoised,
    some: Ints,
    size: int,
    usual: Floats,
    parts: list[Floats],
    members: tuple[int, ...],
) -> Floats:
    """A table of features that go together as far as those behind the noise seem to.

    `usual` is what smaller tables lead one to expect.
    """
    together, noise = found.together[size - 1], found.noise[size] * usual.shape[-1]
    own = found.own[tuple(some[list(members)].tolist())]
    beyond = (own - centred(usual)).sum(axis=-1, keepdims=True)
    rows = np.maximum(usual.sum(axis=-1, keepdims=True), TINY)
    kept = np.sqrt(max(together - 1.0, 0.0) * rows / (together * rows + noise))
    return raked(usual * np.maximum(1.0 + kept * beyond / rows, LEAST), parts, SWEEPS)


def _seen(size: int, true: Floats, table: Floats, told: Floats, cards: Ints) -> _Seen:
    """The scores of a draw of one size, beside the truth."""
    subsets = level(len(cards), size)
    starts = table_starts(subsets, cards)
    scores = scores_of_tables(table, told, starts)
    truth = scores_of_tables(true, true[: starts[1]].sum(axis=0), starts).plug_in
    used = np.add.reduceat((true.sum(axis=1) > 0).astype(np.float64), starts[:-1])
    n_classes = int((told > 0).sum())
    chance = np.maximum(scores.chance, 0.0)
    return _Seen(scores.above_chance, chance, truth, (used - 1.0) * (n_classes - 1.0))


def _of_size(seen: _Seen, rows: float) -> tuple[float, float]:
    """The bias by what chance gives, and the rows whose scores vary as much.

    Where noise leaves one value of every feature, nothing is told.
    """
    if seen.chance.mean() < LEAST_CHANCE:
        return 0.0, LEAST_WORTH
    off = seen.scores - seen.true
    weight = 1.0 / (seen.chance + seen.chance.mean())
    bias = float((weight * seen.chance * off).sum() / (weight * seen.chance**2).sum())
    bias = max(bias, LEAST_BIAS)
    found = max(float(((off - bias * seen.chance) ** 2).mean()), TINY)
    square, linear = float(seen.freedom.mean()) / 2.0, 2.0 * float(seen.true.mean())
    each = 2.0 * found / max(linear + np.sqrt(linear**2 + 4.0 * square * found), TINY)
    return bias, float(max(min(rows, 1.0 / each), LEAST_WORTH))
